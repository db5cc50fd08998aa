"""The entries of runner-long: a port of many test files, each with its rounds of tools."""

AREAS = {
    "schedule": ["sunrise", "sunset", "weekday", "leap_second", "timezone", "overlap", "vacation"],
    "lamp": ["dim", "colour", "blink", "fade", "timeout", "firmware", "offline"],
    "group": ["order", "empty_group", "nested", "rename"],
    "scene": ["save", "apply", "undo", "share"],
    "bridge": ["pairing", "reconnect", "two_bridges", "backoff"],
    "store": ["migrate", "corrupt", "lock", "export"],
    "cli": ["list", "watch", "completion", "exit_status"],
}

FINDINGS = {
    "leap_second": ("check_leap_second was never run: the old runner only takes names that begin with `test_`. "
                    "Renamed, it fails: a schedule across 23:59:60 is dropped.",
                    "A real bug, then. Own commit, with the test."),
    "empty_group": ("check_empty_group was never run either, and it fails: `ZeroDivisionError` in `Group.level()`. "
                    "The level of a group is the mean of its lamps; an empty group has none.",
                    "An empty group has level 0. Fix it."),
    "timeout": ("This one sleeps for 30 s until the lamp is given up. The runner has a clock that can be moved, "
                "so the test can say `clock.advance(30)` and be done in a millisecond.",
                "Yes please, no more sleeping."),
    "undo": ("The test passes alone and fails after `test_apply`: it finds the scene that the other one saved. "
             "With a fresh store for each test both pass in any order.",
             "Fresh store for each. Was that the only one?"),
    "reconnect": ("It opens port 9000 and hopes that nobody else has it. With port 0 the system picks a free one.",
                  "Good. Same for the other bridge tests."),
    "corrupt": ("The fixture is a damaged store of 512 bytes, checked in with a text filter that changed `\\r\\n` "
                "to `\\n`: it has been testing *another* kind of damage since then. "
                "I marked the file as binary and made it again.",
                "Ouch. How long has it been like that?"),
}

ANSWERS = {
    "undo": "Three in all: `test_undo`, `test_share` and `test_rename`. Each found what its neighbour had left.",
    "corrupt": "Since the commit that added the file, I am afraid. The damage that it was meant to be is now tested for the first time; it passes.",
}

FAILURES = {
    "colour": ("Error: 1 failed\nAssertionError: (0.31, 0.33) != (0.3127, 0.3290)\n  in test_white_point",
               "Rounded where the old helper compared with a tolerance. The new runner's `approx()` does the same."),
    "overlap": ("Error: fixture 'two_schedules' not found",
                "The fixture lived in the base class of the old tests. Moved to `conftest.py`, where the others are."),
    "backoff": ("Error: 1 failed\nexpected waits [1, 2, 4, 8], got [1, 2, 4, 8, 16]",
                "The old test stopped counting after four. The code does five attempts, and the manual says five; the test was short."),
    "export": ("Error: UnicodeEncodeError: 'ascii' codec can't encode character '\\xfc' in position 14",
               "The new runner starts with `LC_ALL=C`. Export must not depend on that: it opens its file as UTF-8 now."),
}

PLAIN = [
    "Plain asserts; nothing special here.",
    "The set-up became a fixture, eleven lines fewer.",
    "Four nearly equal tests are one with a table now.",
    "Straightforward. I kept the names so that the history can be followed.",
    "The helper class is gone, its two functions stand beside the tests.",
    "Here I kept the order of the cases: the comments in the file refer to it.",
]


def make(talk):
    talk.add("user", "Port the tests from the old runner to the new one, please. One file at a time, a commit each. "
                     "Stop and ask when a test says something you do not believe.", {})
    talk.add("ai", "Thirty-four files in seven areas. I begin with `schedule`.", {})
    count = 0
    for area, names in AREAS.items():
        for name in names:
            port(talk, area, name, count)
            count += 1
        talk.add("ai", "`%s` is done: %d files, all green." % (area, len(names)), {"id": "area-" + area})
        if area == "lamp":
            side_step(talk)
            talk.add("user", "On with the groups.", {"from": "area-lamp"})


def port(talk, area, name, count):
    path = "tests/%s/test_%s.py" % (area, name)
    tests = 3 + (count * 7 + len(name)) % 9
    talk.add("ai", "", {}, calls=[("read_file", '{"path": "%s"}' % path)])
    talk.add("result", 'class %sTest(LanternTest):\n    def setUp(self):\n        self.store = MemoryStore()\n\n'
                       '    # %d cases\n' % (name.title().replace("_", ""), tests), {}, tool="read_file")
    talk.add("ai", PLAIN[count % len(PLAIN)], {},
             calls=[("edit", '{"path": "%s", "text": "..."}' % path), ("run", '{"command": "runner %s"}' % path)])
    talk.add("result", "changed %s: %d places" % (path, tests + 2), {}, tool="edit")
    if name in FAILURES:
        error, reason = FAILURES[name]
        talk.add("result", error, {}, tool="run")
        talk.add("ai", reason, {}, calls=[("edit", '{"path": "%s", "text": "..."}' % path),
                                          ("run", '{"command": "runner %s"}' % path)])
        talk.add("result", "changed %s: 1 place" % path, {}, tool="edit")
    talk.add("result", "%d passed in %.2fs" % (tests, 0.04 * tests), {}, tool="run")
    if name in FINDINGS:
        found, reply = FINDINGS[name]
        talk.add("ai", found, {"id": name})
        talk.add("user", reply, {})
        talk.add("ai", ANSWERS.get(name, "Done, in a commit of its own."), {})


def side_step(talk):
    talk.add("user", "Quick check in between: how much faster is it already?", {"from": "area-lamp"})
    talk.add("ai", "", {}, calls=[("run", '{"command": "time runner tests/schedule tests/lamp"}')])
    talk.add("result", "102 passed in 14.81s", {}, tool="run")
    talk.add("ai", "14.8 s for those two areas; the old runner needs 71 s for them, 30 of which are one `sleep`.", {})
