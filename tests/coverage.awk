# Sums what gcov -n -b prints, by folder; a file that is in two programs counts once, at its best.
/^File / {
	file = $0
	sub(/^File \x27/, "", file)
	sub(/\x27$/, "", file)
	ours = file ~ /(^|\/)(src|ui)\/.*\.c$/ && file !~ /\/tests\//
}
ours && /^Lines executed:/ { note(lines, all_lines) }
ours && /^Taken at least once:/ { note(branches, all_branches) }

function note(hit, all,    parts, n)
{
	sub(/^[^:]*:/, "")
	split($0, parts, "% of ")
	n = int(parts[1] * parts[2] / 100 + 0.5)
	if (n > hit[file])
		hit[file] = n
	all[file] = parts[2]
}

function row(name, a, b, c, d)
{
	printf "%-20s %6d of %6d lines %5.1f %%   %6d of %6d branches %5.1f %%\n", name, a, b,
		b ? 100 * a / b : 0, c, d, d ? 100 * c / d : 0
}

END {
	for (file in all_lines) {
		folder = file
		sub(/\/[^\/]*$/, "", folder)
		sub(/^.*\.\.\//, "", folder)
		l[folder] += lines[file]; al[folder] += all_lines[file]
		b[folder] += branches[file]; ab[folder] += all_branches[file]
		tl += lines[file]; tal += all_lines[file]
		tb += branches[file]; tab += all_branches[file]
	}
	for (folder in al)
		row(folder, l[folder], al[folder], b[folder], ab[folder]) | "sort"
	close("sort")
	row("all", tl, tal, tb, tab)
}
