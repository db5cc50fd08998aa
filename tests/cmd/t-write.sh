#!/bin/sh
# The commands that change: what they write, what --dry-run does not.
. "${srcdir:-.}/tests/cmd/lib.sh"

# Runs a writing command with --dry-run; nothing below the work folder may change.
dry() {
	snapshot "$tmp/root" >"$tmp/before"
	snapshot "$HOME" >>"$tmp/before"
	run "$@" --dry-run
	want 0
	cp "$tmp/out" "$tmp/dry"
	cp "$tmp/err" "$tmp/dry-err"
	snapshot "$tmp/root" >"$tmp/after"
	snapshot "$HOME" >>"$tmp/after"
	want_same "$tmp/before" "$tmp/after"
	run "$@" --dry-run --json
	want 0
	want_json dry_run true
	snapshot "$tmp/root" >"$tmp/after"
	snapshot "$HOME" >>"$tmp/after"
	want_same "$tmp/before" "$tmp/after"
}

fresh
second=b2221a58-008a-45a6-8464-7159c324c985
last=ad45f23d-3b1a-41df-987f-d2803bab6c39

# ---- checkout
dry checkout branches.jsonl "$second"
cp "$tmp/dry" "$tmp/out"
want_line "^\\{\"v\":1,\"op\":\"checkout\",\"tip\":\"$second\",\"from\":\"$last\",\"entries\":11,\"at\":$BOUGH_NOW\\}\$"
run checkout branches.jsonl b222
want 0
want_line 'tip is now b2221a58 \(was ad45f23d\)$'
checks=$((checks + 1))
[ "$(cat branches.reflog)" = "$(cat "$tmp/dry")" ] || fail "the dry run's line is not what was written"
run show branches.jsonl --json
want_json tip "$second"
want_json tip_reason checkout
want_json branch# 2
run -r . checkout branches tip~1
want 0
run show branches.jsonl --json
want_json tip 9b810e76-6ec9-4286-a3ca-828dd5f4b3b2
run reflog branches.jsonl
want 0
want_line '^2026-06-28 09:46:40  checkout  9b810e76-[^ ]+  from b2221a58-[^ ]+  the tip$'
checks=$((checks + 1))
[ "$(wc -l <"$tmp/out")" -eq 2 ] || fail "not two lines"
run checkout branches.jsonl tip
want 0
want_line '^9b810e76 is the tip already$'
checks=$((checks + 1))
[ "$(wc -l <branches.reflog)" -eq 2 ] || fail "a checkout of the tip was written"
run checkout branches.jsonl nobody
want 1
run show branches.jsonl --json
want_json tip 9b810e76-6ec9-4286-a3ca-828dd5f4b3b2

# ---- label
dry label branches.jsonl "$second" 'dead "end"'
run label branches.jsonl "$second"
want 1
want_empty out
run label branches.jsonl "$second" 'dead "end"'
want 0
run label branches.jsonl "$second"
want 0
want_out 'dead "end"'
run label branches.jsonl "$second" --json
want_json label 'dead "end"'
want_json entry "$second"
run show branches.jsonl '@dead "end"' --json
want_json id "$second"
run label branches.jsonl "$second" ''
want 0
run label branches.jsonl "$second"
want 1
run label branches.jsonl "$second" "$(printf 'bad \377')"
want 2

# ---- fork
cp branches.jsonl "$tmp/branches.before"
dry fork branches.jsonl "$second" -m 'And now?'
cp "$tmp/dry" "$tmp/out"
want_line "^\\{\"id\":\"[0-9a-f-]{36}\",\"parentId\":\"$second\",\"role\":\"USER\",\"content\":\"And now\\?\",\"timestamp\":$BOUGH_NOW\\}\$"
run fork branches.jsonl "$second" -m 'And now?'
want 0
checks=$((checks + 1))
[ "$(grep -cE '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' "$tmp/out")" = 1 ] || fail "no id: $(cat "$tmp/out")"
new=$(cat "$tmp/out")
run show branches.jsonl --json
want_json entries 12
want_json tip "$new"
want_json branch.1 "$second"
run show branches.jsonl "$new" --json
want_json parts.0.text 'And now?'
want_json parent "$second"
want_json role USER
checks=$((checks + 1))
head -c 2100 branches.jsonl | cmp -s - "$tmp/branches.before" || fail "the old bytes changed"
run fork branches.jsonl "$new" --role assistant -F - </dev/null
want 0
"$BOUGH" fork branches.jsonl "$new" --role assistant -F - >"$tmp/out" 2>"$tmp/err" <<'TEXT'
two
lines
TEXT
run show branches.jsonl tip --json
want_json parts.0.text "$(printf 'two\nlines')"
want_json role ASSISTANT
want_json parent "$new"
printf 'no newline' >"$tmp/text"
run fork branches.jsonl "$new" -F "$tmp/text"
want 0
run show branches.jsonl tip --json
want_json parts.0.text 'no newline'
run fork branches.jsonl "$new" -F "$tmp/no-such-text"
want 3
run fork branches.jsonl "$new" -m "$(printf 'bad \377')"
want 2
# retry: a sibling in the same role
run fork branches.jsonl "$second" --retry -m 'another answer'
want 0
run show branches.jsonl tip --json
want_json parent 9b810e76-6ec9-4286-a3ca-828dd5f4b3b2
want_json role ASSISTANT
# the editor: a script that keeps the notes and writes around them
cat >"$tmp/edit" <<'EDITOR'
#!/bin/sh
cp "$1" "${0%/*}/edited"
{ printf '# a heading\n'; sed '2i in between' "$1"; printf 'written\n'; } >"$1.new"
mv "$1.new" "$1"
EDITOR
chmod +x "$tmp/edit"
export EDITOR="$tmp/edit"
run fork branches.jsonl "$second" --edit
want 0
run show branches.jsonl tip --json
want_json parts.0.text "$(printf '# a heading\n\nin between\nwritten')"
cp "$tmp/edited" "$tmp/out"
want_line '^#: bough: a new entry below b2221a58-008a-45a6-8464-7159c324c985 \(assistant\)$'
want_line '^#: in Three ways$'
run fork branches.jsonl "$second" --retry --edit
want 0
cp "$tmp/edited" "$tmp/out"
want_line '^1: cache parser deadline cache socket schema$'
entries=$("$BOUGH" show branches.jsonl --json | "$get" entries)
# words that can not be used are kept
printf '#!/bin/sh\nprintf "bad \\377" >>"$1"\n' >"$tmp/edit-bad"
chmod +x "$tmp/edit-bad"
EDITOR="$tmp/edit-bad" run fork branches.jsonl "$second" --edit
want 2
want_err 'your text is kept in .*/bough-[A-Za-z0-9]*\.md$'
kept=$(sed -n 's/.*kept in //p' "$tmp/err")
checks=$((checks + 1))
tail -n 1 "$kept" | grep -q '^bad' || fail "the text is not there"
rm -f "$kept"
EDITOR=true run fork branches.jsonl "$second" --edit
want 130
EDITOR=false run fork branches.jsonl "$second" --edit
want 130
run show branches.jsonl --json
want_json entries "$entries"
checks=$((checks + 1))
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'bough-??????.md' -newer "$tmp/text")" ] ||
	fail "temporary files are left"
