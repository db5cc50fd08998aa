#!/usr/bin/env python3
"""Writes the demo sessions: every *.talk beside this script becomes one tree session.

  make-demo.py [OUT]        OUT defaults to data/demo/tree of the source tree

The result depends on the scripts only: ids and pauses come from a random
generator that is seeded with the script's name. A talk is a head of
"key: value" lines (title, model, system, start, parent, upto), then entries:

  @user @ai @system @result TOOL @plan KEY=VALUE...    a new entry; its text follows
      id=NAME    a name for the directives below
      from=NAME  hangs under that entry instead of the one before: a fork
      +SECONDS   the pause before it
  !call TOOL {JSON}         in an @ai entry: a tool call; an @result answers the
                            first call of that tool that is still open
  !compact NAME             NAME and what follows were kept; the text that
                            follows is the summary that replaced the rest
  !label NAME TEXT          a label, in the reflog
  !checkout NAME            the tip is NAME, by a checkout in the reflog
  !badline NAME             the text that follows stands as a line of its own
                            behind that entry
  !torn                     the last entry is cut in its middle

"parent: TALK" with "upto: NAME" starts from a copy of the other talk's branch
up to that entry, as a fork into a new session does. "repeat: MODULE" in the
head lets long.py make the entries.
"""

import datetime
import hashlib
import json
import os
import random
import sys
import uuid

ROLES = {"user": "USER", "ai": "ASSISTANT", "plan": "ASSISTANT", "system": "SYSTEM", "result": "TOOL_RESULT"}
HERE = os.path.dirname(os.path.abspath(__file__))


class Talk:
    def __init__(self, name):
        seed = hashlib.sha256(("bough demo " + name).encode()).digest()
        self.name = name
        self.random = random.Random(seed)
        self.session = self.uuid()
        self.head = {}
        self.entries = []     # as written to the file, in order
        self.named = {}
        self.reflog = []
        self.summary = None   # entry that opens the file after a compaction
        self.badlines = {}
        self.torn = False
        self.calls = 0
        self.open_calls = []

    def uuid(self):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def pause(self, role, text):
        if role == "USER":
            return self.random.randint(25000, 140000)
        if role == "ASSISTANT":
            return 1800 + len(text) * 14 + self.random.randint(0, 2500)
        return self.random.randint(40, 2600)

    def add(self, kind, text, options, tool=None, calls=()):
        role = ROLES[kind]
        meta = {}
        entry = {"id": self.uuid()}
        before = self.named[options["from"]] if "from" in options else (
            self.entries[-1] if self.entries else None)
        if before is not None and kind != "system":
            entry["parentId"] = before["id"]
        entry["role"] = role
        entry["content"] = text
        pause = options.get("pause")
        self.now += self.pause(role, text) if pause is None else pause
        entry["timestamp"] = self.now
        if calls:
            rows = []
            for name, arguments in calls:
                self.calls += 1
                row = {"id": "call_%d" % self.calls, "name": name, "argumentsJson": arguments}
                rows.append(row)
                self.open_calls.append(row)
            meta["replay"] = "false"
            meta["toolCalls"] = dumps(rows)
        if kind == "result":
            row = next(c for c in self.open_calls if c["name"] == tool)
            self.open_calls.remove(row)
            meta = {"replay": "false", "toolCallId": row["id"], "toolName": tool}
        if kind == "plan":
            meta["replay"] = "false"
            meta.update({k: v for k, v in options.items() if k not in ("id", "from", "pause")})
        if meta:
            entry["metadata"] = meta
        self.entries.append(entry)
        if "id" in options:
            self.named[options["id"]] = entry

    def branch(self, entry):
        by_id = {e["id"]: e for e in self.entries}
        rows = []
        while entry is not None:
            rows.append(entry)
            entry = by_id.get(entry.get("parentId"))
        return rows[::-1]

    def start(self):
        self.now = int(datetime.datetime.strptime(self.head["start"], "%Y-%m-%d %H:%M").replace(
            tzinfo=datetime.timezone.utc).timestamp() * 1000) + self.random.randint(0, 59999)


