#!/usr/bin/env python3
"""Writes the shell completions from bough's own table of commands.

  bough --dump-commands | make-completions.py DIR
"""

import json
import os
import sys

table = json.load(sys.stdin)
out = sys.argv[1]
commands = sorted(table["commands"], key=lambda c: c["name"])
common = table["common_options"]
main_options = table["main_options"]
names = " ".join(c["name"] for c in commands)

# What an argument may be, by its name in the table.
WORDS = {"WHEN": "auto always never", "KEY": "activity created title size", "ROLE": "USER ASSISTANT SYSTEM TOOL_RESULT",
         "KINDS": "all talk prompts tools problems", "KIND": "zstd none"}
THEMES = "dark light mono"


def flags(options):
    rows = []
    for o in options:
        rows.append("--" + o["name"])
        if o["letter"]:
            rows.append("-" + o["letter"])
    return " ".join(sorted(rows))


def words_of(option):
    return THEMES if option["name"] == "theme" else WORDS.get(option["arg"])


def takes_word(option):
    """An argument in brackets may be left out, and then the next word is none."""
    return option["arg"] is not None and option["arg"][0] != "["


def bash():
    lines = ["# bash completion of bough; made by tools/make-completions.py.", "", "_bough()", "{",
             "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command='' i",
             "\tCOMPREPLY=()", "\tfor ((i = 1; i < COMP_CWORD; i++)); do", "\t\tcase ${COMP_WORDS[i]} in",
             "\t\t-r | --root | --color | --theme) ((i++)) ;;", "\t\t-*) ;;",
             "\t\t*) command=${COMP_WORDS[i]}; break ;;", "\t\tesac", "\tdone", "\tcase $prev in"]
    seen = set()
    for o in common + main_options + [o for c in commands for o in c["options"]]:
        if not takes_word(o) or o["name"] in seen:
            continue
        seen.add(o["name"])
        pattern = "--" + o["name"] + (" | -" + o["letter"] if o["letter"] else "")
        words = words_of(o)
        if words:
            lines.append("\t%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;" % (pattern, words))
        elif o["arg"] in ("ROOT", "FILE"):
            lines.append("\t%s) COMPREPLY=($(compgen -%s -- \"$cur\")); return ;;" % (pattern, "d" if o["arg"] == "ROOT" else "f"))
        else:
            lines.append("\t%s) return ;;" % pattern)
    lines += ["\tesac", "\tif [[ $cur == -* ]]; then", "\t\tlocal options='%s'" % flags(common), "\t\tcase $command in",
              "\t\t'') options+=' %s' ;;" % flags(main_options)]
    for c in commands:
        if c["options"]:
            lines.append("\t\t%s) options+=' %s' ;;" % (c["name"], flags(c["options"])))
    lines += ["\t\tesac", "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))",
              "\telif [[ -z $command ]]; then", "\t\tCOMPREPLY=($(compgen -W '%s' -- \"$cur\") $(compgen -f -- \"$cur\"))" % names,
              "\telif [[ $command == help ]]; then", "\t\tCOMPREPLY=($(compgen -W '%s' -- \"$cur\"))" % names,
              "\telse", "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))", "\tfi", "}", "complete -o filenames -F _bough bough", ""]
    return "\n".join(lines)


def zquote(text):
    return text.replace("'", "'\\''").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")


def zsh_option(o):
    value = ""
    if takes_word(o):
        words = words_of(o)
        action = "(%s)" % words if words else {"ROOT": "_files -/", "FILE": "_files"}.get(o["arg"], "")
        value = ":%s:%s" % (o["arg"].lower(), action)
    text = "[%s]" % zquote(o["help"])
    star = "*" if o["name"] == "root" else ""
    rows = ["'%s--%s%s%s%s'" % (star, o["name"], "=" if takes_word(o) else "", text, value)]
    if o["letter"]:
        rows.append("'%s-%s%s%s%s'" % (star, o["letter"], "+" if takes_word(o) else "", text, value))
    return rows


def zsh():
    lines = ["#compdef bough", "# zsh completion of bough; made by tools/make-completions.py.", "", "_bough_commands()", "{",
             "\tlocal -a commands=("]
    for c in commands:
        lines.append("\t\t'%s:%s'" % (c["name"], zquote(c["help"])))
    lines += ["\t)", "\t_describe -t commands 'command' commands", "}", "", "_bough()", "{", "\tlocal state line",
              "\tlocal -a common=("]
    for o in common:
        lines += ["\t\t" + row for row in zsh_option(o)]
    lines += ["\t)", "\t_arguments -C $common \\"]
    for o in main_options:
        lines += ["\t\t%s \\" % row for row in zsh_option(o)]
    lines += ["\t\t'1:command or path:->first' '*::argument:->rest'", "\tcase $state in",
              "\tfirst) _alternative 'commands:command:_bough_commands' 'files:path:_files' ;;", "\trest)", "\t\tcase $words[1] in"]
    for c in commands:
        own = " ".join(row for o in c["options"] for row in zsh_option(o))
        rest = "'1:command:_bough_commands'" if c["name"] == "help" else "'*:argument:_files'"
        lines.append("\t\t%s) _arguments $common %s%s ;;" % (c["name"], own + " " if own else "", rest))
    lines += ["\t\tesac ;;", "\tesac", "}", "", '_bough "$@"', ""]
    return "\n".join(lines)


def fquote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(condition, o):
    row = "complete -c bough%s -l %s" % (" -n " + fquote(condition) if condition else "", o["name"])
    if o["letter"]:
        row += " -s " + o["letter"]
    if takes_word(o):
        words = words_of(o)
        row += " -x -a " + fquote(words) if words else " -r"
    return row + " -d " + fquote(o["help"])


def fish():
    lines = ["# fish completion of bough; made by tools/make-completions.py.", ""]
    for o in common:
        lines.append(fish_option("", o))
    for o in main_options:
        lines.append(fish_option("__fish_use_subcommand", o))
    for c in commands:
        lines.append("complete -c bough -n '__fish_use_subcommand' -a %s -d %s" % (c["name"], fquote(c["help"])))
        for o in c["options"]:
            lines.append(fish_option("__fish_seen_subcommand_from " + c["name"], o))
    lines.append("complete -c bough -n '__fish_seen_subcommand_from help' -x -a %s" % fquote(names))
    return "\n".join(lines) + "\n"


for name, text in (("bough.bash", bash()), ("_bough", zsh()), ("bough.fish", fish())):
    with open(os.path.join(out, name), "w", encoding="utf-8") as f:
        f.write(text)
