#!/bin/sh
# The commands that look: what they print, as text and as JSON.
. "${srcdir:-.}/tests/cmd/lib.sh"
fresh

# ---- list
run -r "$root" list
want 0
want_empty err
want_line '/root  34 sessions$'
want_line '^  branches +59m .* 11 entries +4 branches +2\.1K .*  Three ways$'
want_line '^  linear +59m .* 5 entries .*  Stalling router$'
want_line '^  torn-tail .* torn 38 B .*'
want_line '^  bad-middle .* damaged .*'
want_line '^  empty +[^ ]+[*] +0 entries .*  empty$'
# the child stands below its parent, further in
checks=$((checks + 1))
grep -A 1 '^  branches .*  Three ways$' "$tmp/out" | grep -q '^  compacted .*     schema schema' ||
	fail "the child does not stand below its parent"
run list "$root/linear.jsonl" "$root/branches.jsonl"
want 0
no_line 'torn-tail'
want_line 'Three ways'
want_line 'Stalling router'
run list --sort size "$root"
want 0
checks=$((checks + 1))
[ "$(sed -n 2p "$tmp/out" | awk '{ print $1 }')" = hostile-text ] || fail "the largest is not first"
run list --sort=title --json "$root"
want 0
want_json 0.format tree
run list --json "$root/linear.jsonl"
want 0
want_json '#' 1
want_json 0.id linear
want_json 0.meta.title 'Stalling router'
want_json 0.tip e4b06ce6-0741-47a8-bce4-2c8218072e8c
want_json 0.branch '(none)'

mkdir "$tmp/empty-root"
run list "$tmp/empty-root"
want 1
want_empty out
want_err 'empty-root'
run list --json "$tmp/empty-root"
want 1
want_out '[]'
mkdir "$tmp/strange"
echo 'nothing of ours' >"$tmp/strange/readme.txt"
run list "$tmp/strange"
want 3
want_err 'strange'
run list "$tmp/no-such-root"
want 3
want_err 'no-such-root'
run list
want 3 # no root is configured, none of the known places exists
BOUGH_ROOT=$root run list
want 0
want_line 'Three ways'
if [ "$(id -u)" != 0 ]; then
	chmod 0 "$root/linear.jsonl"
	run list "$root"
	want 0
	want_line '^  linear .*cannot read'
	chmod 600 "$root/linear.jsonl"
fi

# ---- show
run -r "$root" show branches
want 0
want_line '^session +branches$'
want_line '^title +Three ways$'
want_line '^entries +11  \(1 root, 4 branches, 3 forks\)$'
want_line '^size +2,100 bytes, 2,100 committed$'
want_line '^time +2026-06-28 08:46:40 to 2026-06-28 08:46:50$'
want_line '^tip +ad45f23d-3b1a-41df-987f-d2803bab6c39, the last entry of the file$'
want_line '^runner-up +8d88348a-7eed-4d14-b06d-3fef701966a0, the end of the branch'
want_line '^problems +none$'
run -r "$root" show checkout
want 0
want_line '^tip +05b6e6e3-07d4-4edc-9143-1193e6c3f339, checked out 59m ago$'
want_line '^runner-up +ad45f23d-3b1a-41df-987f-d2803bab6c39, the last entry of the file, without'
want_line '^label +05b6e6e3-07d4-4edc-9143-1193e6c3f339  good$'
run -r "$root" show checkout-stale
want_line '^runner-up +the checkout of 1a2b8f1f-f1fd-42a2-9755-d4c13a902931 does not count any more: the file had 10 entries then and has 11 now$'
run -r "$root" show checkout-unknown
want_line '^runner-up +the checkout of no-such-entry does not count: there is no such entry$'
run show ./linear.jsonl 78e51061
want 0
want_line '^entry +78e51061-7311-48a3-82ce-6f447ed4d57b$'
want_line '^parent +1e2feb89-414c-443c-9027-c4d1c386bbc4$'
want_line '^child +35bf992d-c9e9-4616-a12e-7696a6cecc1b$'
want_line '^place +line 3, offset '
want_line '^note +a failed tool call$'
want_line 'Error: no such file'
run show linear.jsonl 78e5 --json
want 0
want_json id 78e51061-7311-48a3-82ce-6f447ed4d57b
want_json children.0 35bf992d-c9e9-4616-a12e-7696a6cecc1b
want_json record "$(sed -n 3p linear.jsonl)"
want_json role TOOL_RESULT
want_json label null
want_json time 1782636401300
run -r "$root" show empty --json
want 0
want_json tip null
want_json tip_reason null
want_json branch '[]'
run -r "$root" show checkout --json
want_json tip_reason checkout
want_json path "$root/checkout.jsonl"
want_json 'labels.05b6e6e3-07d4-4edc-9143-1193e6c3f339' good
# the keys of the document, sorted
checks=$((checks + 1))
sed -n 's/^  "\([a-z_]*\)":.*/\1/p' "$tmp/out" >"$tmp/keys"
printf '%s\n' branch committed entries forks format id labels leaves meta path problems roots tip \
	tip_reason >"$tmp/wanted"
