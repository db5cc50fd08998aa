#!/bin/sh
# The manual, the README and the completions say what the tables say.
set -u
if ! command -v python3 >/dev/null 2>&1; then
	echo "python3 is missing (package python3)"
	exit 77
fi
exec python3 -B "${srcdir:-.}/tests/docs.py" "${srcdir:-.}" "${BOUGH:-./bough}"
