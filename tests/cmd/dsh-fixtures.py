#!/usr/bin/env python3
"""Every session of the dsh fixtures through the program: show, cat and list
against the answers of the format's own backend (tests/format/dsh/expected.json).

  dsh-fixtures.py FIXTURES BOUGH
"""

import hashlib
import json
import os
import subprocess
import sys

fixtures, bough = sys.argv[1], os.path.abspath(sys.argv[2])
expected = json.load(open(os.path.join(fixtures, "expected.json"), encoding="utf-8"))["cases"]
failures = []
count = {"cases": 0, "sessions": 0, "refused": 0, "texts": 0, "keys": 0, "absent": 0, "listed": 0}

# A root can be refused for what else lies in it; each of these sessions by itself is sound.
OF_ROOT = {"root-opposite", "root-opposite-raw", "root-flat", "root-duplicate"}
CLASSES = {
    "SessionFormatUnsupportedError": {"unsupported"},
    "SessionPersistenceCorruptionError": {"invalid"},
}
PLAIN = {"corrupt", "bad-header", "wrong-place", "flat-layout", "wrong-encoding"}


def run(*words):
    done = subprocess.run([bough, *words], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode not in (0, 1):
        failures.append(f"{' '.join(words)}: status {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def same(who, what, got, want):
    count["keys"] += 1
    if got != want:
        failures.append(f"{who}: {what} is {json.dumps(got)}, not {json.dumps(want)}")


def sentences(lines):
    """The texts of the closing results, which are each reader's own."""
    for line in lines:
        event = json.loads(line)
        if event["type"] == "tool/result":
            yield json.dumps(event["data"]["message"]["content"][0]["content"][0]["text"], ensure_ascii=False)


def learn():
    case = expected["interrupted-zstd"]["sessions"]["i-tools"]
    path = os.path.join(fixtures, "interrupted-zstd", "store", case["files"]["path"])
    events = case["inspect"]["events"]
    ours = run("cat", path, "--balanced").decode().splitlines()[events - case["closersAdded"]:]
    theirs = "".join(case["load"]["disk"]["$FILE"]["appendedFrames"]).splitlines()
    return list(zip(sentences(ours), sentences(theirs)))


def printable(value):
    """A document in UTF-8 has no room for half a surrogate pair: U+FFFD stands for it."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
                      .decode("utf-16", "replace"))


def check_text(who, words, want, fallback=None):
    text = run("cat", *words).decode("utf-8", "surrogatepass")
    for ours, theirs in texts:
        text = text.replace(ours, theirs)
    lines = text.splitlines() if "\r" in text else text.split("\n")[:-1]
    same(who, "number of events", len(lines), want["events"])
    if lines and "firstSeq" in want:
        same(who, "first seq", json.loads(lines[0])["seq"], want["firstSeq"])
        same(who, "last seq", json.loads(lines[-1])["seq"], want["lastSeq"])
    digest = want.get("jsonlSha256", fallback)
    if digest:
        count["texts"] += 1
        same(who, "digest", hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24], digest)


def check_ok(who, path, want, stored):
    shown = json.loads(run("show", path, "--json"))
    inspect = want["inspect"]
    header = inspect.get("header")
    if header is None:
        header = {k: v for k, v in json.loads(run("cat", path, "--stored").split(b"\n")[0]).items()
                  if k != "type"}
    same(who, "header", shown["header"], printable(header))
    same(who, "events", shown["events"], inspect["events"])
    same(who, "last_seq", shown["last_seq"], inspect["lastSeq"])
    same(who, "surface", shown["surface"], inspect["surface"])
    same(who, "title", shown["title"], inspect.get("title"))
    same(who, "closers", len(shown["closers"]), want.get("closersAdded", 0))
    if shown["closers"]:
        same(who, "the closers' seqs", [e["seq"] for e in shown["closers"]],
             list(range(inspect["events"] - len(shown["closers"]), inspect["events"])))
    same(who, "torn_start", shown["torn_start"], stored["files"].get("tornStart", shown["torn_start"]))
    load = want.get("load")
    disk = load.get("disk") if isinstance(load, dict) else None
    disk = disk.get("$FILE") if isinstance(disk, dict) else None
    if disk and disk["keptBytes"] < disk["oldBytes"]:
        same(who, "torn_start", shown["torn_start"], disk["keptBytes"])
        appended = disk.get("appendedFrames", []) + [disk.get("appendedText", "")]
        if all(isinstance(text, str) for text in appended):  # not given by size and digest
            lines = len("".join(appended).splitlines())
            same(who, "recovered", shown["recovered"], lines - len(shown["closers"]))
    elif not stored["files"].get("tornStart"):
        same(who, "recovered", shown["recovered"], 0)
    check_text(who + " --balanced", [path, "--balanced"], inspect)


def paths_of(name, id, stored):
    """Where a session lies: what the answers say, else by the name of its folder or file."""
    root = os.path.join(fixtures, name, "store")
    files = stored.get("files")
    if isinstance(files, dict):
        return [os.path.join(root, files["path"])]
    if isinstance(files, list):
        return [os.path.join(root, one["path"]) for one in files]
    found = []
    for folder, _, names in os.walk(root):
        found += [os.path.join(folder, n) for n in names
                  if (os.path.basename(folder) == id and n.startswith("session.jsonl") and "tmp" not in n)
                  or n in (id + ".jsonl", id + ".jsonl.zstd")]
    return found


def check_refused(name, who, path, error):
    shown = json.loads(run("show", path, "--json"))
    kinds = {p["kind"] for p in shown["problems"]}
    count["refused"] += 1
    # what lies beside it is no fault of the session
    if name not in OF_ROOT and not kinds & CLASSES.get(error["name"], PLAIN):
        failures.append(f"{who}: {sorted(kinds)} for {error['name']}: {error['message']}")
    run("tree", path)
    run("cat", path)


def check_session(name, id, stored):
    want = stored
    if "withRanges" in expected[name]:
        want = expected[name]["withRanges"]["sessions"][id]
    who = f"{name}/{id}"
    paths = paths_of(name, id, stored)
    inspect = want.get("inspect", {})
    count["sessions"] += 1
    if not paths:
        count["absent"] += 1
        same(who, "refused", want.get("refused"), True)
    for path in paths:
        if inspect.get("ok"):
            check_ok(who, path, want, stored)
        else:
            check_refused(name, who, path, want.get("error") or inspect.get("error"))
    for start, answer in want.get("readFrom", {}).items():
        who_from = f"{who} --from {start}"
        if answer == "no events":
            same(who_from, "text", run("cat", paths[0], "--from", start), b"")
        elif "error" not in answer:
            whole = inspect if int(start) == 0 and not want.get("closersAdded") else {}
            check_text(who_from, [paths[0], "--from", start], answer, whole.get("jsonlSha256"))
    return paths


texts = learn()
for name, case in expected.items():
    count["cases"] += 1
    root = os.path.join(fixtures, name, "store")
    paths = []
    for id, stored in case["sessions"].items():
        paths += check_session(name, id, stored)
    if not os.path.isdir(root):
        continue
    listed = {os.path.realpath(s["path"]) for s in json.loads(run("list", root, "--json") or "[]")}
    count["listed"] += len(listed)
    for path in paths:
        if os.path.realpath(path) not in listed:
            failures.append(f"{name}: {path} is not in the list")

print("dsh fixtures by the program:", ", ".join(f"{n} {what}" for what, n in count.items()))
for failure in failures[:40]:
    print(ascii(failure))
sys.exit(1 if failures or count["cases"] != 45 else 0)
