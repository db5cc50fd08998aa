#!/usr/bin/env python3
"""Writes the demo root of Session Flow: a conversation of eight rounds, and a broken chain beside it.

  make-flow.py [OUT]        OUT defaults to data/demo/flow of the source tree

What is said in it is made up. The same bytes come out every time.
"""

import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from flowroot import Conversation, Stream, compact, sha, write  # noqa: E402

SYSTEM = ("You are the maintenance agent of a town library. You may read everything and change the code of the letters "
          "service. Letters go to real people: prefer the smallest change, show the evidence before the conclusion, and "
          "say plainly what you do not know.")
SYSTEM_2 = SYSTEM + " Nothing is sent before a person has read it."

ASKED = "214 readers got the overdue letter twice on Tuesday. Why? Nothing was deployed that week."

DIFF = [{"old_start": 31, "old_lines": 6, "new_start": 31, "new_lines": 8, "lines": [
    " def due_letters(day, sent):", "     for loan in loans_due_before(day):", "-        if loan.reader in sent:",
    "+        key = (loan.reader, loan.id, day.isoformat())", "+        if key in sent:", "             continue",
    "-        sent.add(loan.reader)", "+        sent.add(key)", "+        record_sent(key)", "         yield Letter(loan)"]}]
TEST = [{"old_start": 0, "old_lines": 0, "new_start": 1, "new_lines": 5, "lines": [
    "+def test_no_second_letter_after_a_restart(tmp_path):", "+    store = SentStore(tmp_path)",
    "+    first = list(due_letters(TUESDAY, store))", "+    again = list(due_letters(TUESDAY, SentStore(tmp_path)))",
    "+    assert first and again == []"]}]


def changes(c, tool, stream, by, basis, files, name="Edit"):
    added = sum(f[2] for f in files)
    c.added += added
    c.removed += sum(f[3] for f in files)
    c.changes += 1
    return {"schema": "changes/1", "id": tool, "captured_by": by, "session": c.session, "stream": stream, "tool": tool,
            "tool_name": name, "time": c.stamp(), "basis": basis, "coverage": "complete", "outcome": {"state": "returned"},
            "changed_files": len(files), "changes": [
                {"path": path, "operation": operation, "diff": "available" if hunks else "binary",
                 "attribution": "only_this_window", "additions": plus, "deletions": minus, **({"hunks": hunks} if hunks else {})}
                for path, operation, plus, minus, hunks in files]}


def observed(c, kind, stream, data):
    parts = [{"k": "data", "data": data, "state": "available", "bytes": len(compact(data))}]
    c.file(kind, stream).add(parts, id=data["id"], tool=data["tool"], time=c.stamp())


def bodies(c, system, messages, reply, name):
    c.system = system
    request = {"model": "claude-demo-5", "system": [{"type": "text", "text": system}], "max_tokens": 4096, "messages": messages}
    answer = {"id": name, "type": "message", "role": "assistant", "model": "claude-demo-5",
              "content": [{"type": "text", "text": reply}]}
    return [c.body("request", request, model="claude-demo-5", run=name), c.body("response", answer, call=name)]


def history(kind, before, n, reply="back", system="no", reason=None):
    attrs = {"history": kind, "history_messages": n, "system_changed": system}
    if before:
        attrs.update(history_from=before, history_reply=reply)
    if reason:
        attrs["history_reply_reason"] = reason
    return attrs


def user(said):
    return {"role": "user", "content": said}


def model(said):
    return {"role": "assistant", "content": said}


def card(c, main, name, before, kept, removed, added, requests):
    ref = {k: c.nodes["call/" + name]["ref"][k] for k in ("seq", "row")}
    c.node("history/" + name, "history.change", main.run_id, "main", ref, requests,
           {"call": "call/" + name, "from": before, "kept": kept, "removed": removed, "added": added})


