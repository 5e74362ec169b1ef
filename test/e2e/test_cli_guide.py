"""The sessions of docs/cli.md: files are written, commands run, and the output compared.

"…" in what the guide says stands for anything within a line; a line of it alone, for any lines.
"""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cli import CommandTest  # noqa: E402
from server import ABIDE, PATIENCE  # noqa: E402
from test_run_guide import BLOCK, commands, sessions  # noqa: E402


def squeeze(text):
    """Columns are as wide as what is in them, which depends on the time."""
    return re.sub(r" {2,}", "  ", text)


def pattern(expected):
    lines = []
    for line in squeeze(expected).splitlines():
        if line == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(re.escape(line).replace("…", ".+") + r"\n")
    return re.compile("".join(lines) + r"\Z")


class CliGuide(CommandTest):
    maxDiff = None

    def check(self, text):
        environment = self.environment() | {
            "PATH": os.path.dirname(ABIDE) + ":" + os.environ["PATH"],
            "ABIDE_SERVER": self.where[1]}
        count = 0
        for language, name, body in BLOCK.findall(text.split("<!-- end -->")[0]):
            if name:
                self.file(name, body)
            if language != "console":
                continue
            for command, expected in commands(body):
                self.assertRegex(self.output(command, expected, environment), pattern(expected),
                                 command)
                count += 1
        return count

    def output(self, command, expected, environment):
        """What it prints. A reader types slower than runs proceed: looking is repeated."""
        deadline = time.monotonic() + PATIENCE
        while True:
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=120)
            printed = squeeze(done.stdout)
            is_look = re.match(r"abide (wf (ls|show)|queue ls|doctor) ?[^|]*$", command)
            if pattern(expected).search(printed) or not is_look or time.monotonic() > deadline:
                return printed

    def test_every_command_prints_what_the_guide_says(self):
        found = sessions("docs/cli.md")
        self.assertEqual([name for name, _ in found], ["tour", "store"])
        for name, text in found:
            with self.subTest(name):
                self.assertGreater(self.check(text), 3)

    def test_the_guide_names_every_command(self):
        with open(os.path.join(os.environ["ABIDE_SOURCE_DIR"], "docs/cli.md"),
                  encoding="utf-8") as file:
            guide = file.read()
        listed = re.search(r"\nCommands:\n((?:  \S+ .*\n)+)", self.bare("--help").out).group(1)
        for name in (line.split()[0] for line in listed.splitlines()):
            if name not in ("disasm", "config"):  # for those who work on abide; in settings
                self.assertRegex(guide, r"`(abide )?%s\b|· `%s|\b%s \[PAGE" % (name, name, name))


if __name__ == "__main__":
    tap.main()
