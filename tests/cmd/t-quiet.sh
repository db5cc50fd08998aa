#!/bin/sh
# A command that only looks writes nothing: not a byte, not a time, not a name.
. "${srcdir:-.}/tests/cmd/lib.sh"
fresh
mkdir "$tmp/empty-root"

look() {
	cat <<LOOK
list $root
list $root --json
-r $root list --sort size
list $tmp/empty-root
tree $root/branches.jsonl
tree $root/torn-tail.jsonl --fold
log $root/linear.jsonl
log $root/checkout.jsonl tip~2 -n 1 --json
show $root/checkout.jsonl
show $root/linear.jsonl tip --json
-r $root show torn-tail --json
branches $root/checkout-torn-reflog.jsonl
reflog $root/checkout.jsonl
reflog $root/checkout-torn-reflog.jsonl --json
problems $root/bad-middle.jsonl
problems $root/torn-tail.jsonl --json
cat $root/zero-tail.jsonl
cat $root/linear.jsonl tip
verify $root
verify $root --json
label $root/checkout.jsonl @good
checkout $root/branches.jsonl tip~1 --dry-run
label $root/branches.jsonl tip text --dry-run
fork $root/branches.jsonl tip -m text --dry-run
fork $root/branches.jsonl tip --new --dry-run
rename $root/branches.jsonl title --dry-run
repair $root/torn-tail.jsonl --dry-run
trash $root/branches.jsonl --dry-run
LOOK
}

snapshot "$tmp/root" >"$tmp/before"
snapshot "$HOME" >>"$tmp/before"
# read times too, where the file system keeps them strictly
read_times() { find "$root" -type f -printf '%p %A@\n' | sort; }
read_times >"$tmp/atimes"
look | while read -r args; do
	# shellcheck disable=SC2086
	"$BOUGH" $args >/dev/null 2>"$tmp/err" </dev/null
	[ $? -le 1 ] || { echo "bough $args: failed"; cat "$tmp/err"; }
done >"$tmp/failed"
ran='the commands that look'
checks=$((checks + 1))
[ ! -s "$tmp/failed" ] || { fail "some failed"; cat "$tmp/failed"; }
snapshot "$tmp/root" >"$tmp/after"
snapshot "$HOME" >>"$tmp/after"
want_same "$tmp/before" "$tmp/after"
read_times >"$tmp/atimes-after"
if [ "$(id -u)" = 0 ]; then
	want_same "$tmp/atimes" "$tmp/atimes-after" # O_NOATIME is for the owner
fi

# The calls themselves: none that changes a file, and none that opens one to write.
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
	look | while read -r args; do
		# shellcheck disable=SC2086
		strace -f -qq -o "$tmp/trace" -e trace=file,desc "$BOUGH" $args >/dev/null 2>&1 </dev/null
		sed 's/^[0-9]* *//' "$tmp/trace" | grep -E \
			-e '^(open|openat|openat2|creat)\(.*(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC)' \
			-e '^(rename|renameat|renameat2|link|linkat|symlink|symlinkat|unlink|unlinkat|mkdir|mkdirat|rmdir|mknod|mknodat)\(' \
			-e '^(utime|utimes|utimensat|futimesat|chmod|fchmod|fchmodat|chown|fchown|fchownat|truncate|ftruncate|setxattr|fallocate)\(' \
			-e '^(fsync|fdatasync|pwrite64|pwritev|copy_file_range|sendfile)\(' \
			-e '^flock\(|F_SETLK|F_OFD_SETLK' |
			grep -vE 'open(at)?\(.*"/dev/(null|tty)"' |
			sed "s|^|bough $args: |"
	done >"$tmp/calls"
	# The browser, through all its screens; what it writes itself is the script's output folder.
	mkdir "$tmp/screens"
	cat >"$tmp/script" <<-'KEYS'
		j j k
		:goto 0
		<Enter> g g j J K } { ] [ t p z z Z & & w
		g b <Esc> g p j <Esc> g h <Esc> ? j <Esc>
		/ the <Enter> n N <Tab> G <Tab>
		:save-screen last.screen
		q
	KEYS
	for what in "$root" "$root/checkout.jsonl" "$root/torn-tail.jsonl" "$root/hostile-text.jsonl"; do
		BOUGH_HEADLESS=100x30 BOUGH_SCRIPT=$tmp/script BOUGH_SCRIPT_OUT=$tmp/screens TERM=xterm-256color \
			strace -f -qq -y -o "$tmp/trace" -e trace=file,desc,write "$BOUGH" "$what" >/dev/null 2>&1 </dev/null
		[ -s "$tmp/screens/last.screen" ] || echo "browser on $what: did not come to its end"
		rm -f "$tmp/screens/last.screen"
		sed 's/^[0-9]* *//' "$tmp/trace" | grep -F "$tmp/root" | grep -vF -e "\"/dev/null\"" -e "\"$tmp/screens/" | grep -E \
			-e '(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC)' \
			-e '^(write|pwrite64|rename|renameat|renameat2|link|linkat|unlink|unlinkat|mkdir|mkdirat)\(' \
			-e '^(utime|utimes|utimensat|futimesat|chmod|fchmod|truncate|ftruncate|fsync|fdatasync|flock)\(' |
			sed "s|^|browser on $what: |"
	done >>"$tmp/calls"
	checks=$((checks + 1))
	[ ! -s "$tmp/calls" ] || { fail "calls that write"; cat "$tmp/calls"; }
	# the same net catches a command that does write
	ran='strace of a checkout'
	checks=$((checks + 1))
	strace -f -qq -o "$tmp/trace" -e trace=file,desc "$BOUGH" checkout "$root/branches.jsonl" tip~1 >/dev/null 2>&1
	grep -qE 'O_WRONLY|O_RDWR' "$tmp/trace" || fail "the trace shows no opening for writing"
else
	echo "strace is not here: the calls were not looked at"
fi
finish
