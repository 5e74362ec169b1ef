"""The manual pages of section 3: one for every exported function, with text, and well formed."""

import os
import re
import subprocess
import sys
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

PAGES = os.path.join(BUILD, "man3")


def read(name):
    with open(os.path.join(PAGES, name), encoding="utf-8") as file:
        return file.read()


def exported():
    text = subprocess.check_output(["nm", "-D", "--defined-only", "--format=posix",
                                    os.path.join(BUILD, "libabide.so")], text=True)
    return {line.split()[0] for line in text.splitlines()}


def shown(page):
    return subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", os.path.join(PAGES, page)],
                          capture_output=True, text=True, check=True, timeout=60).stdout


class Manual(unittest.TestCase):
    def test_every_exported_function_leads_to_a_page_that_describes_it(self):
        functions = exported()
        self.assertGreater(len(functions), 90)
        for name in sorted(functions):
            with self.subTest(function=name):
                target = re.fullmatch(r"\.so man3/(abide-[a-z-]+\.3)\n", read(name + ".3")).group(1)
                page = read(target)
                described = re.search(r'\n\.SS "[^"\n]*\b%s\(\)[^"\n]*"\n(?!\.S[SH])(.+)'
                                      % name, page)
                self.assertIsNotNone(described, target)
                self.assertIn(name, page.split(".SH NAME\n")[1].split("\n")[0])

    def test_there_is_no_page_of_a_function_that_is_gone(self):
        names = {name[:-2] for name in os.listdir(PAGES) if name.startswith("abide_")}
        self.assertEqual(names, exported())

    def test_the_index_lists_every_function(self):
        self.assertEqual(set(re.findall(r"\\fB(abide_\w+)\\fR\(3\)", read("abide.3"))), exported())

    def test_pages_have_no_warnings(self):
        pages = [name for name in sorted(os.listdir(PAGES)) if not name.startswith("abide_")]
        self.assertGreater(len(pages), 8)
        for name in pages:
            path = os.path.join(PAGES, name)
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", path], capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual(done.stderr, "", name)
            lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path],
                                  capture_output=True, text=True, timeout=60).stdout
            self.assertEqual(lint, "", name)

    def test_a_page_shows_declarations_options_and_what_is_said_of_them(self):
        page = re.sub(" +", " ", shown("abide-engine.3"))
        for text in ("int abide_open(const char *url, const abide_options *options,",
                     "Opens a store and makes an engine on it.",
                     "int max_resident_runs; /* waiting runs kept in memory; 0 = 10000 */",
                     "abide-schedules(3)"):
            self.assertIn(text, page)


if __name__ == "__main__":
    tap.main()
