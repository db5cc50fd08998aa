#!/bin/sh
# Names against contents: what verify makes of each form of each format, as a
# table of form -> exit status and kinds. And places that hold nothing: one rule
# for list, verify and what takes a session.
. "${srcdir:-.}/tests/cmd/lib.sh"

formats=$srcdir/tests/format
root=$tmp/root
: >"$tmp/table"

# What verify says of the root, and how many rows list has; the root is used up.
form() { # name
	"$BOUGH" verify --json "$root" >"$tmp/out" 2>"$tmp/err"
	status=$?
	kinds=$(sed -n 's/.*"\(kind\|code\)": "\([a-z-]*\)".*/\2/p' "$tmp/out" | sort -u | tr '\n' ' ')
	"$BOUGH" list --json --headers "$root" >"$tmp/out" 2>"$tmp/err"
	rows=$(grep -c '"path":' "$tmp/out")
	echo "$1 -> $status ${kinds}($rows)" >>"$tmp/table"
	chmod -R u+w "$root" 2>"$tmp/ignored"
	rm -rf "$root"
}

want_table() { # name, stdin: the wanted one
	checks=$((checks + 1))
	ran=$1
	cat >"$tmp/wanted"
	cat "$tmp/table"
	if ! cmp -s "$tmp/wanted" "$tmp/table"; then
		fail "other verdicts"
		diff "$tmp/wanted" "$tmp/table" | sed 's/^/    /'
	fi
	: >"$tmp/table"
}

# ---- tree: a file does not hold its id, so any legal name is right
tree() {
	mkdir "$root" && cp "$formats/tree/linear.jsonl" "$formats/tree/linear.meta.json" "$root"
}
rounds=$formats/flow/clean/_conversations/3f6c0a10-77aa-4c1e-9d4e-0000000000aa/rounds
tree && form 'tree: as it is'
tree && mv "$root/linear.jsonl" "$root/other.jsonl" && form 'tree: another id in the name'
tree && mv "$root/linear.jsonl" "$root/li near.jsonl" && form 'tree: a name that is no id'
tree && cp "$root/linear.jsonl" "$root/li near.jsonl" && form 'tree: such a name beside a good one'
tree && cp "$formats/dsh/raw-packed/store/--srv-harbour-tides--/s-north/session.jsonl" "$root/s.jsonl" &&
	form 'tree: a dsh log under a name of its own'
tree && cp "$rounds/r000002-af4ec5de5602.sf" "$root/s.jsonl" && form 'tree: a round of a conversation'
tree && echo '[]' >"$root/linear.meta.json" && form 'tree: a sidecar that is no object'
tree && echo '{' >"$root/linear.meta.json" && form 'tree: a sidecar that is no JSON'
tree && mv "$root/linear.meta.json" "$root/else.meta.json" && form 'tree: a sidecar of no session'
want_table tree <<'TABLE'
tree: as it is -> 0 (1)
tree: another id in the name -> 0 (1)
tree: a name that is no id -> 3 (0)
tree: such a name beside a good one -> 0 (1)
tree: a dsh log under a name of its own -> 1 bad-entry (2)
tree: a round of a conversation -> 1 bad-entry (2)
tree: a sidecar that is no object -> 1 bad-sidecar (1)
tree: a sidecar that is no JSON -> 1 bad-sidecar (1)
tree: a sidecar of no session -> 0 (1)
TABLE

# ---- dsh
dsh() { # [fixture]
	cp -R "$formats/dsh/${1:-zstd-basic}/store" "$root" && chmod -R u+w "$root"
}
lamps=$root/--srv-harbour-lamps--
tides=$root/--srv-harbour-tides--
log=$lamps/s-lamp/session.jsonl.zstd
dsh && form 'dsh: as it is'
dsh && mv "$lamps/s-lamp" "$lamps/s-lump" && form 'dsh: session folder of another id'
dsh && mv "$lamps" "$root/--srv-harbour-lumps--" && form 'dsh: project folder of another cwd'
dsh && mv "$lamps" "$root/harbour" && form 'dsh: project folder with no such name'
dsh && mv "$log" "${log%.zstd}" && form 'dsh: frames under .jsonl'
dsh raw-packed && mv "$tides/s-north/session.jsonl" "$tides/s-north/session.jsonl.zstd" &&
	form 'dsh: lines under .zstd'
dsh && mv "$log" "$lamps/s-lamp/session.v2.jsonl.zstd" && form 'dsh: version 0 under the name of version 2'
dsh && mv "$log" "$lamps/s-lamp/log.jsonl.zstd" && form 'dsh: a log of another name'
dsh && mv "$log" "$lamps/s-lamp.jsonl.zstd" && form 'dsh: a flat log'
dsh && cp "$log" "${log%.zstd}" && form 'dsh: a copy under the other name'
dsh && cp -R "$lamps/s-lamp" "$tides" && form 'dsh: the same session in two projects'
dsh && rm "$log" && cp "$formats/tree/linear.jsonl" "${log%.zstd}" && form 'dsh: a tree session as log'
want_table dsh <<'TABLE'
dsh: as it is -> 0 (4)
dsh: session folder of another id -> 1 wrong-place (4)
dsh: project folder of another cwd -> 1 wrong-place (4)
dsh: project folder with no such name -> 0 (3)
dsh: frames under .jsonl -> 1 wrong-name (4)
dsh: lines under .zstd -> 1 wrong-name (2)
dsh: version 0 under the name of version 2 -> 1 wrong-name (4)
dsh: a log of another name -> 0 (3)
dsh: a flat log -> 1 flat-layout (4)
dsh: a copy under the other name -> 1 duplicate-id wrong-encoding wrong-name (5)
dsh: the same session in two projects -> 1 duplicate-id wrong-place (5)
dsh: a tree session as log -> 1 bad-header torn-tail (4)
TABLE

