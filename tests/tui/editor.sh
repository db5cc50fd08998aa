#!/bin/sh
# The editor of the tests: keeps what it was given and appends $BOUGH_TEST_TEXT;
# exits with $BOUGH_TEST_STATUS. $BOUGH_TEST_DO is a command that changes what is open meanwhile.
[ -z "${BOUGH_TEST_SEEN:-}" ] || cp "$1" "$BOUGH_TEST_SEEN"
[ -z "${BOUGH_TEST_TEXT:-}" ] || echo "$BOUGH_TEST_TEXT" >>"$1"
[ -z "${BOUGH_TEST_DO:-}" ] || "$BOUGH_TEST_DO"
exit "${BOUGH_TEST_STATUS:-0}"
