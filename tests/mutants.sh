#!/bin/sh
# Are the tests able to fail? Takes one safeguard after another out of a copy of the sources, builds the
# programs that must see it, and runs them: each time one of them must fail. tests/mutants.list says what
# is taken away. Not part of "make check" (some minutes): make mutants, or sh tests/mutants.sh [ID...].
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 2
list=$top/tests/mutants.list
tab=$(printf '\t')
work=$(mktemp -d "${TMPDIR:-/tmp}/bough-mutants.XXXXXX") || exit 2
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM HUP
src=$work/src build=$work/build
mkdir "$src" "$build" || exit 2

# id, promises, file, sed expression, tests, what is taken away
wanted() { # what [ID...]
	grep -v -e '^#' -e '^$' "$list" | while IFS=$tab read -r id promises file expression tests what; do
		[ $# -gt 0 ] && case " $* " in *" $id "*) ;; *) continue ;; esac
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$id" "$promises" "$file" "$expression" "$tests" "$what"
	done
}

copy_tree() {
	if git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
		(cd "$top" && git ls-files -z -c -o --exclude-standard | tar -cf - --ignore-failed-read --null -T -) | tar -xf - -C "$src"
	else
		(cd "$top" && tar -cf - .) | tar -xf - -C "$src"
	fi && chmod -R u+w "$src" && { [ -f "$src/configure" ] || (cd "$src" && autoreconf -i); } >"$work/log" 2>&1
}

# Builds what a test needs, the test too; what the compiler says is in $work/log.
make_test() {
	case $1 in
	*.sh) targets='bough tests/cmd/json-get tests/cmd/scan-safe' ;;
	tests/tui/*) targets="bough $1" ;;
	*) targets=$1 ;;
	esac
	# shellcheck disable=SC2086 # words
	(cd "$build" && make -s $targets) >"$work/log" 2>&1
}

# Its exit status. What hangs has failed.
run_test() {
	(
		cd "$build" || exit 99
		TZ=UTC LC_ALL=C.UTF-8 srcdir=../src builddir=. BOUGH=$build/bough
		export TZ LC_ALL srcdir builddir BOUGH
		unset MAKEFLAGS MAKELEVEL
		case $1 in
		*.sh) timeout 120 sh "../src/$1" ;;
		*) timeout 120 "./$1" ;;
		esac
	) >"$work/said" 2>&1 </dev/null
}

wanted "$@" >"$work/list"
n=$(wc -l <"$work/list")
[ "$n" -gt 0 ] || { echo "no such mutant: $*" >&2; exit 2; }
doubled=$(cut -f1 "$work/list" | sort | uniq -d)
[ -z "$doubled" ] || { echo "more than one mutant is called $doubled" >&2; exit 2; }

unset MAKEFLAGS MAKELEVEL MFLAGS
copy_tree && (cd "$build" && ../src/configure -q CFLAGS='-O0 -w' ${CC:+CC="$CC"}) >>"$work/log" 2>&1 ||
	{ cat "$work/log" >&2; exit 2; }

# They must pass as long as nothing is taken away.
missing=' '
for t in $(cut -f5 "$work/list" | tr ' ' '\n' | sort -u); do
	make_test "$t" || { cat "$work/log" >&2; exit 2; }
	run_test "$t"
	case $? in
	0) ;;
	77) echo "$t can not run here: $(tail -n 1 "$work/said")" && missing="$missing$t " ;;
	*) echo "without any change $t fails:" && tail -n 40 "$work/said" && exit 1 ;;
	esac
done

# Prints what became of it; 0 if a test saw that something is missing.
judge() { # tests
	tried=''
	for t in $1; do
		case $missing in *" $t "*) continue ;; esac
		make_test "$t" || { echo "does not compile" && cat "$work/log" && return 1; }
		run_test "$t"
		case $? in
		0 | 77) tried="$tried $t" ;;
		*) echo "seen by $t" && return 0 ;;
		esac
	done
	echo "NOT SEEN by$tried"
	return 1
}

missed=0
while IFS=$tab read -r id promises file expression tests what; do
	cp "$src/$file" "$work/kept" || exit 2
	sed -i "$expression" "$src/$file" || exit 2
	if cmp -s "$src/$file" "$work/kept"; then
		verdict='the expression changes nothing' seen=no
	else
		verdict=$(judge "$tests") && seen=yes || seen=no
	fi
	[ $seen = yes ] || missed=$((missed + 1))
	[ $seen = yes ] && echo "$id: $verdict" || echo "$id: $verdict ($file: $what)"
	cp "$work/kept" "$src/$file"
done <"$work/list"
echo "$n mutants, $missed not seen"
[ "$missed" -eq 0 ]