# ---- flow
flow() {
	cp -R "$formats/flow/clean" "$root" && chmod -R u+w "$root"
}
id=3f6c0a10-77aa-4c1e-9d4e-0000000000aa
conv=$root/_conversations/$id
main=$root/$id/streams/main
one=$conv/rounds/r000001-d86de81164b8.sf
two=$conv/rounds/r000002-af4ec5de5602.sf
landed=$main/transcript-20261005T090002.000000002Z-000002.sd
flow && form 'flow: as it is'
flow && mv "$conv" "$root/_conversations/else" && form 'flow: conversation folder of another id'
flow && mv "$two" "$conv/rounds/r000003-af4ec5de5602.sf" && form 'flow: a higher number in a name'
flow && mv "$two" "$conv/rounds/r000001-ef4ec5de5602.sf" && form 'flow: a lower number in a name'
flow && mv "$one" "$conv/rounds/r000000-d86de81164b8.sf" && form 'flow: number 0 in a name'
flow && mv "$two" "$conv/rounds/r000002-ffffffffffff.sf" && form 'flow: other digits of a digest'
flow && mv "$two" "$conv/rounds/r00002-af4ec5de5602.sf" && form 'flow: five digits'
flow && cp "$formats/tree/linear.jsonl" "$conv/rounds/r000003-ffffffffffff.sf" &&
	form 'flow: a tree session as round'
flow && mv "$landed" "$main/x-000003.sd" && form 'flow: another sequence in a name'
flow && mv "$landed" "$main/x-00002.sd" && form 'flow: five digits of a sequence'
flow && mv "$landed" "$main/x-000002.sd" && form 'flow: other words before the sequence'
flow && mv "$main" "$root/$id/streams/else" && form 'flow: another stream'
flow && mv "$root/$id" "$root/else" && form 'flow: session folder of another id'
flow && rm "$conv"/rounds/* && form 'flow: no round'
want_table flow <<'TABLE'
flow: as it is -> 0 (1)
flow: conversation folder of another id -> 1 fold-conversation (1)
flow: a higher number in a name -> 1 fold-missing round-name (1)
flow: a lower number in a name -> 1 round-name (1)
flow: number 0 in a name -> 1 round-name (1)
flow: other digits of a digest -> 0 (1)
flow: five digits -> 0 (1)
flow: a tree session as round -> 1 first-not-header not-folded (1)
flow: another sequence in a name -> 1 missing-landed sd-seq (1)
flow: five digits of a sequence -> 1 missing-landed (1)
flow: other words before the sequence -> 0 (1)
flow: another stream -> 0 (1)
flow: session folder of another id -> 1 missing-landed (1)
flow: no round -> 0 (1)
TABLE
# verify and problems agree
flow && mv "$two" "$conv/rounds/r000003-af4ec5de5602.sf"
run verify "$root"
want 1
want_line ': round 3: round-name: rounds/r000003-af4ec5de5602.sf is round 2 by its header$'
want_line ': round 2: fold-missing: it is missing; 1 round is not folded$'
run problems "$conv"
want 1
want_line '^round-name '
want_line '^fold-missing '
rm -rf "$root"

# ---- nothing there: 1; something that is no session: 3
empty() { # the wanted status, folders...
	wanted=$1
	shift
	mkdir -p "$root"
	for name; do
		case $name in
		*/) mkdir -p "$root/$name" ;;
		*) mkdir -p "$root/${name%/*}" && : >"$root/$name" ;;
		esac
	done
	for command in 'list' 'list --json' 'verify' 'verify --json'; do
		# shellcheck disable=SC2086
		run $command "$root"
		want "$wanted"
		want_err 'no sessions|holds no session'
	done
	run show "$root"
	want "$wanted"
	run show -r "$root" s-1
	want "$wanted"
	rm -rf "$root"
}
empty 1
empty 1 ./.hidden ./.trash/files/s.jsonl
empty 1 --p--/s/
empty 1 --p--/ _no-cwd/s/
empty 1 _conversations/
empty 1 a/b/c/
empty 3 ./notes.txt
empty 3 --p--/s/notes.txt
empty 3 _conversations/notes.txt
mkdir "$tmp/target" "$root"
ln -s ../target "$root/link"
run verify "$root"
want 3
rm -r "$root"
run verify "$root"
want 3
run list "$root"
want 3
# a place that holds nothing is only noted where another holds a session
mkdir "$root"
run list "$root" "$formats/dsh/zstd-basic/store"
want 0
want_err 'no sessions'
run verify "$formats/tree/linear.jsonl" "$root"
want 0
# what is looked at and holds no round yet is a conversation
mkdir -p "$root/_conversations/x/rounds"
run list "$root"
want 0
want_line '^  x '
run verify --json "$root"
want 0
want_json ok true
rm -r "$root" && mkdir "$root"
run verify --json "$root"
want 1
want_json ok false

finish