def letters(root):
    c = Conversation(root, "letters-twice", "Why did 214 readers get the letter twice?")
    said = [user(ASKED)]

    # 1: the question, a look at the code, two agents sent out
    c.round()
    c.node("session/" + c.session, "session", attrs={"conversation": c.name, "title": c.title, "provider_bodies_landed": 2})
    main = Stream(c, "main", "main")
    main.talk("ask", ASKED)
    first = "I look at how a letter is marked as sent, and let two agents read the mail log and the schedule at the same time."
    both = bodies(c, SYSTEM, said, first, "m1")
    main.call("m1", first, "Twice on one day, no deployment: either two runs of the job, or one run that forgot what it had sent.",
              [("t_grep", "Grep", {"pattern": "sent", "path": "letters/"}),
               ("t_log", "Agent", {"description": "mail log reader", "prompt": "Which letters left twice on Tuesday, and when?"}),
               ("t_plan", "Agent", {"description": "schedule reader", "prompt": "When did the letters job run this week?"})],
              (1180, 210), dict(history("first", None, 1, system="unavailable"), provider_bodies=both))
    main.result("t_grep", "letters/job.py:12:    sent = set()\nletters/job.py:33:        if loan.reader in sent:\nletters/job.py:35:        sent.add(loan.reader)")
    c.open("child_stream", "log-reader", "the agent was started, nothing of its stream has landed")
    c.open("tool_result", "t_log", "no result landed for this tool use")
    c.open("tool_result", "t_plan", "no result landed for this tool use")
    c.node("segment/at_1_1", "segment", "session/" + c.session, ref={"seq": 1, "row": 1},
           attrs={"state": "open", "talks": 1, "gates_unmet": ["activity_boundary"], "committable": False})
    c.relate("in_segment", main.talk_id, "segment/at_1_1", "exact_unique", "activity window", {"seq": 1, "row": 1})
    c.commit()

    # 2: the agents at work
    c.round()
    log = Stream(c, "log-reader", "child", "mail log reader")
    log.talk("log", "Which letters left twice on Tuesday, and when?", child=True)
    log.call("l1", "I count the lines of the mail log by reader.", None,
             [("t_awk", "Bash", {"command": "awk '/overdue/ {n[$7]++} END {for (r in n) if (n[r] > 1) print r, n[r]}' mail.log | wc -l"})], (640, 60))
    log.result("t_awk", "214")
    log.call("l2", "All 214 have one letter at 06:00 and one at 06:41. After 06:41 the log repeats the order of 06:00 from the first reader on, and stops after 214.", usage=(720, 96))
    log_end = log.output("214 readers, twice each: 06:00 and 06:41. The second series begins again at the first reader.")
    plan = Stream(c, "schedule-reader", "child", "schedule reader")
    plan.talk("plan", "When did the letters job run this week?", child=True)
    plan.call("p1", None, None, [("t_journal", "Bash", {"command": "journalctl -u letters --since monday | grep -c Started"}),
                                 ("t_hosts", "mcp__inventory__uptime", {"host": "mail-1"})], (510, 40))
    plan.result("t_journal", "6")
    plan.result("t_hosts", "mail-1: up since Tuesday 06:40:12")
    observed(c, "execution", "schedule-reader", {
        "schema": "execution/1", "id": "ex-uptime-1", "observed_by": "asz-plugin", "boundary": "client_hook", "session": c.session,
        "stream": "schedule-reader", "tool": "t_hosts", "tool_name": "mcp__inventory__uptime", "protocol": "mcp",
        "server": {"name": "inventory", "source": "project"}, "time": c.stamp(), "duration_ms": 184, "outcome": "returned",
        "arguments": {"state": "size_only", "bytes": 17}, "result": {"state": "size_only", "bytes": 34}})
    plan_end = plan.output("Six starts in five days. The extra one is Tuesday 06:40: the host restarted and systemd ran the job again.")
    c.relate("starts", "tool/t_log", "stream/log-reader", "exact_unique", "child sidecar", {"seq": 1, "row": 2})
    c.relate("starts", "tool/t_plan", "stream/schedule-reader", "exact_unique", "child sidecar", {"seq": 1, "row": 2})
    c.relate("ends_with", "stream/log-reader", "output/log-reader", "exact_unique", "last step", log_end)
    c.relate("ends_with", "stream/schedule-reader", "output/schedule-reader", "exact_unique", "last step", plan_end)
    c.open("child_stream", "log-reader", "the agent was started, nothing of its stream has landed", "resolved")
    c.commit()

    # 3: what came back, and the answer
    c.round()
    main.result("t_log", "214 readers, twice each: 06:00 and 06:41. The second series begins again at the first reader.")
    main.result("t_plan", "Six starts in five days. The extra one is Tuesday 06:40: the host restarted and systemd ran the job again.")
    note, place = main.event("runtime.notification", "notify", "Agent \"schedule reader\" has finished.")
    c.relate("reports", note, "stream/schedule-reader", "exact_ambiguous", "the call the notification completes", place)
    c.relate("result_of", "output/log-reader", "tool/t_log", "exact_unique", "parent tool result", log_end)
    answer = ("The host restarted at 06:40. The job keeps who got a letter in memory only (`sent = set()`, job.py line 12), so its second "
              "start knew of nobody. It stopped after 214 because someone killed it at 06:43; the other 1,102 readers were lucky.\n\n"
              "- evidence: both series in the mail log, and the start at 06:40 in the journal\n- not known: who killed it. The log only says `SIGTERM`.")
    said += [model(first), user("tool results: grep, log reader, schedule reader")]
    both = bodies(c, SYSTEM, said, answer, "m2")
    main.call("m2", answer, None, usage=(2210, 190), attrs=dict(history("kept", "call/m1", 3), provider_bodies=both))
    c.open("tool_result", "t_log", "no result landed for this tool use", "resolved")
    c.open("tool_result", "t_plan", "no result landed for this tool use", "resolved")
    c.open("spawn_call", "t_night", "a notification names a call that no stream has")
    c.commit()

    # 4: the repair, with what it changed
    c.round()
    main.talk("fix", "That was me, I killed it. Fix it so that a restart can not do this again, with a test.")
    fix = "I key what was sent by reader, loan and day, and write it down before the letter leaves."
    said += [model(answer), user("That was me, I killed it. Fix it so that a restart can not do this again, with a test.")]
    both = bodies(c, SYSTEM, said, fix, "m3")
    main.call("m3", fix, "If the record comes first and the mail fails, one reader gets none. Better than two; the daily report lists them.",
              [("t_edit", "Edit", {"file_path": "letters/job.py", "old_string": "if loan.reader in sent:", "new_string": "if key in sent:"}),
               ("t_test", "Write", {"file_path": "tests/test_restart.py"}),
               ("t_run", "Bash", {"command": "pytest -q"})], (2600, 340), dict(history("kept", "call/m2", 5), provider_bodies=both))
    main.result("t_edit", "The file letters/job.py has been updated.",
                data=changes(c, "t_edit", "main", "claude-code", "runtime_reported", [("letters/job.py", "modify", 4, 2, DIFF)]))
    main.result("t_test", "File created: tests/test_restart.py",
                data=changes(c, "t_test", "main", "claude-code", "runtime_reported", [("tests/test_restart.py", "create", 5, 0, TEST)], "Write"))
    main.result("t_run", "FAILED tests/test_restart.py::test_no_second_letter_after_a_restart\nE  NameError: name 'SentStore' is not defined\n1 failed, 61 passed", failed=True)
    observed(c, "changes", "main", changes(c, "t_run", "main", "asz-plugin", "tool_window",
                                           [(".coverage", "modify", 0, 0, None)], "Bash"))
    c.commit()

    # 5: a failed test, then none; an error in between
    c.round()
    main.call("m4", "The store was missing from the imports. Once more.", None,
              [("t_edit2", "Edit", {"file_path": "letters/job.py"}), ("t_run2", "Bash", {"command": "pytest -q"})], (3050, 120),
              dict(history("unavailable", None, 0, system="unavailable")))
    main.result("t_edit2", "The file letters/job.py has been updated.", data=changes(
        c, "t_edit2", "main", "claude-code", "runtime_reported",
        [("letters/job.py", "modify", 1, 0, [{"old_start": 3, "old_lines": 1, "new_start": 3, "new_lines": 2,
                                             "lines": [" from letters.model import Letter", "+from letters.sent import SentStore, record_sent"]}])]))
    main.event("error.api", "error", "529 overloaded; the runtime tries again in 4 s")
    main.result("t_run2", "62 passed in 3.81s")
    main.call("m5", "Done: 62 tests pass, the new one among them. A second start on the same day now sends nothing.", usage=(3300, 44))
    c.node("segment/at_1_1", "segment", "session/" + c.session, ref={"seq": 1, "row": 1},
           attrs={"state": "candidate", "talks": 2, "committable": True})
    c.commit()

    # 6: the history is compacted; the next call is sent another one
    c.round()
    edge, where = main.event("epoch.boundary", "boundary", "The conversation was compacted.", parent=main.epoch, flags=["context_reset"])
    c.node("epoch/main/2", "epoch", "stream/main", "main", where, attrs={"records": 9, "reset": "observed_replayable", "continues_from": "epoch/main/0"})
    c.node(edge, "epoch.boundary", "epoch/main/2", "main", where)
    main.epoch = "epoch/main/2"
    short = "Summary so far: a restart at 06:40 made the letters job send 214 letters twice; it now records (reader, loan, day) first. 62 tests pass."
    summary, place = main.event("epoch.summary", "summary", short, "agent", main.epoch, ["reset_summary"])
    c.relate("follows", "epoch/main/2", "epoch/main/0", "exact_unique", "explicit context reset", where)
    c.relate("summarizes", summary, edge, "exact_unique", "containment parent", place)
    main.talk("sorry", "Now the apology to the 214. Short, no excuses, and they keep their books two weeks longer.")
    draft = ("Dear reader,\n\non Tuesday we sent you the same reminder twice. A computer of ours restarted and did not remember the "
             "first. Please keep your books until the 29th. We are sorry for the noise.\n\nYour library")
    before = said
    said = [before[0], user(short), user("Now the apology to the 214. Short, no excuses, and they keep their books two weeks longer.")]
    both = bodies(c, SYSTEM, said, draft, "m6")
    main.call("m6", draft, None, usage=(1400, 130),
              attrs=dict(history("changed", "call/m3", 3, "not_found"), provider_bodies=both))
    card(c, main, "m6", "call/m3", 1, 4, 2, [both[0]["ref"]])
    c.commit()

    # 7: the person edits what was asked, and the rules of the house change
    c.round()
    asked = "Now the apology to the 214. Short, no excuses, not a word about computers, and they keep their books two weeks longer."
    ref = main.add([text_part(asked)], "external", 70, run="again", trigger="external", flags=["external_input"])
    main.run("again", ref)
    c.node("input/%d/%d" % (ref["seq"], ref["row"]), "message.external", main.run_id, "main", ref)
    draft2 = ("Dear reader,\n\non Tuesday you got the same reminder from us twice. That was our mistake. Please keep your books until "
              "the 29th. We are sorry for the noise.\n\nYour library")
    said = [said[0], said[1], user(asked)]
    both = bodies(c, SYSTEM_2, said, draft2, "m7")
    main.call("m7", draft2, "Not a word about computers: then also not about the restart.", usage=(1460, 110),
              attrs=dict(history("changed", "call/m6", 3, "unavailable", "yes", "ambiguous"), provider_bodies=both))
    card(c, main, "m7", "call/m6", 2, 1, 1, [both[0]["ref"]])
    c.withdraw("error/%d/%d" % find(c, "error.api"), "error.api")
    c.open("spawn_call", "t_night", "a notification names a call that no stream has", "terminal")
    c.open("notified_child", "night-watch", "told of an agent whose stream is not in this session")
    c.commit()

    # 8: read by a person, sent by a person
    c.round()
    c.node("session/" + c.session, "session", attrs={"conversation": c.name, "title": c.title, "provider_bodies_landed": 12})
    main.talk("send", "Good. Put it into outbox/ as a draft, I send it myself.")
    last = "It lies in outbox/apology-214.eml with the 214 addresses; nothing has been sent."
    said += [model(draft2), user("Good. Put it into outbox/ as a draft, I send it myself.")]
    both = bodies(c, SYSTEM_2, said, last, "m8")
    main.call("m8", None, None, [("t_box", "Bash", {"command": "letters draft --to double.txt --out outbox/apology-214.eml"})], (1700, 60),
              dict(history("kept", "call/m7", 5), provider_bodies=both))
    main.result("t_box", "214 recipients, 1 draft, 0 sent")
    observed(c, "changes", "main", changes(c, "t_box", "main", "asz-plugin", "tool_window", [("outbox/apology-214.eml", "create", 9, 0, [
        {"old_start": 0, "old_lines": 0, "new_start": 1, "new_lines": 9, "lines": ["+" + line for line in (
            ["To: (214 readers of double.txt)", "Subject: The reminder that came twice"] + draft2.split("\n"))]}])], "Bash"))
    main.call("m9", last, usage=(1790, 40))
    c.commit()
    c.finish()
    write(c.path("rounds/r000009-000000000000.sf"), b"")


