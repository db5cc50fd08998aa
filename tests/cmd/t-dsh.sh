#!/bin/sh
# The dsh fixtures through show, cat and list, read back by Python.
set -u
if ! command -v python3 >/dev/null 2>&1; then
	echo "python3 is missing (package python3)"
	exit 77
fi
LC_ALL=C.UTF-8 TZ=UTC HOME=/nonexistent
export LC_ALL TZ HOME
exec python3 -B "${srcdir:-.}/tests/cmd/dsh-fixtures.py" "${srcdir:-.}/tests/format/dsh" \
	"${BOUGH:-./bough}"
