#!/bin/sh
# Repairs, forks and conversions of dsh logs by the program, and a second
# reader (tests/dsh-reader.py, with the zstd program) that reads what they wrote.
. "${srcdir:-.}/tests/cmd/lib.sh"

reader="$srcdir/tests/dsh-reader.py"
if ! command -v python3 >/dev/null 2>&1; then
	echo "python3 is missing (package python3)"
	exit 77
fi
if ! python3 -B "$reader" zstd-is-there; then
	echo "zstd is missing (package zstd)"
	exit 77
fi
tab=$(printf '\t')
batch=$tmp/batch
: >"$batch"

# Copies of fixture cases, older than a minute.
fresh_dsh() { # cases...
	rm -rf "$root"
	mkdir "$root"
	for case; do
		cp -R "$srcdir/tests/format/dsh/$case" "$root/$case" || exit 99
	done
	chmod -R u+w "$root"
	find "$root" -exec touch -d '2026-06-28 09:00:00 UTC' {} +
	cd "$root" || exit 99
}

logs() { # cases...
	find "$@" -name 'session.jsonl' -o -name 'session.jsonl.zstd' | LC_ALL=C sort
}

text_of() { # log
	case $1 in
	*.zstd) zstd -dcq "$1" ;;
	*) cat "$1" ;;
	esac
}

same_text() { # what, file, file
	checks=$((checks + 1))
	cmp -s "$2" "$3" && return
	fail "$1"
	diff "$2" "$3" | cut -c1-200 | sed 's/^/    /'
}

# The second reader looks at all that was noted in the batch.
read_back() {
	checks=$((checks + 1))
	ran='the second reader'
	python3 -B "$reader" batch <"$batch" >"$tmp/read" || fail "finds this wrong"
	cat "$tmp/read"
	: >"$batch"
}

# ---- repairs: the lines of a dry run, and nothing the second time
fresh_dsh interrupted-zstd interrupted-raw torn-zstd torn-raw
for log in $(logs .); do
	case $log in */r-badmid/* | */r-gapmid/* | */r-blank/*) continue ;; esac
	mkdir -p "$tmp/old/${log%/*}"
	cp -p "$log" "$tmp/old/$log"
	text_of "$log" >"$tmp/before" 2>"$tmp/ignored"
	snapshot "$root" >"$tmp/untouched"
	run repair "$log" --dry-run
	want 0
	cp "$tmp/out" "$tmp/lines"
	snapshot "$root" >"$tmp/after"
	same_text "a dry run changed something" "$tmp/untouched" "$tmp/after"
	run repair --force "$log"
	want 0
	text_of "$log" >"$tmp/after"
	case $(head -c 1 "$tmp/lines") in
	'{')
		tail -n "$(wc -l <"$tmp/lines")" "$tmp/after" >"$tmp/added"
		same_text "other lines than the dry run's were appended" "$tmp/lines" "$tmp/added"
		;;
	esac
	cp "$log" "$tmp/once"
	run repair --force "$log"
	want 0
	want_line '^nothing to repair$'
	same_text "a second repair changed the log" "$tmp/once" "$log"
	echo "repair$tab$tmp/old/$log$tab$root/$log" >>"$batch"
done
read_back
# what is cut is shown, and kept
fresh_dsh torn-raw
bad=$(logs . | grep /r-badtail/)
run repair "$bad" --dry-run
want 0
want_err '^bough: cut: \{"type":"turn/start","seq":10,$'
tail -c 80 "$bad" >"$tmp/cut"
run repair --force "$bad"
want 0
want_line "^80 torn bytes set aside in .*/session\\.jsonl\\.torn-1199\$"
same_text "the copy holds other bytes" "$tmp/cut" "$bad.torn-1199"
# what the format refuses is left alone
fresh_dsh torn-raw corrupt-checksum corrupt-garbage events headers-zstd
for log in $(logs . | grep -E '/(r-badmid|r-gapmid|r-blank|d-one|e-unknown|e-delta|v-one|v-three)/'); do
	cp "$log" "$tmp/once"
	run repair --force "$log"
	want 3
	run fork "$log" 0
	want 3
	same_text "a refused repair changed the log" "$tmp/once" "$log"
