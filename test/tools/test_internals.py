"""The pages on how abide works inside name files, functions and invariants that exist."""
import glob
import os
import re
import sys
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

PAGES = ["ARCHITECTURE.md", "CONTRIBUTING.md"] + [
    os.path.relpath(page, SOURCE)
    for page in sorted(glob.glob(os.path.join(SOURCE, "docs", "internals", "*.md")))]
FOLDERS = ("bench", "docs", "editor", "examples", "include", "packaging", "sdk", "src", "test", "tools")
NAMED_FILE = re.compile(r"`([\w/.-]+\.(?:c|h|py|js|mjs|lua|txt|build|md|ts))`")
NAMED_FOLDER = re.compile(r"`((?:src|test|docs|tools|bench|sdk|examples)/[\w/]+)`")
STEP = re.compile(r"^ +([\w/]+\.c):(\w+)", re.M)
TAGS = re.compile(r"^\| (\[[^|]*\]) \| ([^|]*) \|", re.M)


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return file.read()


def all_files():
    """Every file by each of its endings: b/c.h and c.h stand for a/b/c.h."""
    endings = {}
    names = glob.glob(os.path.join(SOURCE, "*"))
    for folder in FOLDERS:
        names += glob.glob(os.path.join(SOURCE, folder, "**", "*"), recursive=True)
    for name in names:
        if os.path.isfile(name):
            parts = os.path.relpath(name, SOURCE).split(os.sep)
            for i in range(len(parts)):
                endings.setdefault("/".join(parts[i:]), []).append("/".join(parts))
    return endings


FILES = all_files()


def tags_of(text):
    """[heap-1], [heap-3]–[heap-5] as heap-1, heap-3, heap-4, heap-5."""
    tags = []
    for name, first, last in re.findall(r"\[([a-z][a-z0-9-]*)-(\d+)\](?:–\[\1-(\d+)\])?", text):
        tags += ["%s-%d" % (name, number) for number in range(int(first), int(last or first) + 1)]
    return tags


def after_chains():
    """The blocks below the headings "After" of the journeys."""
    return re.findall(r"^\*\*After.*?^```text\n(.*?)^```", read("docs/internals/journeys.md"), re.M | re.S)


def defines(path, function):
    return re.search(r"^[A-Za-z].*\b%s\(" % function, read(path), re.M) is not None


def missing_steps(chain):
    return ["%s:%s" % step for step in STEP.findall(chain)
            if not any(defines(path, step[1]) for path in FILES.get(step[0], []))]


def missing_tags(page):
    missing = []
    for tags, where in TAGS.findall(page):
        paths = [path for name in re.findall(r"`([^`]+)`", where) for path in FILES.get(name, [])]
        texts = "".join(read(path) for path in paths)
        missing += ["%s of %s" % (tag, where) for tag in tags_of(tags) if "[%s] " % tag not in texts]
    return missing


def missing_names(page):
    """Of the tables "Read in this order": what is to be looked at, and is not in the file."""
    missing = []
    for section in re.findall(r"^## Read in this order\n(.*?)(?=^## |\Z)", page, re.M | re.S):
        for where, what in re.findall(r"^\| ([^|]*) \| ([^|]*) \|$", section, re.M):
            texts = "".join(read(path) for name in re.findall(r"`([^`]+)`", where)
                            for path in FILES.get(name, []))
            missing += ["%s of %s" % (name, where) for name in re.findall(r"`(\w+)`", what)
                        if not re.search(r"\b%s\b" % name, texts)]
    return missing


class Internals(unittest.TestCase):
    def test_files_that_are_named_exist(self):
        for page in PAGES:
            text = read(page)
            missing = [name for name in NAMED_FILE.findall(text) if name not in FILES and "NAME" not in name]
            missing += [name for name in NAMED_FOLDER.findall(text)
                        if not os.path.exists(os.path.join(SOURCE, name))]
            self.assertEqual(missing, [], page)

    def test_invariants_stand_in_the_files_that_are_named(self):
        for page in PAGES:
            self.assertEqual(missing_tags(read(page)), [], page)

    def test_what_is_to_be_looked_at_is_in_the_file(self):
        for page in PAGES:
            self.assertEqual(missing_names(read(page)), [], page)

    def test_functions_of_the_journeys_are_where_they_are_said_to_be(self):
        chains = after_chains()
        self.assertEqual(len(chains), 4)
        for chain in chains:
            self.assertGreater(len(STEP.findall(chain)), 10)
            self.assertEqual(missing_steps(chain), [])

    def test_what_does_not_exist_is_noticed(self):
        self.assertEqual(len(missing_tags("| [coordinator-98]–[coordinator-99] | `coordinator.h` | never |\n")), 2)
        self.assertEqual(missing_tags("| [coordinator-1] | `coordinator.h` | true |\n"), [])
        self.assertEqual(missing_steps("  src/api/driver/driver.c:nobody_wrote  it\n"),
                         ["src/api/driver/driver.c:nobody_wrote"])
        self.assertNotIn("nobody_wrote.c", FILES)
        self.assertEqual(missing_names("## Read in this order\n| `src/api/driver/driver.c` | `nobody_wrote` |\n"),
                         ["nobody_wrote of `src/api/driver/driver.c`"])


if __name__ == "__main__":
    tap.main()
