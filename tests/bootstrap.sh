#!/bin/sh
# ./bootstrap on machines that lack things: package managers are played by
# small scripts that write down how they were called, so that every manager's
# command is seen on any machine. Nothing is installed and nothing is built.
set -u
top=$(cd "${srcdir:-.}" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/bootstrap.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failed=0
count=0

# A folder of programs: the plain ones of the system, then what is named.
machine() { # names...
	rm -rf "${tmp:?}/bin" "$tmp/calls"
	mkdir -p "$tmp/bin"
	for tool in sh awk cat dirname env expr find getconf grep id ls mkdir rm sed sort tail; do
		ln -s "$(command -v "$tool")" "$tmp/bin/$tool"
	done
	for tool; do
		printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\nexit 1\n' "$tool" "$tmp" >"$tmp/bin/$tool"
		chmod +x "$tmp/bin/$tool"
	done
}

# Another user than the one who runs the test.
user() { # uid
	rm -f "$tmp/bin/id"
	printf '#!/bin/sh\necho %s\n' "$1" >"$tmp/bin/id"
	chmod +x "$tmp/bin/id"
}

# Runs bootstrap on that machine; its words go to $tmp/said.
strap() { # VAR=value... -- arguments
	vars=''
	while [ "$1" != -- ]; do
		vars="$vars $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	env -i PATH="$tmp/bin" HOME="$tmp" $vars "$tmp/bin/sh" "$top/bootstrap" "$@" \
		>"$tmp/said" 2>&1 </dev/null
	code=$?
}

expect() { # what, file, fixed text
	count=$((count + 1))
	if ! grep -qF -- "$3" "$2" 2>/dev/null; then
		failed=$((failed + 1))
		echo "$1: expected \"$3\" in:"
		cat "$2" 2>/dev/null
	fi
}

expect_not() { # what, file, fixed text
	count=$((count + 1))
	if grep -qF -- "$3" "$2" 2>/dev/null; then
		failed=$((failed + 1))
		echo "$1: \"$3\" must not be in:"
		cat "$2"
	fi
}

expect_code() { # what, code
	count=$((count + 1))
	if [ "$code" -ne "$2" ]; then
		failed=$((failed + 1))
		echo "$1: exit status $code, expected $2"
		cat "$tmp/said"
	fi
}

# No root and no sudo: the exact command, and nothing was run.
machine apt-get
user 1000
strap -- build
expect_code 'apt, user without sudo' 1
expect 'apt, user without sudo' "$tmp/said" 'sudo apt-get install'
expect 'apt, user without sudo' "$tmp/said" ' libjansson-dev libzstd-dev libgcrypt20-dev libpcre2-dev libutf8proc-dev libcmark-gfm-dev libcmark-gfm-extensions-dev'
expect_not 'apt, user without sudo: cmocka is for check only' "$tmp/said" libcmocka-dev
expect_not 'apt, user without sudo: nothing was run' "$tmp/calls" apt-get

strap -- check
expect 'apt, check' "$tmp/said" 'libcmocka-dev tmux strace python3 zstd'

# Sudo that would ask for a password, where nobody can answer.
machine apt-get sudo
user 1000
strap CI=true -- build
expect_code 'sudo asks' 1
expect 'sudo asks' "$tmp/said" 'sudo is not to be had'
expect_not 'sudo asks' "$tmp/calls" apt-get

# Told not to install.
machine dnf
user 0
strap BOUGH_NO_INSTALL=1 -- build
expect_code 'BOUGH_NO_INSTALL' 1
expect 'BOUGH_NO_INSTALL' "$tmp/said" 'dnf install -y gcc make autoconf automake pkgconf-pkg-config'
expect_not 'BOUGH_NO_INSTALL' "$tmp/calls" dnf

# Root: the command is shown, then run; a manager that fails stops us.
machine dnf
user 0
strap -- build
expect_code 'dnf as root' 1
expect 'dnf as root' "$tmp/said" '+ dnf install -y gcc make'
expect 'dnf as root' "$tmp/calls" 'dnf install -y gcc make autoconf automake pkgconf-pkg-config glibc-devel ncurses-devel jansson-devel libzstd-devel libgcrypt-devel pcre2-devel utf8proc-devel cmark-gfm-devel'
machine pacman
user 0
strap -- build
expect 'pacman as root' "$tmp/calls" 'pacman -S --needed --noconfirm gcc make'
machine apt-get
user 0
strap -- build
expect 'apt as root' "$tmp/calls" 'apt-get '
expect 'apt as root' "$tmp/said" 'env DEBIAN_FRONTEND=noninteractive apt-get'
machine brew
user 501
strap -- build
expect 'brew' "$tmp/calls" 'brew install '
expect_not 'brew needs no root' "$tmp/said" sudo

# A library that the system's packages do not have, and no manager at all.
machine apk
user 0
strap -- build
expect_code 'apk' 1
expect 'apk' "$tmp/said" 'no package is known here for: libcmark-gfm'
expect 'apk' "$tmp/said" 'apk add gcc make'
expect_not 'apk' "$tmp/calls" apk
machine
user 0
strap -- build
expect_code 'no manager' 1
expect 'no manager' "$tmp/said" 'install by hand: cc make autoreconf'

# A build folder that was configured before cmocka was there is configured again
# for `check`, once; configure and make are played, the line they share is not.
src=$tmp/src
mkdir -p "$src/build" "$tmp/pc"
cp "$top/bootstrap" "$src/"
: >"$src/Makefile.in"
cat >"$src/configure" <<'SH'
#!/bin/sh
echo "configure" >>"$CALLS"
echo "have_cmocka = $CMOCKA" >Makefile
SH
cat >"$tmp/make" <<'SH'
#!/bin/sh
# Three tests, of which one needs cmocka.
cd "$2" || exit 1
[ "$*" = "${*% check}" ] && exit 0
mkdir -p tests
one() { # name result words
	printf ':global-test-result: %s\n' "$2" >"tests/$1.trs"
	printf '%s\n%s tests/%s (exit status: 0)\n' "$3" "$2" "$1" >"tests/$1.log"
}
rm -f tests/*
one a PASS fine
one b SKIP 'tmux is missing (package tmux)'
pass=1 skip=1
if grep -q 'have_cmocka = yes' Makefile; then
	one t-c PASS fine
	pass=2
else
	one t-c.unbuilt SKIP 'cmocka is missing'
	skip=2
fi
printf '# TOTAL: 3\n# PASS:  %s\n# SKIP:  %s\n# XFAIL: 0\n# FAIL:  0\n' $pass $skip >test-suite.log
SH
chmod +x "$src/configure" "$tmp/make"
machine
for tool in cc autoreconf automake tmux strace python3 zstd pkg-config; do
	printf '#!/bin/sh\nexit 0\n' >"$tmp/bin/$tool"
	chmod +x "$tmp/bin/$tool"
done
ln -sf "$tmp/make" "$tmp/bin/make"
checks() { # yes | no: what configure finds
	: >"$tmp/calls"
	env -i PATH="$tmp/bin" HOME="$tmp" JOBS=1 CALLS="$tmp/calls" CMOCKA="$1" \
		"$tmp/bin/sh" "$src/bootstrap" check >"$tmp/said" 2>&1 </dev/null
	code=$?
}
echo 'have_cmocka = no' >"$src/build/Makefile"
checks yes
expect_code 'cmocka came later' 0
expect 'cmocka came later: configured again' "$tmp/calls" configure
expect 'cmocka came later' "$tmp/said" '2 passed, 0 failed, 1 skipped'
expect 'cmocka came later: a skip has a reason' "$tmp/said" \
	'skipped: tests/b: tmux is missing (package tmux)'
checks yes
expect_not 'cmocka is known: not again' "$tmp/calls" configure
# Makefiles of older versions do not say; nor does a folder of a failed configure.
echo 'all:' >"$src/build/Makefile"
checks yes
expect 'not known: configured again' "$tmp/calls" configure
checks no
expect_not 'no cmocka in configure, but in the Makefile' "$tmp/calls" configure
echo 'have_cmocka = no' >"$src/build/Makefile"
checks no
expect_code 'configure finds no cmocka' 0
expect 'configure finds no cmocka' "$tmp/said" '1 passed, 0 failed, 2 skipped'
expect 'configure finds no cmocka: by name' "$tmp/said" 'skipped: tests/t-c: cmocka is missing'

# The same in the real Makefile: the line, and what stands for a test that can not be built.
built=$(cd "${builddir:-.}" && pwd)
expect 'the Makefile says whether there is cmocka' "$built/Makefile" 'have_cmocka = '
if [ -x "$built/config.status" ]; then
	mkdir -p "$tmp/without"
	sed -e 's/S\["HAVE_CMOCKA_TRUE"\]="[^"]*"/S["HAVE_CMOCKA_TRUE"]="#"/' \
		-e 's/S\["HAVE_CMOCKA_FALSE"\]="[^"]*"/S["HAVE_CMOCKA_FALSE"]=""/' \
		-e "s|^srcdir=.*|srcdir='$top'|" "$built/config.status" >"$tmp/without/config.status"
	(cd "$tmp/without" && sh ./config.status -q Makefile && unset MAKEFLAGS MFLAGS MAKELEVEL &&
		make -s tests/unit/t-arena.unbuilt.log) >"$tmp/said" 2>&1
	expect 'a test that can not be built' "$tmp/said" 'SKIP: tests/unit/t-arena.unbuilt'
	(cd "$tmp/without" && unset MAKEFLAGS MFLAGS MAKELEVEL && make -n test-suite.log) \
		>"$tmp/said" 2>&1
	for test in tests/unit/t-utf8 tests/log/t-crash tests/tui/t-terminal tests/cmd/t-fixtures; do
		expect 'all of them' "$tmp/said" "$test.unbuilt"
	done
fi

# Usage.
machine
strap -- help
expect_code help 0
expect help "$tmp/said" 'run [PATH]'
strap -- frobnicate
expect_code 'unknown command' 2

[ $failed -eq 0 ] && echo "bootstrap: $count checks"
exit $((failed != 0))
