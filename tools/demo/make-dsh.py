#!/usr/bin/env python3
"""Writes the dsh root of the demo: a session with a compaction and an agent
that it sent out, a fork of it, a short one, and one that a crash cut off in
the middle of a turn.

  make-dsh.py [OUT]         OUT defaults to data/demo/dsh of the source tree

The frames are zstd frames of stored blocks, so that no library is needed and
the bytes depend on this script only. Any reader of zstd takes them.
"""

import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
CWD = "/home/mira/harbour-board"
MASK = (1 << 64) - 1


# ---- frames ----

def xxh64(data):
    """The checksum of a frame is the low half of this one, seed 0."""
    p1, p2, p3, p4, p5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9,
                          0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)

    def rotate(x, n):
        return (x << n | x >> (64 - n)) & MASK

    def mix(acc, lane):
        return rotate((acc + lane * p2) & MASK, 31) * p1 & MASK

    at, n = 0, len(data)
    if n >= 32:
        v = [(p1 + p2) & MASK, p2, 0, -p1 & MASK]
        while at + 32 <= n:
            v = [mix(acc, lane) for acc, lane in zip(v, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotate(acc, turn) for acc, turn in zip(v, (1, 7, 12, 18))) & MASK
        for acc in v:
            h = ((h ^ mix(0, acc)) * p1 + p4) & MASK
    else:
        h = p5
    h = (h + n) & MASK
    while at + 8 <= n:
        h = (rotate(h ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * p1 + p4) & MASK
        at += 8
    if at + 4 <= n:
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * p1 & MASK, 23) * p2 + p3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * p5 & MASK, 11) * p1 & MASK
    h = (h ^ h >> 33) * p2 & MASK
    h = (h ^ h >> 29) * p3 & MASK
    return h ^ h >> 32


def frame(text):
    out = b"\x28\xb5\x2f\xfd\x04\x58"
    parts = [text[i:i + (128 << 10)] for i in range(0, len(text), 128 << 10)] or [b""]
    for i, part in enumerate(parts):
        out += struct.pack("<I", len(part) << 3 | (i + 1 == len(parts)))[:3] + part
    return out + struct.pack("<I", xxh64(text) & 0xFFFFFFFF)


