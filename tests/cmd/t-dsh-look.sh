#!/bin/sh
# What is said of a dsh log that ends inside a turn: what only a repair would
# add is marked, is neither the tip nor an entry of the file, and is no problem.
. "${srcdir:-.}/tests/cmd/lib.sh"

cp -R "$srcdir/tests/format/dsh/interrupted-zstd" "$root" || exit 99
chmod -R u+w "$root"
find "$root" -exec touch -d '2026-06-28 09:00:00 UTC' {} +
cd "$root" || exit 99
tools=store/--srv-harbour-tides--/i-tools
open='turn 1 was interrupted, unless it still runs: a repair would add 4 events'
snapshot . >"$tmp/before"

# ---- the tip is the last entry that is in the file
run show "$tools"
want 0
want_line '^tip +19, the last entry of the file$'
want_line '^entries +3  \(1 root, 1 branch, 0 forks\)$'
want_line "^open +$open\$"
want_line '^problems +none$'
run show "$tools" --json
want 0
want_json tip 19
want_json tip_reason last-entry
want_json entries 3
want_json leaves.0 19
want_json leaves.1 '(none)'
want_json closers.3.seq 24
run branches "$tools"
want_line '^@ 19 +3 entries '
want_line '^tip: 19, the last entry of the file$'
want_line '^runner-up: none: there is one branch$'
run list "$tools" --json
want_json 0.id i-tools
want_json 0.tip 19

# ---- what is not there is marked
run tree "$tools"
want 0
want_line '^@ 19 +read_gauge +ok  tip$'
want_line '^! 21 .*  by repair$'
want_line '^! 24 .*  by repair$'
no_line '^. (2|17|19) .*by repair'
run tree "$tools" --json
want_json 2.is_tip true
want_json 2.flags.0 '(none)'
want_json 6.is_tip false
want_json 6.flags.0 'by repair'
run log "$tools"
want 0
no_line 'by repair'
run log "$tools" 24
want_line '^event  .*  24  by repair$'
want_line '^tool result  .*  19  tip$'
run show "$tools" 24
want_line '^note +it is not in the file; .bough repair. would add it$'
want_line '^place +none yet, 99 bytes$'
run show "$tools" 24 --json
want_json offset null

# ---- and can be printed, but not pointed at
run cat "$tools" 24
want 0
want_err '^bough: cat: 24 is not in the file: a repair would add it$'
want_out '{"type":"turn/end","seq":24,"time":1767225601140,"data":{"turn":1,"reason":{"kind":"interrupted"}}}'
run cat "$tools" 19
want 0
want_empty err
# It is a wrong argument like an id that is nowhere.
run checkout "$tools" 24
want 1
want_err '24 is not in the file: a repair would add it'
run checkout "$tools" 24 --dry-run
want 1
run label "$tools" 24 there
want 1
run fork "$tools" 24
want 1
want_err 'event 24 is not in the log: a repair would add it; fork at an earlier turn'
run fork "$tools" 24 --exact
want 1
run checkout "$tools" 99
want 1
run fork "$tools" 99
want 1
want_err 'there is no event 99: the log has 21'

# ---- an event that is no entry is printed, and says where it folds
chunk='{"type":"assistant/chunk","seq":3,"time":1767225601021,"data":{"turn":1,"step":1,"chunk":{"type":"block-start","index":0,"blockType":"text"}}}'
run cat "$tools" 3
want 0
want_empty err
want_out "$chunk"
run cat "$tools" 3 --json
want 0
want_json 0 "$chunk"
want_json 1 '(none)'
run show "$tools" 3
want 0
want_out "event      3
kind       assistant/chunk
note       it is no entry: it folds under entry 17

$chunk"
run show "$tools" 3 --json
want 0
want_json event 3
want_json entry 17
want_json record "$chunk"
# marks before an entry belong to it, a call to the answer before; a whole number is no prefix
run show "$tools" 1
want_line '^note +it is no entry: it folds under entry 2$'
run show "$tools" 18
want_line '^note +it is no entry: it folds under entry 17$'
run cat "$tools" 17
want_line '^\{"type":"assistant/message","seq":17,'
no_line '"seq":18,'
run cat "$tools" 99
want 1
want_err '^bough: 99: no such entry$'
run show "$tools" 99
want 1

# ---- nothing is wrong
run problems "$tools"
want 0
want_out "committed: 1256 bytes, 3 entries.
open: $open."
run problems "$tools" --json
want 0
want_json problems.0 '(none)'
want_json would_add 4
want_json entries 3
run list store
want 0
checks=$((checks + 1))
[ "$(grep -c ' open turn ' "$tmp/out")" -eq 5 ] || fail "not five open turns in the list"
run verify store
want 0
want_line '^5 sessions checked: nothing found; 5 with an interrupted turn$'
want_line "^store/--srv-harbour-tides--/i-tools/session.jsonl.zstd: interrupted: $open\$"
run verify store --json
want 0
want_json ok true
want_json interrupted 5
want_json findings.0 '(none)'
want_json remarks.4.kind interrupted
snapshot . >"$tmp/after"
want_same "$tmp/before" "$tmp/after"

# ---- with its turn closed it is a log like any other
run repair --force "$tools"
want 0
run show "$tools"
want_line '^tip +22, the last entry of the file$'
no_line '^open '
run verify store
want_line '^5 sessions checked: nothing found; 4 with an interrupted turn$'
run cat "$tools" 22
want 0
want_empty err

finish
