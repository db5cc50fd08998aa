"""Writes storage roots of Session Flow: landed files, bodies and rounds of a conversation.

A Conversation collects what a script says of it, round by round, and writes files
whose digests, counts and refs are right. Nothing depends on the clock.
"""

import datetime
import hashlib
import json
import os

EPOCH = datetime.datetime(2026, 9, 14, 8, 0, 0)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def nested(name):
    return name.replace("%", "%25").replace("_", "%5F").replace("/", "_")


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)


def text(said, **more):
    return dict({"k": "text", "text": said, "state": "available", "bytes": len(said.encode())}, **more)


class File:
    """A landed file of the round at hand; it gets its sequence when it is begun."""

    def __init__(self, conversation, kind, stream):
        self.conversation, self.kind, self.stream = conversation, kind, stream
        conversation.seq += 1
        self.seq = conversation.seq
        self.rows = []

    def add(self, parts, **fields):
        row = len(self.rows) + 1
        record = {"ord": row, "off": 400 * (row - 1), "sha": sha(compact(parts).encode())[:12], "bytes": 400}
        record.update(fields, parts=parts)
        self.rows.append(compact(record))
        return {"seq": self.seq, "row": row}

    def write(self):
        c = self.conversation
        head = {"h": 1, "schema": "sd/1", "seq": self.seq, "at": c.stamp(), "kind": self.kind, "adapter": "demo/1",
                "dialect": "claude-code/1", "src": "demo/%s-%d" % (self.kind, self.seq), "session": c.session}
        if self.stream:
            head["stream"] = self.stream
        body = ("\n".join([compact(head)] + self.rows) + "\n").encode()
        data = body + (compact({"t": "end", "records": len(self.rows), "digest": sha(body)}) + "\n").encode()
        folder = "streams/" + self.stream if self.stream else "provider_body"
        name = "%s-20260914T080000.%09dZ-%06d.sd" % (self.kind, self.seq, self.seq)
        write(os.path.join(c.root, c.session, folder, name), data)
        return sha(data)


