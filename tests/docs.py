"""Holds the manual, the README and the completions against the program's own tables."""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TOP, BOUGH = sys.argv[1], sys.argv[2]
TITLES = {"generic": "Every screen", "sessions": "Sessions", "session": "One session"}
failures = []


def text(name):
    with open(os.path.join(TOP, name), encoding="utf-8") as f:
        return f.read()


def run(*arguments):
    return subprocess.run([BOUGH] + list(arguments), stdout=subprocess.PIPE, check=True).stdout.decode()


def need(where, ok, what):
    if not ok:
        failures.append("%s: %s is missing" % (where, what))


def plain(roff):
    """Roff to the characters it stands for, fonts left out."""
    for code, char in (("\\-", "-"), ("\\e", "\\"), ("\\(ha", "^"), ("\\(aq", "'"), ("\\(ti", "~"), ("\\&", "")):
        roff = roff.replace(code, char)
    return re.sub(r"\\f.", "", roff)


def check_commands(manual, readme, table):
    usage = run("--help")
    options = [o for c in table["commands"] for o in c["options"]] + table["common_options"] + table["main_options"]
    for c in table["commands"]:
        head = (c["name"] + " " + c["args"]).strip()
        need("doc/bough.1", "\n" + head + "\n" in manual, head)
        need("--help", re.search(r"^  %s " % re.escape(head), usage, re.M), head)
        need("README.md", "`%s`" % head in readme, "`%s`" % head)
        own = run("help", c["name"])
        for o in c["options"]:
            need("help " + c["name"], "--" + o["name"] in own, "--" + o["name"])
    for o in options:
        value = "" if not o["arg"] else o["arg"] if o["arg"][0] == "[" else "=" + o["arg"]
        need("doc/bough.1", re.search(r"--%s%s(?!\w)" % (o["name"], re.escape(value)), manual), "--" + o["name"] + value)
        if o["letter"]:
            need("doc/bough.1", re.search(r"^-%s( %s)?, --%s" % (o["letter"], o["arg"], o["name"]), manual, re.M),
                 "-%s, --%s" % (o["letter"], o["name"]))


def check_signs(manual):
    """The tables of signs that help shows stand in the sources of the screens."""
    glyphs = {"GLYPH_TIP": "@", "GLYPH_ON": "*", "GLYPH_OFF": "o"}
    for path in glob.glob(os.path.join(TOP, "ui", "view-*.c")):
        with open(path, encoding="utf-8") as f:
            tables = re.findall(r"view_mark \w+\[\] = \{(.*?)\n\};", f.read(), re.S)
        for row in re.findall(r'\{ "([^"]*)", "([^"]*)"(?:, true, (\w+))? \}', "".join(tables)):
            sign, says, glyph = row
            line = "\n%s\n%s." % (glyphs.get(glyph, "") + sign, says[0].upper() + says[1:])
            need("doc/bough.1", line in manual, "the sign " + repr(row))


def check_keys(manual):
    lines = run("--dump-defaults", "keys").split("\n")
    maps = json.loads("\n".join(line for line in lines if not line.strip().startswith("#")))
    sections = dict(re.findall(r"^\.SS (.*?)\n(.*?)(?=^\.S[SH])", manual, re.M | re.S))
    for name, bindings in maps.items():
        title = TITLES.get(name, name.capitalize())
        section = sections.get(title, "")
        need("doc/bough.1", section, "the section of the screen %s (%s)" % (name, title))
        for command, keys in bindings.items():
            line = (keys + " " if keys else "") + "(:" + command
            need("doc/bough.1", re.search("^" + re.escape(line) + r"[ )]", section, re.M),
                 "%s) in section %s" % (line, title))


def check_themes_and_places(manual):
    for word in re.findall(r"\bBOUGH_[A-Z_]+\b", manual):
        used = subprocess.run(["grep", "-rqF", '"%s"' % word, os.path.join(TOP, "src"), os.path.join(TOP, "ui")])
        need("src and ui", used.returncode == 0, word + ", which the manual names")


def check_completions():
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([sys.executable, "-B", os.path.join(TOP, "tools/make-completions.py"), out],
                       input=run("--dump-commands").encode(), check=True)
        for name in os.listdir(out):
            with open(os.path.join(out, name), encoding="utf-8") as f:
                if f.read() != text("data/completions/" + name):
                    failures.append("data/completions/%s is not what tools/make-completions.py writes" % name)


manual = plain(text("doc/bough.1"))
table = json.loads(run("--dump-commands"))
check_commands(manual, text("README.md"), table)
check_signs(manual)
check_keys(manual)
check_themes_and_places(manual)
check_completions()
for line in failures:
    print(line)
print("docs: %d commands checked, %d failures" % (len(table["commands"]), len(failures)))
sys.exit(1 if failures else 0)
