"""The sessions of docs/run.md: files are written, commands run, and the output compared."""
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

BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.S | re.M)


def sessions(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        text = file.read()
    parts = re.split(r"<!-- session: (\w+) -->", text)
    return list(zip(parts[1::2], parts[2::2]))


def commands(block):
    """[(command, expected output)] of a console block."""
    steps = []
    for line in block.splitlines():
        if line.startswith("$ "):
            steps.append((line[2:], []))
        else:
            steps[-1][1].append(line)
    return [(command, "".join(line + "\n" for line in lines)) for command, lines in steps]


class RunGuide(unittest.TestCase):
    maxDiff = None

    def check(self, name, text):
        count = 0
        environment = dict(os.environ, PATH=BUILD + ":" + os.environ["PATH"], TZ="UTC")
        with tempfile.TemporaryDirectory() as folder:
            for language, file_name, body in BLOCK.findall(text):
                if file_name:
                    with open(os.path.join(folder, file_name), "w", encoding="utf-8") as file:
                        file.write(body)
                if language != "console":
                    continue
                for command, expected in commands(body):
                    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          text=True, timeout=60)
                    self.assertEqual(done.stdout, expected, command)
                    count += 1
        self.assertGreater(count, 0, name)

    def test_every_command_prints_what_the_guide_says(self):
        found = sessions("docs/run.md")
        self.assertEqual([name for name, _ in found], ["order", "family", "durable"])
        for name, text in found:
            with self.subTest(name):
                self.check(name, text)


if __name__ == "__main__":
    tap.main()