want_same "$tmp/wanted" "$tmp/keys"

# ---- entry forms
for form in tip 'tip~0' e4b06ce6-0741-47a8-bce4-2c8218072e8c e4b0; do
	run -r "$root" show linear "$form" --json
	want 0
	want_json id e4b06ce6-0741-47a8-bce4-2c8218072e8c
done
run -r "$root" show linear tip~2 --json
want_json id 78e51061-7311-48a3-82ce-6f447ed4d57b
run -r "$root" show checkout @good --json
want_json id 05b6e6e3-07d4-4edc-9143-1193e6c3f339

# ---- tree
run -r "$root" tree branches
want 0
want_out '* 9b810e76  user        0: index planner deadline router buffer schema
├─o b2221a58  assistant   1: cache parser deadline cache socket schema
│ ├─o cd447e35  user        2: buffer schema index deadline deadline queue
│ │ o 1a2b8f1f  assistant   3: planner schema buffer queue router planner
│ │ o 05b6e6e3  user        4: index buffer buffer parser socket schema
│ └─o 025b413f  assistant   5: socket cache planner schema cache parser
│   ├─o afbd67f9  user        6: schema buffer socket planner router planner
│   │ o b9d179e0  assistant   7: router deadline queue queue queue buffer
│   └─o c381e88f  user        8: parser parser schema index router index
│     o 8d88348a  assistant   9: schema schema index buffer schema socket
└─@ ad45f23d  user        10: queue socket planner deadline schema queue  tip'
run tree --ascii --fold checkout.jsonl
want 0
want_out '* 9b810e76  user        0: index planner deadline router buffer schema
+-* b2221a58  assistant   1: cache parser deadline cache socket schema
| +-* cd447e35  user        2: buffer schema index deadline deadline queue
| | * 1a2b8f1f  assistant   3: planner schema buffer queue router planner
| | @ 05b6e6e3  user        4: index buffer buffer parser socket schema  [good] tip
| `-o 025b413f  assistant   5: socket cache planner schema cache parser  4 more
`-o ad45f23d  user        10: queue socket planner deadline schema queue'
run tree --fold --all checkout.jsonl --ascii
want 0
want_line '^\|   \| o b9d179e0 '
run tree --show prompts linear.jsonl
want 0
want_out '* cd613e30  user        Why does the router stall?
@ e4b06ce6  user        In lib/.  tip'
run tree linear.jsonl
want_line '^! 78e51061  read_file +Error: no such file  unsent$'
run tree checkout.jsonl --json
want 0
want_json '#' 11
want_json 4.id 05b6e6e3-07d4-4edc-9143-1193e6c3f339
want_json 4.is_tip true
want_json 4.label good
want_json 4.is_on_branch true
want_json 5.indent 2
want_json 5.is_on_branch false
# nothing is cut on a pipe, and what is very deep does not run away
awk 'BEGIN { for (i = 0; i < 400; i++) {
		printf "{\"id\":\"n%d\",%s\"role\":\"USER\",\"content\":\"%0300d\",\"timestamp\":1}\n", i, i ? "\"parentId\":\"n" i - 1 "\"," : "", i
		printf "{\"id\":\"side%d\",\"parentId\":\"n%d\",\"role\":\"USER\",\"content\":\"s\",\"timestamp\":1}\n", i, i } }' >deep-forks.jsonl
run tree deep-forks.jsonl
want 0
want_line '^\* n0 .*0{300}$'
# ... and the row says how deep it is: of its levels the outer 98 and its own are drawn
want_line '^(│ |  ){98}399└─\* n399 '

# ---- log
run log linear.jsonl
want 0
want_out 'user  2026-06-28 08:46:40  cd613e30-d8f1-4adf-91b7-584a2265b1f5
    Why does the router stall?