class Conversation:
    def __init__(self, root, name, title):
        self.root, self.name, self.session, self.title = root, name, name, title
        self.seq = self.number = self.seconds = 0
        self.previous = self.input = ""
        self.files, self.nodes, self.relations, self.unresolved = {}, {}, {}, {}
        self.states, self.kinds, self.names, self.roles = {}, {}, {}, {}
        self.system, self.pieces, self.requests, self.nbodies = "", set(), [], 0
        self.added = self.removed = self.changes = 0
        self.begin = self.from_seq = None

    # ---- time, files, entities

    def stamp(self):
        return (EPOCH + datetime.timedelta(seconds=self.seconds)).isoformat() + "Z"

    def wait(self, seconds):
        self.seconds += seconds
        return self.stamp()

    def file(self, kind, stream=None):
        key = (kind, stream)
        if key not in self.files:
            self.files[key] = File(self, kind, stream)
        return self.files[key]

    def node(self, name, kind, parent=None, stream=None, ref=None, refs=None, attrs=None):
        node = {"t": "node", "id": name, "revision": self.number, "kind": kind}
        for key, value in (("parent", parent), ("stream", stream), ("ref", ref), ("refs", refs), ("attrs", attrs)):
            if value:
                node[key] = value
        self.nodes[name] = node
        self.kinds[name] = kind
        return name

    def withdraw(self, name, kind):
        self.nodes[name] = {"t": "node", "id": name, "revision": self.number, "tombstone": True, "kind": kind}
        del self.kinds[name]

    def relate(self, kind, start, end, quality, via, *evidence):
        name = "rel/%s/%s/%s" % (kind, nested(start), nested(end))
        self.relations[name] = {"t": "relation", "id": name, "revision": self.number, "type": kind, "from": start,
                                "to": end, "quality": quality, "via": via, "evidence": list(evidence)}

    def open(self, kind, ref, reason, state="open"):
        name = "unres/%s/%s" % (kind, ref)
        self.unresolved[name] = {"t": "unresolved", "id": name, "revision": self.number, "kind": kind, "ref": ref,
                                 "reason": reason, "state": state}
        self.states[name] = state

    # ---- rounds

    def round(self):
        self.number += 1
        self.files, self.nodes, self.relations, self.unresolved = {}, {}, {}, {}
        self.from_seq, self.begin = self.seq + 1, self.stamp()

    def counts(self):
        kinds = list(self.kinds.values())
        structure = ("session", "stream", "epoch", "segment", "talk", "run")
        return {"talks": kinds.count("talk"), "steps": sum(k not in structure for k in kinds),
                "streams": kinds.count("stream"), "segments": kinds.count("segment"),
                "unresolved": list(self.states.values()).count("open"), "changes": self.changes,
                "lines_added": self.added, "lines_removed": self.removed, "llm_calls": kinds.count("llm.call"),
                "subagents": list(self.roles.values()).count("child"),
                "bash_runs": sum(n == "Bash" for n in self.names.values())}

    def commit(self, spoil=None):
        digest = hashlib.sha256(self.input.encode())
        for one in sorted(f.write() for f in self.files.values()):
            digest.update(b"\0" + one.encode())
        self.input = digest.hexdigest()
        head = {"t": "header", "schema": "sf/1", "conversation": self.name, "session": self.session, "round": self.number}
        if self.previous:
            head["previous"] = self.previous
        head.update(from_seq=self.from_seq, through_seq=self.seq, input_digest=self.input, parser="v1",
                    policy="v1+idle=10m0s", from_time=self.begin, through_time=self.stamp(),
                    session_from_time=EPOCH.isoformat() + "Z", session_through_time=self.stamp(), title=self.title)
        head.update(self.counts())
        groups = [self.nodes, self.relations, self.unresolved]
        lines = [compact(head)] + [compact(g[k]) for g in groups for k in sorted(g)]
        body = ("\n".join(lines) + "\n").encode()
        self.previous = sha(body)
        counts = dict(zip(("nodes", "relations", "unresolved"), map(len, groups)))
        data = body + (compact({"t": "commit", "digest": self.previous, "counts": counts}) + "\n").encode()
        if spoil:
            data = data.replace(*spoil)
        write(self.path("rounds/r%06d-%s.sf" % (self.number, self.previous[:12])), data)

    def path(self, name):
        return os.path.join(self.root, "_conversations", self.name, name)

    def finish(self):
        lines = (("schema", 1), ("conversation", self.name), ("head", self.number), ("head_digest", self.previous),
                 ("through_seq", self.seq), ("input_digest", self.input), ("parser", "v1"), ("policy", "v1+idle=10m0s"),
                 ("updated_at", self.stamp()))
        write(self.path("conversation.state"), "".join("%-12s %s\n" % line for line in lines).encode())

    # ---- bodies

    def body(self, role, value, **manifest):
        """A request or response, stored with what the session already holds taken out."""
        self.nbodies += role == "request"
        name, raw = "%d.%s" % (self.nbodies, role), compact(value).encode()
        parts, segments, piece = [], [], compact(self.system).encode()
        before = max(self.requests, key=lambda r: len(os.path.commonprefix([r[1], raw])), default=None)
        shared = len(os.path.commonprefix([before[1], raw])) if before else 0
        while shared and raw[shared:shared + 1] and raw[shared] & 0xC0 == 0x80:
            shared -= 1
        if role == "request" and shared > 300:
            segments = [{"copy": {"from": before[0], "sha256": sha(before[1]), "len": shared}}, {"lit": raw[shared:].decode()}]
        elif role == "request":
            head, tail = raw.split(piece, 1)
            known = sha(piece) in self.pieces
            self.pieces.add(sha(piece))
            if not known:
                parts.append({"k": "data", "data": self.system, "state": "available", "bytes": len(piece)})
            segments = [{"lit": head.decode()}, {"piece": sha(piece)} if known else {"part": 0}, {"lit": tail.decode()}]
        else:
            segments = [{"lit": raw.decode()}]
        if role == "request":
            self.requests.append((name, raw))
        data = dict({"schema": "provider_body/1", "role": role, "src": name + ".json", "sha256": sha(raw), "bytes": len(raw),
                     "depth": 0, "session": self.session, "segments": segments}, **manifest)
        parts.append({"k": "data", "data": data, "state": "available", "bytes": len(compact(data))})
        return {"role": role, "ref": self.file("provider_body").add(parts, id=name)}


