"""A second reader of dsh logs, written from doc/formats.md and with nothing of bough in it.

usage: dsh-reader.py root ROOT            check every log of a root, and its forks against their parents
       dsh-reader.py fork ROOT ID SEED    the session ID of ROOT is a fork of SEED events, closed and whole
       dsh-reader.py repair OLD NEW       NEW is OLD, cut at most where it is torn, with closed turns
       dsh-reader.py same OLD NEW         two logs hold the same lines
       dsh-reader.py zstd-is-there        status 0 if the zstd program works

Frames are taken apart here and decompressed, each alone, by the zstd program.
Prints what is wrong, a line each, then one line of counts; status 1 when anything is.
"""

import json
import os
import subprocess
import sys

SAFE = 2**53 - 1
SURFACE = ("user/message", "assistant/message", "tool/result")
ENVELOPE = {"type", "seq", "time", "data", "sourceEventSeqs", "surfaceOp", "ignorable"}
HEADER = ["type", "version", "id", "createdAt", "cwd", "parentSession", "seedLength", "origin",
          "delegationDepth", "agentPreset"]
ROWS = {"text-chunks": ("text-delta", "texts", "text"), "reasoning-chunks": ("reasoning-delta", "texts", "text"),
        "tool-call-chunks": ("tool-call-delta", "args", "argumentsDelta")}
failures = []
known = {}  # frames and their texts: a fork's parent is read for each of its forks
counts = {"logs": 0, "frames": 0, "events": 0, "forks": 0, "repairs": 0, "conversions": 0}


class Bad(Exception):
    pass


def need(ok, why):
    if not ok:
        raise Bad(why)


def count(v):
    return isinstance(v, int) and not isinstance(v, bool) and 0 <= v <= SAFE


# ---- bytes ----

def frame_end(b, at):
    """The end of the frame at `at` and whether it has a checksum; None when the bytes end in it."""
    if len(b) - at < 6:
        return None
    need(b[at:at + 4] == b"\x28\xb5\x2f\xfd", "no frame begins at byte %d" % at)
    d = b[at + 4]
    need(d & 0x18 == 0, "reserved bits in the frame at byte %d" % at)
    single = d >> 5 & 1
    p = at + 5 + (1 - single) + (0, 1, 2, 4)[d & 3] + ((1 if single else 0), 2, 4, 8)[d >> 6]
    last = 0
    while not last:
        if len(b) - p < 3:
            return None
        head = int.from_bytes(b[p:p + 3], "little")
        last, kind = head & 1, head >> 1 & 3
        need(kind != 3, "a reserved block in the frame at byte %d" % at)
        p += 3 + (1 if kind == 1 else head >> 3)
    p += 4 if d & 4 else 0
    return None if p > len(b) else (p, bool(d & 4))


def decompress(frame):
    if frame not in known:
        known[frame] = run_zstd(frame)
    return known[frame]