assistant  2026-06-28 08:46:40  1e2feb89-414c-443c-9027-c4d1c386bbc4  unsent
    call read_file  call_1
      {
        "path": "src/cache.c"
      }

tool result  2026-06-28 08:46:41  78e51061-7311-48a3-82ce-6f447ed4d57b  unsent
    Error: no such file

assistant  2026-06-28 08:46:42  35bf992d-c9e9-4616-a12e-7696a6cecc1b
    The file is not there; say where it lives.

user  2026-06-28 08:47:40  e4b06ce6-0741-47a8-bce4-2c8218072e8c  tip
    In lib/.
'
run log branches.jsonl
want 0
checks=$((checks + 1))
[ "$(grep -c '^[a-z]' "$tmp/out")" -eq 2 ] || fail "not two entries"
run log branches.jsonl 05b6 -n 2
want 0
checks=$((checks + 1))
[ "$(grep '^[a-z]' "$tmp/out" | awk '{ print $4 }' | tr '\n' ' ')" = \
	'1a2b8f1f-f1fd-42a2-9755-d4c13a902931 05b6e6e3-07d4-4edc-9143-1193e6c3f339 ' ] || fail "other entries"
run log branches.jsonl 05b6 -n 2 --reverse
checks=$((checks + 1))
[ "$(grep '^[a-z]' "$tmp/out" | awk '{ print $4 }' | tr '\n' ' ')" = \
	'05b6e6e3-07d4-4edc-9143-1193e6c3f339 1a2b8f1f-f1fd-42a2-9755-d4c13a902931 ' ] || fail "other entries"
run log linear.jsonl --json
want 0
want_json '#' 5
want_json 1.parts.0.kind call
want_json 1.parts.0.name read_file
want_json 4.parts.0.text 'In lib/.'
run log empty.jsonl
want 0
want_empty out
run log empty.jsonl --json
want_out '[]'

# ---- branches
run branches checkout.jsonl
want 0
want_out '@ 05b6e6e3       5 entries   59m  2: buffer schema index deadline deadline queue
  b9d179e0       5 entries   59m  6: schema buffer socket planner router planner
  8d88348a       5 entries   59m  8: parser parser schema index router index
  ad45f23d       2 entries   59m  10: queue socket planner deadline schema queue
tip: 05b6e6e3-07d4-4edc-9143-1193e6c3f339, checked out 59m ago
runner-up: ad45f23d-3b1a-41df-987f-d2803bab6c39, the last entry of the file, without the checkout'
run branches checkout.jsonl --json
want 0
want_json branches# 4
want_json branches.0.is_tip true
want_json branches.0.length 5
want_json branches.3.leaf ad45f23d-3b1a-41df-987f-d2803bab6c39
want_json branches.3.fork 9b810e76-6ec9-4286-a3ca-828dd5f4b3b2
want_json tip_reason checkout
want_json tip_at 1782636420000
want_json runner_up ad45f23d-3b1a-41df-987f-d2803bab6c39

# ---- reflog
run reflog checkout.jsonl
want 0
want_out '2026-06-28 08:47:00  other
2026-06-28 08:47:00  label     b9d179e0-6c0f-44f5-b813-0c4237730edf  (removed)
2026-06-28 08:47:00  label     05b6e6e3-07d4-4edc-9143-1193e6c3f339  [good]
2026-06-28 08:47:00  label     b9d179e0-6c0f-44f5-b813-0c4237730edf  [dead end]
2026-06-28 08:47:00  checkout  05b6e6e3-07d4-4edc-9143-1193e6c3f339  from ad45f23d-3b1a-41df-987f-d2803bab6c39  the tip'
run reflog checkout.jsonl --json
want 0
want_json '#' 5
want_json 4.op checkout
want_json 4.from ad45f23d-3b1a-41df-987f-d2803bab6c39
want_json 4.entries 11
want_json 4.is_current true
want_json 2.label good
run reflog linear.jsonl
want 0
want_empty out