done
unknown=$(logs events | grep /e-unknown/)
run fork "$unknown" 0
want_err 'may not be continued: an event of a type that is not known'
run repair "$(logs headers-zstd | grep /v-three/)"
want_err 'may not be continued: the log has another version than 0'
# a damaged end is cut only when that is asked for, and other damage never
garbage=$(logs corrupt-garbage | grep /d-one/)
run repair "$garbage"
want_err 'sets? that aside'
run repair --salvage --force "$garbage"
want 0
[ -f "$garbage.torn-1427" ] || fail "the damaged end is not kept"
run verify "$garbage"
want 0
damaged=$(logs corrupt-checksum | grep /d-one/)
cp "$damaged" "$tmp/once"
run repair --salvage --force "$damaged"
want 3
same_text "damage in the middle was cut" "$tmp/once" "$damaged"

# ---- forks at many events
fresh_dsh zstd-basic raw-packed raw-unpacked mixed-layout chunk-runs fork compaction ranges-raw \
	ranges-zstd no-checksum split-record empty-frames interrupted-zstd interrupted-raw
nforks=0
for log in $(logs .); do
	case $log in */s-badsurface/* | */rng-int/*) continue ;; esac
	place=${log%/*/*/*}
	for event in 0 3 24 39; do
		run fork "$log" "$event"
		# an event that is not there, or lies in a turn that is still open
		[ "$status" -eq 0 ] || continue
		last=$(sed -n 's/^bough: copied events 0 to \([0-9]*\) into .*/\1/p' "$tmp/err")
		echo "fork$tab$root/$place$tab$(cat "$tmp/out")$tab$((last + 1))" >>"$batch"
		nforks=$((nforks + 1))
	done
done
checks=$((checks + 1))
[ "$nforks" -ge 60 ] || fail "only $nforks forks were made"

read_back

# the same text as the fork that the format's own store made, but for its id and times
fresh_dsh fork
parent=$(logs . | grep /parent-1/)
run fork "$parent" 38 --exact --dry-run
want 0
text_of "$(logs . | grep /child-1/)" | head -n 32 | sed '1d;$d' >"$tmp/wanted"
sed '1d;$d' "$tmp/out" >"$tmp/got"
same_text "other events than in the store's own fork" "$tmp/wanted" "$tmp/got"
sed -n 1p "$tmp/out" >"$tmp/got"
mv "$tmp/got" "$tmp/out"
want_line "^\\{\"type\":\"session\",\"version\":0,\"id\":\"session-[0-9a-f-]{36}\",\"createdAt\":$BOUGH_NOW,\"cwd\":\"/srv/harbour/tides\",\"parentSession\":\"parent-1\",\"seedLength\":39,\"delegationDepth\":0\\}\$"
run fork "$parent" 50 --exact
want 3
want_err 'event 50 lies in an open turn'
run fork "$parent" 39 --exact --json
want 0
want_json dry_run false
run fork "$parent" 500
want 1
run fork "$parent" 5 -m text
want 2
want_err 'takes no entry'
run list fork/store --json
want 0