def dumps(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def words(rest):
    """Options of an entry line: id=, from=, +seconds, and whatever else a plan step has."""
    options, plain = {}, []
    for word in rest.split():
        if word[0] == "+":
            options["pause"] = int(word[1:]) * 1000
        elif "=" in word:
            key, value = word.split("=", 1)
            options[key] = value
        else:
            plain.append(word)
    return options, plain


def take_text(lines):
    text = []
    while lines and not (lines[0][:1] in "@!" and lines[0][1:2].isalpha()):
        line = lines.pop(0)
        text.append(line[1:] if line[:2] in ("\\@", "\\!") else line)
    return "\n".join(text).strip("\n")


def directive(talk, line, lines):
    word, _, rest = line[1:].partition(" ")
    if word == "torn":
        talk.torn = True
        return
    name, _, tail = rest.partition(" ")
    entry = talk.named[name]
    talk.now += talk.random.randint(20000, 90000)
    if word == "label":
        talk.reflog.append({"v": 1, "op": "label", "entry": entry["id"], "label": tail, "at": talk.now})
    elif word == "checkout":
        talk.reflog.append({"v": 1, "op": "checkout", "tip": entry["id"], "from": talk.entries[-1]["id"],
                            "entries": len(talk.entries) + (talk.summary is not None), "at": talk.now})
    elif word == "compact":
        talk.summary = {"id": talk.uuid(), "role": "SYSTEM",
                        "content": "Previous conversation summary:\n" + take_text(lines),
                        "timestamp": talk.now, "metadata": {"_compacted": "true"}}
        kept = {k: v for k, v in entry.items() if k != "parentId"}
        entry.clear()
        entry.update({"id": kept.pop("id"), "parentId": talk.summary["id"], **kept})
    elif word == "badline":
        talk.badlines[entry["id"]] = take_text(lines)
    else:
        raise SystemExit("%s: unknown directive !%s" % (talk.name, word))


def read_talk(name, talks):
    talk = Talk(name)
    with open(os.path.join(HERE, name + ".talk"), encoding="utf-8") as f:
        lines = f.read().split("\n")
    while lines and lines[0].strip():
        key, _, value = lines.pop(0).partition(": ")
        talk.head[key] = value
    talk.start()
    if "parent" in talk.head:
        origin = talks[talk.head["parent"]]
        talk.entries = [dict(e) for e in origin.branch(origin.named[talk.head["upto"]])]
        talk.named.update({n: e for e in talk.entries for n, o in origin.named.items() if o["id"] == e["id"]})
        talk.calls = origin.calls
    elif "system" in talk.head:
        talk.add("system", talk.head["system"], {"pause": 0})
    if "repeat" in talk.head:
        sys.path.insert(0, HERE)
        __import__(talk.head["repeat"]).make(talk)
    take_text(lines)
    while lines:
        line = lines.pop(0)
        if not line.strip():
            continue
        if line.startswith("!"):
            directive(talk, line, lines)
            continue
        if not line.startswith("@"):
            raise SystemExit("%s: not an entry: %s" % (name, line))
        kind, _, rest = line[1:].partition(" ")
        options, plain = words(rest) if rest else ({}, [])
        text = take_text(lines)
        calls = []
        while lines and lines[0].startswith("!call "):
            _, tool, arguments = lines.pop(0).split(" ", 2)
            calls.append((tool, arguments))
            take_text(lines)
        talk.add(kind, text, options, plain[0] if plain else None, calls)
    return talk


def write(talk, talks, out):
    rows = ([talk.summary] if talk.summary else []) + talk.entries
    lines = []
    for entry in rows:
        lines.append(dumps(entry))
        if entry["id"] in talk.badlines:
            lines.append(talk.badlines[entry["id"]])
    data = "\n".join(lines).encode()
    if talk.torn:
        data = data[:len(data) - len(lines[-1].encode()) // 3]
    base = os.path.join(out, talk.session)
    with open(base + ".jsonl", "wb") as f:
        f.write(data)
    meta = {k: talk.head[k] for k in ("title",) if k in talk.head}
    if "parent" in talk.head:
        meta["parentSessionId"] = talks[talk.head["parent"]].session
    if "model" in talk.head:
        meta["model"] = talk.head["model"]
    if "system" in talk.head:
        meta["systemPrompt"] = talk.head["system"]
    if meta:
        with open(base + ".meta.json", "w", encoding="utf-8") as f:
            f.write(dumps(meta))
    if talk.reflog:
        with open(base + ".reflog", "w", encoding="utf-8") as f:
            f.write("".join(dumps(row) + "\n" for row in talk.reflog))


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..", "data", "demo", "tree")
    names = sorted(n[:-5] for n in os.listdir(HERE) if n.endswith(".talk"))
    os.makedirs(out, exist_ok=True)
    for name in os.listdir(out):
        os.unlink(os.path.join(out, name))
    talks = {}
    for name in names:  # a talk that starts from another one comes behind it in the alphabet
        talks[name] = read_talk(name, talks)
        write(talks[name], talks, out)
    print("%d sessions, %d entries" % (len(talks), sum(len(t.entries) for t in talks.values())))


main()