# ---- problems and verify
run problems bad-middle.jsonl
want 1
want_line '^line 3 +offset 306 +bad-json '
want_line '^    00000132  7b 6e 6f 74 20 6a 73 6f 6e  +\{not json$'
want_line '^line 7 +offset 852 +bad-entry '
want_line '^committed: 1078 bytes, 5 entries\.$'
run problems torn-tail.jsonl
want 1
want_line '^committed: 841 bytes, 5 entries\.  A repair would move the last 38 bytes to torn-tail\.jsonl\.torn-841\.$'
run problems torn-tail.jsonl --json
want 1
want_json problems.0.kind torn-tail
want_json problems.0.offset 841
want_json problems.0.length 38
want_json committed 841
run problems linear.jsonl
want 0
want_line '^committed: 1028 bytes'
run verify linear.jsonl branches.jsonl
want 0
want_out '2 sessions checked: nothing found'
run verify linear.jsonl torn-tail.jsonl
want 1
want_line '^torn-tail\.jsonl: line 6: offset 841: torn-tail: '
want_line '^2 sessions checked: 1 finding in 1$'
run verify "$root" --json
want 1
want_json sessions 35
want_json unreadable 0
want_json findings# "$("$get" problems <"$tmp/out")"
run verify ./nowhere
want 3

# ---- cat: the lines of the file
run cat linear.jsonl
want 0
{ cat linear.jsonl; echo; } >"$tmp/wanted"
want_same "$tmp/wanted" "$tmp/out"
run cat newline-at-end.jsonl
want_same newline-at-end.jsonl "$tmp/out"
run cat crlf.jsonl
tr -d '\r' <crlf.jsonl >"$tmp/wanted"
want_same "$tmp/wanted" "$tmp/out"
run cat bom.jsonl
{ tail -c +4 bom.jsonl; tail -c 1 bom.jsonl | grep -q . && echo; } >"$tmp/wanted"
want_same "$tmp/wanted" "$tmp/out"
run cat torn-tail.jsonl
want 0
{ cat torn-tail.jsonl; echo; } >"$tmp/wanted"
want_same "$tmp/wanted" "$tmp/out"
run cat linear.jsonl 78e5
sed -n 3p linear.jsonl >"$tmp/wanted"
want_same "$tmp/wanted" "$tmp/out"
run cat linear.jsonl --json
want_json '#' 5
want_json 2 "$(sed -n 3p linear.jsonl)"

# ---- on a terminal: rows are cut to it, and coloured unless NO_COLOR says no
on_terminal() { # command
	ran="on a terminal: bough $*"
	COLUMNS=46 TERM=xterm script -qec "'$BOUGH' $*" /dev/null </dev/null 2>"$tmp/err" | tr -d '\r' >"$tmp/raw"
	sed 's/\x1b\[[0-9;]*m//g' "$tmp/raw" >"$tmp/out"
	status=0
}
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	on_terminal tree --ascii branches.jsonl
	want_line '^\* 9b810e76  user        0: index planner dead~$'
	checks=$((checks + 1))
	awk 'length($0) > 46 { print; bad = 1 } END { exit bad }' "$tmp/out" || fail "rows over 46 columns"
	checks=$((checks + 1))
	grep -q "$(printf '\033\\[33m9b810e76')" "$tmp/raw" || fail "no colour"
	export NO_COLOR=1
	on_terminal show linear.jsonl
	want_line '^session    linear$'
	checks=$((checks + 1))
	! grep -q "$(printf '\033')" "$tmp/raw" || fail "colour in spite of NO_COLOR"
	unset NO_COLOR
else
	echo "script is not here: nothing was tried on a terminal"
fi
# ---- one of a kind is no plural
printf '{"id":"a","role":"USER","content":"only","timestamp":1}\n' >"$tmp/one.jsonl"
run show "$tmp/one.jsonl"
want_line '^entries +1  \(1 root, 1 branch, 0 forks\)$'
run branches "$tmp/one.jsonl"
want_line '^@ a +1 entry   '
run list "$tmp/one.jsonl"
want_line ' 1 entry   '
want_line '  1 session$'
run problems "$tmp/one.jsonl"
want_line '^committed: [0-9]+ bytes, 1 entry\.$'
printf 'x' >>"$tmp/one.jsonl"
run problems "$tmp/one.jsonl"
want_line 'A repair would move the last 1 byte to one\.jsonl\.torn-'

# A row that would take too long is of what was read, and says so; the session itself is read.
mkdir "$tmp/long"
{
	cat linear.jsonl
	yes x | head -c 18000000
} >"$tmp/long/long.jsonl"
cp linear.jsonl "$tmp/long/short.jsonl"
run list "$tmp/long"
want 0
want_line 'long .* 4\+ entries .*not read to its end'
want_line 'short .* 5 entries'
run list "$tmp/long/long.jsonl" --json
want 0
want_json 0.counted false
want_json 0.entries 4
run list "$tmp/long/short.jsonl" --json
no_line counted
run show "$tmp/long/long.jsonl"
want 0
want_line '9,?000,?000'
finish
