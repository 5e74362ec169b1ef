"""Every example under examples/flows, in virtual time: what it prints is kept in expected.txt."""
import os
import shlex
import subprocess
import sys
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

FOLDER = os.path.join(SOURCE, "examples", "flows")
NAMES = sorted(name for name in os.listdir(FOLDER) if os.path.isdir(os.path.join(FOLDER, name)))


def command(name):
    folder = os.path.join(FOLDER, name)
    more = []
    if os.path.exists(os.path.join(folder, "events.txt")):
        more += ["--script", "events.txt"]
    path = os.path.join(folder, "arguments.txt")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            more += shlex.split(file.read())
    return [os.path.join(BUILD, "abide"), "run", name + ".flow", "--input", "@input.json", "--mock",
            "mock.json", "--virtual-time", "--now", "2026-01-05T08:00:00Z", *more]


class FlowExamples(unittest.TestCase):
    maxDiff = None

    def test_there_are_as_many_as_the_readme_lists(self):
        with open(os.path.join(FOLDER, "README.md"), encoding="utf-8") as file:
            listed = [line.split("`")[1] for line in file if line.startswith("| `")]
        self.assertEqual(sorted(listed), NAMES)
        self.assertGreaterEqual(len(NAMES), 8)

    def test_each_passes_the_check(self):
        for name in NAMES:
            path = os.path.join(FOLDER, name, name + ".flow")
            done = subprocess.run([os.path.join(BUILD, "abide"), "check", path],
                                  capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout, "1 file checked, no errors\n")


def add_test(name):
    def test(self):
        done = subprocess.run(command(name), cwd=os.path.join(FOLDER, name), text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        with open(os.path.join(FOLDER, name, "expected.txt"), encoding="utf-8") as file:
            self.assertEqual(done.stdout, file.read())
        self.assertEqual(done.returncode, 0)

    setattr(FlowExamples, "test_" + name.replace("-", "_"), test)


for example in NAMES:
    add_test(example)

if __name__ == "__main__":
    tap.main()
