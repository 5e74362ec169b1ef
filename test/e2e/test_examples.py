"""Every example in the documents and under examples/ is built against the library and run."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

EXPECTED = {
    "readme.c": ['charging for {"item":"lamp"}', 'ABIDE_OK ["receipt 7","by Ada"]'],
    "steps.c": ["ABIDE_OK after 3 attempts"],
    "waiting.c": ["42"],
    "virtual.c": ['"a month later"'],
    "schedules.c": ["1774746000000 1774830600000", '{"full":true}'],
}


def examples(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        text = file.read()
    return re.findall(r"<!-- example: (\S+) -->\n```c\n(.*?)```", text, re.S)


def flow_examples(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        text = file.read()
    return re.findall(r"<!-- flow: (\S+) input=(.*?) -->\n```js\n(.*?)```\n```json\n(.*?)\n```",
                      text, re.S)


class Examples(unittest.TestCase):
    def test_examples_in_the_language_guide_run(self):
        found = flow_examples("docs/language.md")
        self.assertGreaterEqual(len(found), 4)
        for name, given, code, expected in found:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(code)
                done = subprocess.run([os.path.join(BUILD, "abide"), "run", path, "--input", given],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(done.stdout), json.loads(expected))

    def build_and_run(self, name, code):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(code)
            flags = os.environ.get("ABIDE_EXAMPLE_CFLAGS", "").split()
            subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *flags,
                            "-I", os.path.join(SOURCE, "include"), name, "-o", "example",
                            "-L", BUILD, "-labide", "-Wl,-rpath," + BUILD],
                           cwd=folder, check=True, timeout=60)
            done = subprocess.run(["./example"], cwd=folder, capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(done.stdout.splitlines(), EXPECTED[name])

    def test_examples_in_the_readme_run(self):
        found = examples("README.md")
        self.assertEqual([name for name, _ in found], ["readme.c"])
        for name, code in found:
            self.build_and_run(name, code)

    def test_examples_in_the_guide_run(self):
        found = examples("docs/guide-c.md")
        self.assertEqual([name for name, _ in found], ["steps.c", "waiting.c", "virtual.c"])
        for name, code in found:
            self.build_and_run(name, code)

    def test_examples_of_schedules_run(self):
        found = examples("docs/schedules.md")
        self.assertEqual([name for name, _ in found], ["schedules.c"])
        for name, code in found:
            self.build_and_run(name, code)

    def test_the_order_survives_kill_9_and_charges_once(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([os.path.join(BUILD, "examples", "order-approval"),
                                   os.path.join(folder, "orders.db")],
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("[step charge"), 1)
        self.assertIn("1 run resumed", done.stdout)
        self.assertIn('ABIDE_OK {"charge":{"receipt":"R-1001"},"parcel":"parcel 7"}', done.stdout)

    def test_the_header_compiles_as_cpp(self):
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                        "-x", "c++", os.path.join(SOURCE, "include", "abide.h")],
                       check=True, timeout=60)


if __name__ == "__main__":
    tap.main()