# a new session
fresh
ls >"$tmp/names"
dry fork branches.jsonl 025b --new
ls >"$tmp/out"
want_same "$tmp/names" "$tmp/out"
run fork branches.jsonl 025b --new -m 'elsewhere'
want 0
entry=$(sed -n 1p "$tmp/out")
session=$(sed -n 2p "$tmp/out")
want_same "$tmp/branches.before" branches.jsonl
run -r . show "$session" --json
want 0
want_json entries 4
want_json tip "$entry"
want_json branch.2 025b413f-8a9a-421e-a648-a7dd06839eb9
want_json meta.parentSessionId branches
run fork branches.jsonl tip --new
want 0
session=$(cat "$tmp/out")
run -r . show "$session" --json
want_json entries 2
want_json tip "$last"
# the first entry of an empty session
run fork empty.jsonl tip -m first
want 0
run show empty.jsonl --json
want_json entries 1
want_json roots.0 "$(sed -n 's/^{"id":"\([^"]*\)".*/\1/p' empty.jsonl)"
run fork linear.jsonl tip -m x --json
want 0
want_json dry_run false
want_json entry "$("$BOUGH" show linear.jsonl --json | "$get" tip)"

# ---- rename
fresh
dry rename linear.jsonl 'A new title'
run rename linear.jsonl 'A new title'
want 0
run show linear.jsonl --json
want_json meta.title 'A new title'
want_json meta.model claude-x
want_json meta.systemPrompt 'Be brief.'
run rename bad-sidecar.jsonl x
want 3 # what is no JSON object is not written over
checks=$((checks + 1))
[ "$(cat bad-sidecar.meta.json)" = "$(cat "$srcdir/tests/format/tree/bad-sidecar.meta.json")" ] ||
	fail "the sidecar was written over"
run rename linear.jsonl "$(printf 'bad \377')"
want 2

# ---- repair
fresh
dry repair torn-tail.jsonl
run repair torn-tail.jsonl
want 0
run problems torn-tail.jsonl
want 0
checks=$((checks + 1))
[ "$(cat torn-tail.jsonl torn-tail.jsonl.torn-841 | cksum)" = \
	"$(cksum <"$srcdir/tests/format/tree/torn-tail.jsonl")" ] || fail "bytes are missing"
run repair torn-tail.jsonl
want 0
want_line 'nothing to repair'
# an agent that saves from its memory wipes an appended entry out
cp branches.jsonl "$tmp/agent"
run fork branches.jsonl tip -m 'remember me'
new=$(cat "$tmp/out")
cp "$tmp/agent" branches.jsonl
run problems branches.jsonl --json
want 1
want_json problems.0.kind lost-append
run verify .
want 1
want_line 'branches.jsonl.*lost-append'
dry repair branches.jsonl
run repair branches.jsonl
want 0
run show branches.jsonl --json
want_json tip "$new"
want_json problems '[]'

# ---- trash
fresh
dry trash checkout.jsonl
run trash checkout.jsonl
want 0
checks=$((checks + 1))
[ ! -e checkout.jsonl ] && [ ! -e checkout.reflog ] || fail "files are still there"
checks=$((checks + 1))
[ "$(find "$tmp" -path '*rash/files/checkout*' | wc -l)" -eq 2 ] || fail "files are not in the trash"
run -r . show checkout-stale
want 0

# ---- where nothing may be written (root may write anywhere)
if [ "$(id -u)" != 0 ]; then
	fresh
	chmod a-w . linear.jsonl
	run fork linear.jsonl tip -m x
	want 3
	run rename linear.jsonl x
	want 3
	run checkout branches.jsonl b222
	want 0 # goes to the state folder
	run show branches.jsonl --json
	want_json tip "$second"
	chmod u+w .
fi
finish