def line(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


# ---- one log ----

class Log:
    def __init__(self, name, start, **header):
        self.header = {"type": "session", "version": 0, "id": name, "createdAt": start, "cwd": CWD}
        for key in ("parentSession", "seedLength", "origin"):
            if key in header:
                self.header[key] = header[key]
        self.header["delegationDepth"] = header.get("depth", 0)
        self.header["agentPreset"] = "code"
        self.name, self.time = name, start
        self.events, self.batches = [], []
        self.turn = self.step = 0
        self.nodes = []           # seqs on the surface
        self.batch_start = 0

    def event(self, type, data, **more):
        e = {"type": type, "seq": len(self.events), "time": self.time, "data": data, **more}
        self.events.append(e)
        return e["seq"]

    def wait(self, seconds):
        self.time += int(seconds * 1000)

    def flush(self):
        if self.batch_start < len(self.events):
            self.batches.append(self.events[self.batch_start:])
            self.batch_start = len(self.events)

    # what happens in it

    def start_turn(self):
        self.turn += 1
        self.step = 0
        self.event("turn/start", {"turn": self.turn})

    def start_step(self):
        self.step += 1
        self.event("step/start", {"turn": self.turn, "step": self.step})

    def where(self):
        return {"turn": self.turn, "step": self.step}

    def user(self, text, source=None):
        seq = len(self.events)
        self.event("user/message", {"id": f"u-{seq}", "role": "user",
                                    "content": [{"type": "text", "text": text}],
                                    "source": source or {"kind": "user"}}, surfaceOp="append")
        self.nodes.append(seq)
        if self.step == 1 and not source:
            self.event("request/header", {"header": {"config": {"provider": "deepseek", "model": "deepseek-tide",
                                                                "reasoningEffort": "medium"}},
                                          "reason": "initial" if self.turn == 1 else "change"})
        self.flush()

    def stream(self, kind, index, text):
        """A block as chunks: the packed rows a writer leaves."""
        pieces = [text[i:i + 24] for i in range(0, len(text), 24)]
        for i, piece in enumerate(pieces):
            self.wait(0.03)
            self.event("assistant/chunk", {**self.where(), "chunk": {
                "type": kind + "-delta", "index": index, "text": piece}})

    def answer(self, text, calls=(), thought=None, usage=(), stored=True):
        first = len(self.events)
        self.wait(1.2)
        blocks = []
        if thought:
            self.stream("reasoning", 0, thought)
            blocks.append({"type": "reasoning", "text": thought})
        if text:
            self.stream("text", len(blocks), text)
            blocks.append({"type": "text", "text": text})
        if not stored:
            self.flush()
            return
        for id, name, arguments in calls:
            blocks.append({"type": "tool-call", "id": id, "name": name,
                           "arguments": json.dumps(arguments, ensure_ascii=False)})
        seq = len(self.events)
        keys = ("inputTokens", "outputTokens", "cacheReadTokens", "reasoningTokens")
        self.event("assistant/message", {
            **self.where(),
            "message": {"id": f"a-{seq}", "role": "assistant", "content": blocks,
                        "source": {"kind": "model", "provider": "deepseek", "model": "deepseek-tide"}},
            "usage": dict(zip(keys, usage))},
            sourceEventSeqs=list(range(first, seq)), surfaceOp="append")
        self.nodes.append(seq)
        self.flush()

    def call(self, id, name, arguments):
        seq = self.event("tool/call", {**self.where(), "callId": id, "name": name,
                                       "arguments": json.dumps(arguments, ensure_ascii=False)})
        self.flush()
        return seq

    def result(self, call, id, text, error=None):
        seq = len(self.events)
        self.wait(0.8)
        block = {"type": "tool-result", "toolCallId": id, "content": [{"type": "text", "text": text}]}
        data = {**self.where(), "message": {"id": f"t-{seq}", "role": "user",
                                            "source": {"kind": "tool", "callId": id}, "content": [block]}}
        if error:
            block["isError"] = True
            data["error"] = {"name": "ToolError", "code": error}
        self.event("tool/result", data, sourceEventSeqs=[call], surfaceOp="append")
        self.nodes.append(seq)

    def tool(self, id, name, arguments, text, error=None):
        self.result(self.call(id, name, arguments), id, text, error)

    def end_step(self):
        self.event("step/end", self.where())
        self.flush()

    def end_turn(self, kind="completed"):
        self.end_step()
        self.event("turn/end", {"turn": self.turn, "reason": {"kind": kind}})
        self.flush()

    def title(self, text):
        self.event("session/title", {"title": text, "messageSeqs": [self.nodes[0]],
                                     "source": {"kind": "provider", "provider": "deepseek"}})
        self.flush()

    def compact(self, summary, keep, usage):
        """All nodes but the last `keep` give way to a summary."""
        start, gone = len(self.events), self.nodes[:-keep]
        self.event("compaction/start", {"compactionId": "cmp-1", "turn": None})
        self.wait(4)
        shadowed = {"start": gone[0], "end": gone[-1]}
        self.event("compaction/summary", {
            "compactionId": "cmp-1", "summary": [{"type": "text", "text": summary}], "shadowedRange": shadowed,
            "shadowedSeqs": gone, "shadowedTokenCount": 5120, "provider": "deepseek", "model": "deepseek-tide",
            "usage": dict(zip(("inputTokens", "outputTokens"), usage))})
        seq = self.event("user/message", {
            "id": "cp-1", "role": "user", "content": [{"type": "text", "text": summary}],
            "source": {"kind": "plugin", "plugin": "compaction-basic", "form": "notice",
                       "summary": f"{len(gone)} messages summed up"}},
            sourceEventSeqs=[start, start + 1] + gone,
            surfaceOp={"op": "replace", "start": gone[0], "end": gone[-1]})
        self.event("compaction/end", {"compactionId": "cmp-1", "turn": None})
        self.nodes = [seq] + self.nodes[-keep:]
        self.flush()

    # as bytes

    def packed(self, batch):
        """Runs of three chunks and more become one row."""
        out, run = [], []

        def close():
            if len(run) < 3:
                out.extend(line(e) for e in run)
            elif run:
                chunk = run[0]["data"]["chunk"]
                out.append(line({
                    "type": chunk["type"].replace("-delta", "-chunks"), "seq0": run[0]["seq"],
                    "time0": run[0]["time"],
                    "data": {"turn": run[0]["data"]["turn"], "step": run[0]["data"]["step"], "index": chunk["index"],
                             "dt": [b["time"] - a["time"] for a, b in zip(run, run[1:])],
                             "texts": [e["data"]["chunk"]["text"] for e in run]}}))
            run.clear()

        for e in batch:
            is_chunk = e["type"] == "assistant/chunk"
            if not is_chunk or run and (run[0]["data"]["chunk"]["index"] != e["data"]["chunk"]["index"]):
                close()
            if is_chunk:
                run.append(e)
            else:
                out.append(line(e))
        close()
        return b"".join(out)

    def bytes(self):
        return frame(line(self.header)) + b"".join(frame(self.packed(batch)) for batch in self.batches)


def fork(parent, last, name, start):
    """A log that begins with events 0 to `last` of another one."""
    log = Log(name, start, parentSession=parent.name, seedLength=last + 1)
    log.events = [dict(e) for e in parent.events[:last + 1]]
    log.nodes = [e["seq"] for e in log.events if e.get("surfaceOp") == "append"]
    log.turn = sum(e["type"] == "turn/start" for e in log.events)
    log.event("session/end-seed", {})
    log.flush()
    return log


# ---- what they say ----

START = 1788944400000  # 2026-09-09 09:00 UTC

board = Log("session-6f0d2c1e-8a34-4b6f-9f0e-2d6a51c7b901", START)
board.start_turn()
board.start_step()
board.user("The board at the ferry pier shows high water an hour late since Monday. Find out why.")
board.answer("I'll look at how the board reads the tide table.",
             [("call_1", "read_file", {"path": "board/tides.py"}), ("call_2", "run", {"command": "date; cat /etc/timezone"})],
             thought="An hour, since a Monday: that smells of a change of clocks, but there is none in September. "
                     "See what the table is in and what the board thinks it is in.",
             usage=(1840, 96, 0, 41))
board.tool("call_1", "read_file", {"path": "board/tides.py"},
           "def next_high(now):\n    table = load('tables/2026.csv')      # harbour office, UTC\n"
           "    for row in table:\n        when = datetime.fromisoformat(row['high'])\n"
           "        if when > now.replace(tzinfo=None):\n            return when\n")
board.tool("call_2", "run", {"command": "date; cat /etc/timezone"}, "Wed Sep  9 09:00:14 UTC 2026\nEtc/UTC\n")
board.end_step()
board.start_step()
board.answer("The table is in UTC and so is the board's clock, so `next_high` compares like with like. "
             "What changed on Monday is the table itself.",
             [("call_3", "run", {"command": "git log --oneline -3 -- tables/2026.csv"})], usage=(310, 64, 1880))
board.tool("call_3", "run", {"command": "git log --oneline -3 -- tables/2026.csv"},
           "c41d9e2 Mon Sep 7  new table from the harbour office\n88e0b17 Thu Jan 1  table of 2026\n")
board.event("todo/write", {"todos": [{"content": "compare the new table with the old one", "status": "in_progress"},
                                     {"content": "fix the board", "status": "pending"},
                                     {"content": "write down which zone the table is in", "status": "pending"}]})
board.end_step()
board.start_step()
board.answer("Every time in the new table is exactly **one hour** later than in the old one:\n\n"
             "```diff\n-2026-09-09T11:42\n+2026-09-09T12:42\n```\n\n"
             "The office now exports local time (UTC+1). The board still takes it for UTC.", usage=(420, 118, 2100))
board.end_turn()
board.wait(2)
board.title("The board is an hour late")
fork_point = len(board.events) - 1

board.wait(140)
board.start_turn()
board.start_step()
board.user("Keep both working. And ask somebody to read the office's notes on the new export, all of it.")
board.answer("I send an agent to read the notes and change the loader meanwhile.",
             [("call_4", "agent", {"label": "export notes", "task": "Read docs/export/*.md; what zone are times in?"}),
              ("call_5", "edit_file", {"path": "board/tides.py"})], usage=(260, 88, 2600))
sent = board.call("call_4", "agent", {"label": "export notes"})
agent_start = board.time + 200
board.tool("call_5", "edit_file", {"path": "board/tides.py"},
           "edited board/tides.py: times with an offset are taken as they say, bare ones as UTC\n")
board.wait(31)
board.result(sent, "call_4", "Times are local since 2026-09-01. From export version 3 on each has its offset "
             "(+01:00 or +00:00). The file says its version in the first line; ours is version 2: no offset.")
board.end_step()
board.start_step()
board.answer("", [("call_6", "run", {"command": "pytest -q tests/test_tides.py"})], usage=(390, 40, 2900))
board.tool("call_6", "run", {"command": "pytest -q tests/test_tides.py"},
           "F..  1 failed, 2 passed\nE   assert next_high(...) == 11:42, got 12:42\n", error="EXIT_1")
board.end_step()
board.start_step()
board.answer("The failing test is the board's own case: a version 2 file has no offset, so the loader must be told. "
             "I make the version decide: 2 is local time of the pier, 3 says it itself.",
             [("call_7", "edit_file", {"path": "board/tides.py"}), ("call_8", "run", {"command": "pytest -q"})],
             usage=(210, 130, 3300))
board.tool("call_7", "edit_file", {"path": "board/tides.py"}, "edited board/tides.py: zone_of(version)\n")
board.tool("call_8", "run", {"command": "pytest -q"}, "........  8 passed in 0.61s\n")
board.end_step()
board.start_step()
board.answer("Done: all eight tests pass, with tables of both kinds.", usage=(80, 21, 3600))
board.end_turn()

board.wait(600)
board.compact("Summary so far: the tide table of the harbour office is in local time (UTC+1) since 7 September; the board "
              "took it for UTC and was an hour late. The loader now goes by the export's version: 2 is local time, 3 has "
              "offsets. All 8 tests pass. Open: say it in the README.", 1, (5400, 160))
board.wait(20)
board.start_turn()
board.start_step()
board.user("Now the README, two sentences.")
board.answer("", [("call_9", "edit_file", {"path": "README.md"})], usage=(700, 90, 0))
board.tool("call_9", "edit_file", {"path": "README.md"}, "edited README.md\n")
board.end_step()
board.start_step()
board.answer("> Times in `tables/` are what the harbour office exports: local time of the pier in version 2, with "
             "their own offset from version 3 on. `board/tides.py` goes by the first line of the file.", usage=(60, 52, 790))
board.end_turn()

notes = Log("session-b5c9d0aa-17f2-4c0b-8d5e-90f1e6a3c402", agent_start, parentSession=board.name, origin="subagent", depth=1)
notes.event("subagent/descriptor", {"version": 2, "mode": "one-shot", "provider": "deepseek", "label": "export notes"})
notes.start_turn()
notes.start_step()
notes.user("Read docs/export/*.md; what zone are times in?", {"kind": "coordinator"})
notes.answer("", [("call_1", "read_file", {"path": "docs/export/CHANGES.md"})], usage=(900, 30, 0))
notes.tool("call_1", "read_file", {"path": "docs/export/CHANGES.md"},
           "## Version 2 (2026-09-01)\nTimes are local, as on the printed table.\n\n## Version 3 (planned)\n"
           "Each time carries its offset.\n")
notes.end_step()
notes.start_step()
notes.answer("Times are local since 2026-09-01. From export version 3 on each has its offset (+01:00 or +00:00). The file says "
             "its version in the first line; ours is version 2: no offset.", usage=(240, 70, 930))
notes.end_turn()

other = fork(board, fork_point, "session-2e7714d3-05bb-4d0a-a1c6-7c3f9be8d503", START + 5400000)
other.time = START + 5400000
other.start_turn()
other.start_step()
other.user("Forget the table. Can the board work the tide out by itself?")
other.answer("It can, to within some minutes: the M2 and S2 waves at our pier are known, and the board only shows the next "
             "high water.\n\n| wave | period | height |\n| --- | --- | --- |\n| M2 | 12 h 25 min | 1.31 m |\n"
             "| S2 | 12 h 00 min | 0.44 m |\n\nWind and pressure move the water by up to 20 minutes; the office's table "
             "knows the harbour better. I would compute it only where the table is missing.", usage=(330, 160, 2700))
other.end_turn()
other.title("The board without a table")

lamp = Log("session-9d41f7e8-6c20-4e58-b7aa-15c0d2e9f604", START + 86400000)
lamp.start_turn()
lamp.start_step()
lamp.user("Turn the pier lamp's schedule into a systemd timer.")
lamp.answer("I write the unit and start it once to see that it runs.",
            [("call_1", "write_file", {"path": "/etc/systemd/system/pier-lamp.timer"}),
             ("call_2", "run", {"command": "systemctl start pier-lamp"})], usage=(1210, 84, 0))
lamp.tool("call_1", "write_file", {"path": "/etc/systemd/system/pier-lamp.timer"}, "wrote 11 lines\n")
lamp.call("call_2", "run", {"command": "systemctl start pier-lamp"})

short = Log("session-40aa6b93-e1d8-4f77-8c39-3be07a2d1505", START + 3 * 86400000)
short.start_turn()
short.start_step()
short.user("How long is the ferry from the pier to Holm?")
short.answer("Twenty-five minutes; thirty-five when it calls at Skarvøy first.", usage=(90, 24, 0))
short.answer("", thought=None, stored=False)
short.end_turn()
short.wait(30)
short.start_turn()
short.start_step()
short.user("And back in the evening, after nine?")
short.answer("The last boat leaves Holm at 21:40. After that there is only the night bus over the", stored=False)

out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..", "data", "demo", "dsh")
for log in (board, notes, other, lamp, short):
    folder = os.path.join(out, "--home-mira-harbour-board--", log.name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "session.jsonl.zstd"), "wb") as to:
        to.write(log.bytes())