class Stream:
    """One stream: where its next step goes."""

    def __init__(self, c, name, role, label=None):
        self.c, self.name = c, name
        self.epoch = self.talk_id = self.run_id = self.last_call = None
        self.tools = {}
        c.roles[name] = role
        first = {"seq": c.file("transcript", name).seq, "row": 1}
        attrs = {"role": role, "records": 1}
        if label:
            attrs["label"] = label
        c.node("stream/" + name, "stream", "session/" + c.session, name, first, attrs=attrs)
        self.epoch = c.node("epoch/%s/0" % name, "epoch", "stream/" + name, name, first,
                            attrs={"records": 1, "reset": "none"})

    def add(self, parts, who="agent", seconds=4, **fields):
        return self.c.file("transcript", self.name).add(parts, **dict({"from": who, "time": self.c.wait(seconds)}, **fields))

    def talk(self, cycle, asked, child=False):
        flags = ["external_input"] if not child else ["injected"]
        ref = self.add([text(asked)], "external", 40, run=cycle, trigger="external", flags=flags)
        self.talk_id = self.c.node("talk/%s%s" % (self.name, "" if child else "/" + cycle), "talk", self.epoch, self.name, ref,
                                   attrs={"loops": 1, "runs": 1, "trigger": "external"})
        self.run(cycle, ref)
        kind, name = ("context.injection", "inject") if child else ("message.external", "input")
        return self.c.node("%s/%d/%d" % (name, ref["seq"], ref["row"]), kind, self.run_id, self.name, ref)

    def run(self, cycle, ref, trigger="external"):
        self.run_id = self.c.node("run/%s/%s" % (nested(self.talk_id), cycle), "run", self.talk_id, self.name, ref,
                                  attrs={"trigger": trigger})

    def call(self, name, say=None, think=None, tools=(), usage=(900, 120), attrs=None):
        parts = [{"k": "reasoning", "text": think, "state": "available"}] if think else []
        blocks = {"thinking": 0} if think else {}
        if say:
            blocks["message.assistant"] = len(parts)
            parts.append(text(say))
        first_tool = len(parts)
        for tool, kind, given in tools:
            parts.append({"k": "call", "id": tool, "name": kind, "data": given, "state": "available", "bytes": len(compact(given))})
        ref = self.add(parts, call=name, flags=["finished"], model="claude-demo-5", usage={"in": usage[0], "out": usage[1]})
        more = {"fragments": 1, "usage": "observed_replayable", "usage_at": ref, "usage_from": "last_fragment_in_line_order"}
        more.update(attrs or {})
        self.last_call = self.c.node("call/" + name, "llm.call", self.run_id, self.name, ref, [ref], more)
        for kind, block in blocks.items():
            short = "think" if kind == "thinking" else "msg"
            self.c.node("%s/%d/%d:%d" % (short, ref["seq"], ref["row"], block), kind, self.last_call, self.name, dict(ref, block=block))
        for i, (tool, kind, _) in enumerate(tools):
            place = dict(ref, block=first_tool + i)
            self.tools[tool] = (place, self.last_call, kind)
            self.c.names["tool/" + tool] = kind
            self.tool_node(tool, [place], {"result": "unavailable", "result_join": "unresolved"})
        return ref

    def tool_node(self, tool, refs, attrs):
        place, parent, kind = self.tools[tool]
        self.c.node("tool/" + tool, "agent.call" if kind == "Agent" else "tool", parent, self.name, place, refs,
                    dict({"name": kind, "timing": "unavailable"}, **attrs))

    def result(self, tool, said, failed=False, data=None):
        parts = [{"k": "result", "of": tool, "text": said, "failed": failed, "state": "available", "bytes": len(said)}]
        if data:
            parts.append({"k": "data", "data": data, "state": "available", "bytes": len(compact(data))})
        ref = self.add(parts, "external", 9, tool=tool)
        self.tool_node(tool, [self.tools[tool][0], dict(ref, block=0)], {"result": "available", "result_join": "exact_unique"})
        return ref

    def output(self, said):
        ref = self.add([text(said)], flags=["finished"])
        self.c.node("output/" + self.name, "agent.output", self.run_id, self.name, dict(ref, block=0),
                    attrs={"returned_value": "observed_replayable"})
        return ref

    def event(self, kind, name, said, who="runtime", parent=None, flags=()):
        ref = self.add([text(said)], who, 3, flags=list(flags))
        return self.c.node("%s/%d/%d" % (name, ref["seq"], ref["row"]), kind, parent or self.run_id, self.name, ref), ref
