"""Tables that say which test shows what name tests that exist: `path::name`, or `path` alone."""
import os
import re
import sys
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

TABLES = ("docs/internals/idle.md", "docs/promises.md")


def named_tests(text):
    return re.findall(r"`(test/[\w/]+\.(?:c|py))(?:::(\w+))?`", text)


def is_there(path, name):
    full = os.path.join(SOURCE, path)
    if not os.path.isfile(full):
        return False
    with open(full, encoding="utf-8") as file:
        text = file.read()
    if not name:
        return True
    if path.endswith(".py"):
        return re.search(r"^ +def %s\(self\):" % name, text, re.M) is not None
    is_defined = re.search(r"^static void %s\(void \*\*state\)" % name, text, re.M)
    return is_defined is not None and re.search(r"\b\w+\(\s*%s[,)]" % name, text) is not None


class CaseTables(unittest.TestCase):
    def test_every_test_that_is_named_exists(self):
        for table in TABLES:
            with open(os.path.join(SOURCE, table), encoding="utf-8") as file:
                tests = named_tests(file.read())
            self.assertGreater(len(tests), 0, table)
            missing = ["%s::%s" % test for test in tests if not is_there(*test)]
            self.assertEqual(missing, [], table)

    def test_one_that_does_not_is_noticed(self):
        for path, name in (("test/tools/test_case_tables.py", "test_nobody_wrote"),
                           ("test/contract/runs/idle.c", "nobody_wrote"),
                           ("test/nowhere.c", "")):
            self.assertFalse(is_there(path, name), (path, name))


if __name__ == "__main__":
    tap.main()
