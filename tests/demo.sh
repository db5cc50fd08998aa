#!/bin/sh
# The demo sessions are what their scripts make.
set -u
top=${srcdir:-.}
if ! command -v python3 >/dev/null 2>&1; then
	echo "python3 is missing (package python3)"
	exit 77
fi
tmp=$(mktemp -d "${TMPDIR:-/tmp}/demo.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
python3 -B "$top/tools/demo/make-demo.py" "$tmp/tree" || exit 1
if ! diff -r "$top/data/demo/tree" "$tmp/tree"; then
	echo "data/demo is not what tools/demo/make-demo.py writes"
	exit 1
fi