# ---- conversions, there and back
fresh_dsh zstd-basic raw-packed mixed-layout fork compaction ranges-raw no-checksum split-record
for log in $(logs .); do
	kind=none
	case $log in *.jsonl) kind=zstd ;; esac
	run cat "$log"
	cp "$tmp/out" "$tmp/events"
	run convert "$log" --compression "$kind" --force --dry-run
	want 0
	run convert "$log" --compression "$kind" --force
	want 0
	other=$log.zstd
	[ "$kind" = zstd ] || other=${log%.zstd}
	[ ! -e "$log" ] && [ -f "$log.converted" ] && [ -f "$other" ] || fail "the files are not where they must be"
	run cat "$other"
	same_text "the converted log has other events" "$tmp/events" "$tmp/out"
	old=$tmp/old-$checks.${log##*session.} # the reader goes by the name's end
	cp "$log.converted" "$old"
	echo "same$tab$old$tab$root/$other" >>"$batch"
	run convert "$other" --compression "$kind" --force
	want 0
	want_line ' already$'
done
read_back
run convert "$other"
want 2
run convert "$other" --compression gzip
want 2
fresh_dsh torn-zstd
run convert "$(logs . | grep /t-mid/)" --compression none --force
want 3
want_err 'repair it first'

# ---- a root belongs to one encoding
fresh_dsh zstd-basic
store=zstd-basic/store
lamp=$store/--srv-harbour-lamps--/s-lamp
run convert $lamp --compression none
want 3
want_err '3 logs beside it have the other encoding'
run convert $store/--srv-harbour-tides-- --compression none
want 3
snapshot "$root" >"$tmp/untouched"
run convert $store --compression none --dry-run
want 0
want_line '^4 logs would be converted$'
snapshot "$root" >"$tmp/after"
same_text "a dry run changed something" "$tmp/untouched" "$tmp/after"
run convert $lamp --compression none --force
want 0
run convert $store --compression none
want 0
want_line '^3 logs converted, 1 was so already$'
checks=$((checks + 1))
[ "$(logs $store | grep -c 'session.jsonl$')" -eq 4 ] || fail "not all logs are raw"
run verify $store
want 0
run convert $store --compression none --json
want 0
want_json already 4
want_json converted 0
want_json dry_run false
run convert --compression zstd -r $store s-lamp
want 3
fresh_dsh raw-packed
store=raw-packed/store
north=$store/--srv-harbour-tides--/s-north/session.jsonl
touch -d "@${BOUGH_NOW%000}" $north
run convert $store --compression zstd --force
want 4
want_err 'may be in use \(written 0 s ago\)'
printf '{"type":"tur' >>$north
touch -d '2026-06-28 09:00:00 UTC' $north
run convert $store --compression zstd
want 3
want_err 's-north/session.jsonl can not be converted: its end is torn'
want_err '1 of 2 can not be converted'
run convert $store --compression zstd --force
want 3
want_line '^1 log converted, 1 could not be converted$'
fresh
run convert . --compression zstd
want 3
want_err 'tree sessions have one encoding only'
mkdir "$tmp/none"
run convert "$tmp/none" --compression zstd
want 1

# ---- a name that the bytes belie
fresh_dsh zstd-basic
lamp=zstd-basic/store/--srv-harbour-lamps--/s-lamp
mv $lamp/session.jsonl.zstd $lamp/session.jsonl
run list zstd-basic/store
want 0
want_line '^  s-lamp .* 4 entries .* damaged '
run list zstd-basic/store --headers --json
want 0
checks=$((checks + 1))
[ "$(grep -c '"damaged": true' "$tmp/out")" -eq 1 ] || fail "not just one is marked"
run problems $lamp
want 1
want_line 'wrong-name  *zstd frames under a name without .zstd'
run verify zstd-basic/store
want 1
want_line '/s-lamp/session.jsonl: offset 0: wrong-name: '
run show $lamp
want_line 'wrong-name'
run convert $lamp --compression zstd
want 0
want_line 'has the name session.jsonl.zstd, as its bytes are$'
run verify zstd-basic/store
want 0

# ---- checkout and label: beside the log, seqs as ids
fresh_dsh fork
parent=$(logs . | grep /parent-1/)
cp "$parent" "$tmp/once"
run checkout "$parent" 24
want 0
want_line 'tip is now 24 '
run label "$parent" 24 here
want 0
checks=$((checks + 1))
printf '%s\n' '{"v":1,"op":"checkout","tip":"24","from":"54","entries":6,"at":1782640000000}' \
	'{"v":1,"op":"label","entry":"24","label":"here","at":1782640000000}' >"$tmp/wanted"
same_text "another reflog" "$tmp/wanted" "${parent%/*}/bough.reflog"
run show "$parent" --json
want_json tip 24
want_json tip_reason checkout
same_text "a checkout changed the log" "$tmp/once" "$parent"

finish