def run_zstd(frame):
    r = subprocess.run(["zstd", "-dcq"], input=frame, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    need(r.returncode == 0, "a frame does not decompress: %s" % r.stderr.decode("utf-8", "replace").strip())
    return r.stdout


def frames(b):
    """The texts of the whole frames, where they end, and where the last one does."""
    texts, at = [], 0
    while at < len(b):
        found = frame_end(b, at)
        if not found:
            break
        end, has_sum = found
        texts.append((decompress(b[at:end]), at, end, has_sum))
        at = end
    counts["frames"] += len(texts)
    return texts, at


class Log:
    """A log that must be whole, unless `torn` lets it end anywhere."""

    def __init__(self, path, torn=False):
        self.path = path
        self.is_zstd = path.endswith(".zstd")
        with open(path, "rb") as f:
            self.bytes = f.read()
        if self.is_zstd:
            self.frames, self.end = frames(self.bytes)
            need(torn or self.end == len(self.bytes), "the log ends in a torn frame")
            need(self.frames and self.frames[0][0].count(b"\n") == 1 and self.frames[0][0].endswith(b"\n"),
                 "the first frame is not the header line")
            text = b"".join(f[0] for f in self.frames)
        else:
            self.end = self.bytes.rfind(b"\n") + 1
            text = self.bytes[:self.end]
            need(torn or self.end == len(self.bytes), "the log ends without a newline")
        need(text.endswith(b"\n"), "the last record is not whole")
        self.lines = text.split(b"\n")[:-1]
        counts["logs"] += 1

    def read(self):
        """Header and events, by every rule; raises Bad."""
        self.header = json.loads(self.lines[0])
        check_header(self.header)
        self.events = []
        self.pairs = False
        for n, line in enumerate(self.lines[1:], 2):
            try:
                self.events += self.expand(json.loads(line.decode("utf-8", "replace")))
            except (ValueError, Bad) as e:
                raise Bad("line %d: %s" % (n, e))
        for n, e in enumerate(self.events):
            need(e["seq"] == n, "seq %r stands where %d must" % (e["seq"], n))
        self.surface = surface_of(self.events)
        counts["events"] += len(self.events)
        return self

    def expand(self, r):
        need(isinstance(r, dict), "a record that is no object")
        if r.get("type") in ROWS and "seq0" in r:
            return unpack(r)
        sources = r.get("sourceEventSeqs")
        if isinstance(sources, list) and any(isinstance(x, list) for x in sources):
            self.pairs = True
            r = dict(r, sourceEventSeqs=ranges(sources))
        return [r]


def ranges(entries):
    out = []
    for x in entries:
        if isinstance(x, list):
            need(len(x) == 2 and count(x[0]) and count(x[1]) and x[0] <= x[1], "a range that is none")
            need(x[1] - x[0] >= 2, "a range of fewer than three")
            out += range(x[0], x[1] + 1)
        else:
            need(count(x), "a source that is no seq")
            out.append(x)
    need(all(a < b for a, b in zip(out, out[1:])), "ranges that do not rise")
    return out


def unpack(r):
    delta, key, text = ROWS[r["type"]]
    need(list(r) == ["type", "seq0", "time0", "data"], "a row with other members: %s" % list(r))
    d = r["data"]
    want = ["turn", "step", "index", "dt"] + (["id"] if key == "args" else []) + \
        (["name"] if "name" in d else []) + [key]
    need(list(d) == want, "a row with other data: %s" % list(d))
    need(count(r["seq0"]) and isinstance(r["time0"], int), "a row without seq0 and time0")
    need(d[key] and all(isinstance(t, str) for t in d[key]), "a row without texts")
    need(len(d["dt"]) == len(d[key]) - 1 and all(isinstance(t, int) for t in d["dt"]), "a row whose times do not fit")
    events, time = [], r["time0"]
    for k, t in enumerate(d[key]):
        time += d["dt"][k - 1] if k else 0
        chunk = {"type": delta, "index": d["index"]}
        for extra in ("id", "name"):
            if extra in d:
                chunk[extra] = d[extra]
        chunk[text] = t
        events.append({"type": "assistant/chunk", "seq": r["seq0"] + k, "time": time,
                       "data": {"turn": d["turn"], "step": d["step"], "chunk": chunk}})
    return events


# ---- rules ----

def check_header(h):
    need(h.get("type") == "session" and h.get("version") == 0, "not a header of version 0")
    need(isinstance(h.get("id"), str) and h["id"], "the header has no id")
    need(count(h.get("createdAt")) and count(h.get("delegationDepth")), "createdAt or delegationDepth is no count")
    need(h.get("origin") in (None, "subagent"), "another origin")
    need("cwd" not in h or (isinstance(h["cwd"], str) and h["cwd"].startswith("/")), "cwd is no absolute path")
    need("parentSession" not in h or isinstance(h["parentSession"], str), "parentSession is no string")
    need("seedLength" not in h or count(h["seedLength"]), "seedLength is no count")


def surface_of(events):
    nodes = []
    for e in events:
        where = "event %d: " % e["seq"]
        need(set(e) <= ENVELOPE and {"type", "seq", "time", "data"} <= set(e), where + "another envelope")
        need(isinstance(e["type"], str) and isinstance(e["time"], int), where + "no type or no time")
        need(e.get("ignorable", True) is True, where + "ignorable is not true")
        if e["type"] not in SURFACE:
            need("surfaceOp" not in e and "sourceEventSeqs" not in e, where + "not for the surface")
            continue
        sources, op = e.get("sourceEventSeqs"), e.get("surfaceOp")
        if sources is not None:
            need(isinstance(sources, list) and all(count(s) and s < e["seq"] for s in sources) and
                 len(set(sources)) == len(sources), where + "sources that can not be")
            need(sources or e["type"] == "assistant/message", where + "no sources")
        if op == "append":
            nodes.append(e["seq"])
            continue
        need(isinstance(op, dict) and set(op) == {"op", "start", "end"} and op["op"] == "replace", where + "no surfaceOp")
        need(op["start"] in nodes and op["end"] in nodes, where + "replaces what is not there")
        a, b = nodes.index(op["start"]), nodes.index(op["end"])
        need(a <= b and set(nodes[a:b + 1]) <= set(sources or []), where + "does not name what it replaces")
        nodes[a:b + 1] = [e["seq"]]
    return nodes


def open_turn(events):
    turn = None
    for e in events:
        if e["type"] in ("turn/start", "turn/end"):
            turn = e["data"]["turn"] if e["type"] == "turn/start" else None
    return turn


def pending_calls(events):
    calls = {}
    for e in events:
        if e["type"] in ("turn/start", "turn/end", "step/end"):
            calls = {}
        elif e["type"] == "assistant/message":
            for block in e["data"]["message"]["content"]:
                if block["type"] == "tool-call":
                    calls[block["id"]] = None
        elif e["type"] == "tool/call" and e["data"]["callId"] in calls:
            calls[e["data"]["callId"]] = e["seq"]
        elif e["type"] == "tool/result":
            calls.pop(e["data"]["message"]["source"]["callId"], None)
    return calls


def is_stringified(line):
    """Is the line what JSON.stringify writes? Good for texts without fractions, big numbers and lone surrogates."""
    return json.dumps(json.loads(line), separators=(",", ":"), ensure_ascii=False).encode() == line


def check_runs(lines):
    """A run of three deltas that could be a row must be one."""
    run, before = 0, None
    for line in lines:
        e = json.loads(line)
        fits = e.get("type") == "assistant/chunk" and set(e) == {"type", "seq", "time", "data"} and \
            set(e["data"]) == {"turn", "step", "chunk"}
        c = e["data"]["chunk"] if fits else None
        key = None
        if c and c.get("type") in ("text-delta", "reasoning-delta", "tool-call-delta"):
            names = {"type", "index"} | ({"text"} if "text" in c else {"id", "argumentsDelta"})
            if set(c) - {"name"} == names and isinstance(e["time"], int):
                key = (c["type"], e["data"]["turn"], e["data"]["step"], c["index"], c.get("id"), c.get("name"))
        run = run + 1 if key and before == key else 1 if key else 0
        before = key
        need(run < 3, "three deltas in a row are not packed, at seq %s" % e.get("seq"))


def check_written(log, from_frame):
    """Frames and lines that bough wrote: with checksums, as JSON.stringify has them."""
    if log.is_zstd:
        for text, at, end, has_sum in log.frames[from_frame:]:
            need(has_sum, "the frame at byte %d has no checksum" % at)
            need(text.endswith(b"\n"), "the frame at byte %d does not end a line" % at)
            need(log.bytes[at + 4] >> 6 == 0 and not log.bytes[at + 4] & 0x23, "the frame at byte %d has a size" % at)


# ---- what is asked ----

def find_logs(root):
    logs = {}
    for project in sorted(os.listdir(root)):
        for session in sorted(os.listdir(os.path.join(root, project))):
            for name in ("session.jsonl", "session.jsonl.zstd"):
                path = os.path.join(root, project, session, name)
                if os.path.isfile(path):
                    logs.setdefault(session, []).append(path)
    return logs


def check_fork(root, name, seed):
    path = find_logs(root)[name]
    need(len(path) == 1, "%s has %d logs" % (name, len(path)))
    log = Log(path[0]).read()
    h = log.header
    check_written(log, 0)
    need(h["id"] == name, "the header names %s" % h["id"])
    need(list(h) == [k for k in HEADER if k in h], "the header's members are in another order")
    need(is_stringified(log.lines[0]), "the header is not what JSON.stringify writes")
    need(h["seedLength"] == seed == len(log.events) - 1, "%d events, and a seed of %s" % (len(log.events), h["seedLength"]))
    need(h["delegationDepth"] == 0 and "origin" not in h, "a fork is no subagent")
    last = log.events[-1]
    need(list(last) == ["type", "seq", "time", "data"] and last["type"] == "session/end-seed" and last["data"] == {},
         "it does not end its seed")
    need(open_turn(log.events) is None, "it is cut in an open turn")
    check_runs(log.lines[1:])
    if log.is_zstd:
        need(len(log.frames) == 2, "%d frames" % len(log.frames))
    parents = [Log(p, True) for p in find_logs(root).get(h["parentSession"], [])]
    need(len(parents) == 1, "%d parents" % len(parents))
    parent = parents[0].read()
    need(parent.events[:seed] == log.events[:seed], "the seed is not the parent's beginning")
    need([json.dumps(e) for e in parent.events[:seed]] == [json.dumps(e) for e in log.events[:seed]],
         "members of the seed are in another order")
    need(parent.header.get("cwd") == h.get("cwd"), "another cwd")
    need(parent.header.get("agentPreset") == h.get("agentPreset"), "another preset")
    need(parent.is_zstd == log.is_zstd, "another encoding")
    need(not log.pairs or parent.pairs, "another dialect")
    counts["forks"] += 1


def check_repair(old_path, new_path):
    old, new = Log(old_path, True), Log(new_path).read()
    kept = 0
    while kept < min(len(old.bytes), len(new.bytes)) and old.bytes[kept] == new.bytes[kept]:
        kept += 1
    need(open_turn(new.events) is None, "a turn is open after the repair")
    if old.is_zstd:
        need(new.bytes[:old.end] == old.bytes[:old.end], "whole frames were changed")
        need(len(new.frames) - len(old.frames) <= 1, "more than one frame was added")
        check_written(new, len(old.frames))
        added = new.lines[len(old.lines):]
        if len(new.frames) > len(old.frames):
            need(new.frames[-1][0] == b"".join(l + b"\n" for l in added), "the new frame holds other lines")
    else:
        lines = 0
        while lines < min(len(old.lines), len(new.lines)) and old.lines[lines] == new.lines[lines]:
            lines += 1
        added = new.lines[lines:]
        need(new.bytes[:kept].rfind(b"\n") >= 0, "nothing was kept")
    for line in added:
        need(is_stringified(line), "not what JSON.stringify writes: %s" % line[:80])
    check_runs(added)
    events = new.events
    closers = [e for e in events if e["type"] == "tool/result" and
               str(e["data"].get("message", {}).get("id", "")).startswith("interrupted-tool-result-")]
    for e in closers:
        m, call = e["data"]["message"], e["data"]["message"]["source"]["callId"]
        need(m["id"] == "interrupted-tool-result-%s-%d" % (call, e["seq"]), "a closer with another id")
        need(m["content"][0]["toolCallId"] == call and m["content"][0]["isError"] is True, "a closer of another call")
        started = pending_calls(events[:e["seq"]]).get(call, False)
        need(started is not False, "a closer of a call that is not pending")
        need(e.get("sourceEventSeqs") == (None if started is None else [started]), "a closer with other sources")
        need(e["data"]["error"]["code"] == ("TOOL_NOT_STARTED" if started is None else "TOOL_OUTCOME_UNKNOWN"),
             "a closer with another code")
    counts["repairs"] += 1


def check_same(old_path, new_path):
    old, new = Log(old_path), Log(new_path)
    need(old.is_zstd != new.is_zstd, "the same encoding")
    need(old.lines == new.lines, "other lines")
    check_written(new, 0)
    counts["conversions"] += 1


def check_root(root):
    logs = find_logs(root)
    for name, paths in logs.items():
        for path in paths:
            attempt(path, lambda p=path: Log(p).read())


def attempt(what, fn):
    try:
        fn()
    except (Bad, ValueError, KeyError, TypeError) as e:
        failures.append("%s: %s" % (what, e if isinstance(e, Bad) else repr(e)))


def main(argv):
    if argv[0] == "zstd-is-there":
        try:
            z = subprocess.run(["zstd", "-cq"], input=b"x", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            return 0 if decompress(z.stdout) == b"x" else 1
        except (OSError, Bad):
            return 1
    if argv[0] == "batch":  # one command a line, from standard input, parts divided by tabs
        for line in sys.stdin:
            one(line.rstrip("\n").split("\t"))
    else:
        one(argv)
    for line in failures:
        print(line)
    print(", ".join("%d %s" % (n, what) for what, n in counts.items()) + ", %d wrong" % len(failures))
    return 1 if failures else 0


def one(argv):
    run = {"root": lambda: check_root(argv[1]), "fork": lambda: check_fork(argv[1], argv[2], int(argv[3])),
           "repair": lambda: check_repair(argv[1], argv[2]), "same": lambda: check_same(argv[1], argv[2])}[argv[0]]
    attempt(" ".join(argv), run)


sys.exit(main(sys.argv[1:]))