def find(c, kind):
    name = next(n for n, k in c.kinds.items() if k == kind)
    return tuple(int(x) for x in name.split("/")[1:])


def text_part(said):
    return {"k": "text", "text": said, "state": "available", "bytes": len(said.encode())}


def plants(root):
    """Four rounds; a byte of the third was changed after it had been committed."""
    c = Conversation(root, "greenhouse-log", "Which plants were watered?")
    c.round()
    c.node("session/" + c.session, "session", attrs={"conversation": c.name, "title": c.title})
    main = Stream(c, "main", "main")
    main.talk("one", "Which beds got water on Sunday? The meter says 40 litres.")
    main.call("g1", "Beds 2 and 5, 20 litres each. Bed 3 was skipped: its valve did not answer.", usage=(300, 40))
    c.commit()
    c.round()
    main.talk("two", "Try the valve of bed 3 again.")
    main.call("g2", "It opens now.", None, [("t_valve", "Bash", {"command": "valve 3 open --for 60s"})], (340, 20))
    main.result("t_valve", "bed 3: open 60 s, 18 litres")
    c.commit()
    c.round()
    main.talk("three", "And the tomatoes?")
    main.call("g3", "18 litres at 07:10. They had been dry since Friday.", usage=(380, 30))
    c.commit(spoil=(b'"trigger":"external"', b'"trigger":"eXternal"'))
    c.round()
    main.talk("four", "Thank you.")
    main.call("g4", "The next watering is on Wednesday at 06:30.", usage=(400, 20))
    c.commit()
    c.finish()


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "..", "data", "demo", "flow")
    if os.path.isdir(out):
        shutil.rmtree(out)
    letters(out)
    plants(out)


main()
