#!/bin/sh
# Are the tests of src/log able to fail? Takes one safeguard after another out
# of a copy of the sources and runs the tests on it: each time at least one
# must fail. Not part of "make check" (some minutes). Run it from a build
# directory: sh ../tests/log/mutations.sh [NUMBER]
set -u
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
[ -f config.h ] || { echo "run it in a configured build directory" >&2; exit 2; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/src" && cp -R "$top/src/base" "$top/src/log" "$work/src/" && cp config.h "$work/"
CC=${CC:-cc}
CFLAGS="-std=gnu11 -O1 -w -I$work -I$work/src -I$top $(pkg-config --cflags libutf8proc cmocka ncursesw)"
LIBS=$(pkg-config --libs libutf8proc cmocka)
tests='t-faults t-crash t-writer t-names t-reader t-lines t-kill'

helpers="$top/tests/lib/temp.c $top/tests/lib/fakesys.c $top/tests/lib/crashsim.c"
mkdir "$work/fixed" && cd "$work/fixed" || exit 1
for c in "$work"/src/base/*.c $helpers "$top/tests/log/oracle.c" "$top/tests/log/fixture.c"; do
	$CC $CFLAGS -c "$c" || exit 1
done
for t in $tests; do
	$CC $CFLAGS -c "$top/tests/log/$t.c" || exit 1
done
mkdir "$work/mutant" && cd "$work/mutant" || exit 1

# Builds all programs on the sources as they are in $work/src/log; 0 when a test fails.
some_test_fails() {
	for c in "$work"/src/log/*.c; do
		$CC $CFLAGS -c "$c" 2>/dev/null || { echo "does not compile"; return 1; }
	done
	for t in $tests; do
		own=''
		case $t in
		t-faults | t-crash | t-kill) own=../fixed/oracle.o ;;
		*) own=../fixed/fixture.o ;;
		esac
		base=$(ls ../fixed/*.o | grep -v -e '/t-' -e oracle -e fixture)
		$CC -o "$t" "../fixed/$t.o" $own ./*.o $base $LIBS || return 1
		timeout 60 "./$t" >/dev/null 2>&1 || { echo "$t"; return 0; }
	done
	return 1
}

number=0 missed=0
mutate() { # file, sed expression, what it takes away
	number=$((number + 1))
	[ -z "${only:-}" ] || [ "$only" = $number ] || return 0
	cp "$top/src/log/"*.[ch] "$work/src/log/"
	sed -i "$2" "$work/src/log/$1"
	if cmp -s "$top/src/log/$1" "$work/src/log/$1"; then
		echo "$number: the expression does not fit $1 any more: $3"
		missed=$((missed + 1))
	elif by=$(some_test_fails); then
		echo "$number: $3: seen by $by"
	else
		echo "$number: $3: NOT SEEN $by"
		missed=$((missed + 1))
	fi
}

# The tests must pass as long as nothing is taken away.
if by=$(some_test_fails) || [ -n "$by" ]; then
	echo "without any change: $by" >&2
	exit 1
fi

only=${1:-}
mutate writer.c 's/io_fdatasync(log->fd) < 0/0/' 'no sync after the append'
mutate writer.c 's/ || io_fsync(log->fd) < 0)$/)/' 'no sync after the cut'
mutate writer.c 's/if (io_sync_dir(log->dir) < 0 \&\& .*$/if (0)/' 'no sync of the name before the append'
mutate writer.c 's/rc = aside_make(log, ch, err);/rc = 0;/' 'a cut without a copy'
mutate writer.c 's/O_RDWR | O_APPEND, 0/O_RDWR, 0/' 'no O_APPEND'
mutate writer.c 's/O_CREAT | O_EXCL, 0600/O_CREAT, 0600/' 'create without O_EXCL'
mutate writer.c 's/rc = check_is(log, &log->id, err);/rc = 0;/' 'no check before a change'
mutate writer.c 's/change_undo(log, ch, &why);/;/' 'no way back'
mutate writer.c 's/n + extra, err/n + 0, err/' 'a byte less with a missing newline'
mutate writer.c 's/rc = lock_take(.*);/rc = 0;/' 'no lock'
mutate writer.c 's/if (rc == 0 \&\& (rc = path_names(log->path, &log->id, err)) == 1)/if (rc == 0)/' 'the name is not checked after the lock'
mutate writer.c 's/(uint64_t)st.st_size != ch->base + n/0/' 'the size after an append is not checked'
mutate recover.c 's/if (!is_ours(ch, size))/if (0)/' 'bytes of others are cut'
mutate recover.c 's/log->is_broken = true;/;/' 'never broken'
mutate recover.c 's/(rc = restore_tail(log, ch, err)) < 0/0/' 'the tail is not put back'
mutate recover.c 's/return log->is_dry ? 0 : keep_copy(log, ch, err);/return 0;/; s/return keep_copy(log, ch, err);/return 0;/' 'an old copy is not synced'
mutate recover.c 's/same_bytes(log, ch->base, id.size, ch->aside_fd) == 1/1/' 'an old copy is not compared'
mutate publish.c 's/io_fsync(pub->fd) < 0/0/' 'a whole file is not synced'
mutate publish.c 's/rc == 0 \&\& io_sync_dir(pub->dir) < 0/0/' 'its name is not synced'
mutate publish.c 's/now.ino == pub->id.ino \&\& sys->unlink(pub->path) == 0/0/' 'its name stays after a failure'
mutate publish.c 's/if (io_sync_dir(pub->dir) < 0)/if (0)/' 'a replaced name is not synced'
mutate publish.c 's/int rc = check_expected(pub->path, expected, err);/int rc = 0;/' 'no check before the rename'
mutate publish.c 's/if (sys->link(pub->temp, pub->path) == 0)/if (sys->rename(pub->temp, pub->path) == 0)/' 'publish over an existing file'
mutate publish.c 's/sys->unlink(pub->temp);/;/' 'the temporary file stays'
mutate names.c 's/if (io_sync_dir(to_dir) < 0 ||/if (/' 'a move is not synced'
mutate names.c 's/sys->rename_noreplace(from, to) < 0/sys->rename(from, to) < 0/' 'a move overwrites'
mutate io.c 's/if ((rc = io_regular(st, log->path, err)) < 0)/if (0)/; s/if ((rc = io_regular(&st, path, err)) < 0)/if (0)/' 'a fifo is opened'
mutate io.c 's/fd = open_once(path, flags | O_NOATIME, mode);/fd = open_once(path, flags, mode);/' 'the access time is touched'
mutate lines.c 's/line_seek(ls, start, ls->number);/;/' 'a long line is not read from its start'
mutate reader.c 's/line_seek(&r->lines, r->lines.win_off + r->lines.pos, r->lines.number);/;/' 'old bytes stay in the window'

echo "$number safeguards, $missed not seen"
[ "$missed" -eq 0 ]
