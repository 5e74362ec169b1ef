"""The command line as shells, terminals and pipes meet it: help, completions, manual pages,
colours, widths, signals."""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import fcntl
import struct
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cli import ORDER, CommandTest  # noqa: E402
from server import ABIDE  # noqa: E402


def in_terminal(arguments, columns, environment, send=b""):
    """Runs a program on a terminal of that width; answers its output and exit code."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(arguments, stdin=child, stdout=child, stderr=child, close_fds=True,
                               env=environment, start_new_session=True)
    os.close(child)
    if send:
        os.write(parent, send)
    output = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        ready, _, _ = select.select([parent], [], [], 1)
        if not ready:
            if process.poll() is not None:
                break
            continue
        try:
            piece = os.read(parent, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(parent)
    return output.decode("utf-8").replace("\r\n", "\n"), process.wait(60)


def columns_of(text):
    """Terminal columns of a line of the tests: wide characters count two."""
    return sum(2 if "\u2e80" <= c <= "\uffdc" else 1 for c in text)


class HelpTest(CommandTest):
    def commands(self):
        """Every path of words that --help leads to: groups and commands."""
        found = [[]]
        for path in found:
            text = self.bare(*path, "--help").out
            listed = re.search(r"\nCommands:\n((?:  \S+ .*\n)+)", text)
            if listed:
                found += [path + [line.split()[0]] for line in listed.group(1).splitlines()]
        return found

    def test_help_at_every_level_has_usage_and_a_complete_example(self):
        paths = self.commands()
        self.assertGreater(len(paths), 50)
        for path in paths:
            with self.subTest(command=" ".join(path)):
                answer = self.bare(*path, "--help")
                self.assertEqual((answer.code, answer.err), (0, ""))
                self.assertTrue(answer.out.startswith("Usage: abide" + "".join(" " + word for word
                                                                                in path)))
                example = answer.out.split("\nExamples:\n")[1]
                self.assertIn("abide", example)
                for line in answer.out.splitlines():
                    self.assertLessEqual(len(line), 120, line)

    def test_a_wrong_option_or_command_is_exit_code_2(self):
        for path in self.commands():
            with self.subTest(command=" ".join(path)):
                answer = self.bare(*path, "--no-such-thing")
                self.assertEqual((answer.code, answer.out), (2, ""))
                self.assertIn("--no-such-thing", answer.err)
        self.assertEqual(self.bare("help", "wf", "start").out, self.bare("wf", "start", "-h").out)
        self.assertEqual(self.bare("help", "wf").out, self.bare("wf", "--help").out)
        self.assertEqual(self.bare("help", "dance").code, 2)
        self.assertEqual(self.bare().code, 2)
        self.assertEqual(self.bare("wf").code, 2)
        self.assertEqual(self.bare("wf", "dance").code, 2)

    def test_every_command_is_in_a_manual_page_without_warnings(self):
        folder = os.path.join(self.folder, "man")
        self.assertEqual(self.bare("man", "--dir", folder).code, 0)
        paths = self.commands()
        names = {"abide.1"} | {"abide-%s.1" % path[0] for path in paths if path}
        self.assertEqual(set(os.listdir(folder)), names)
        for name in sorted(names):
            page = os.path.join(folder, name)
            done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True,
                                  text=True)
            self.assertEqual(done.stderr, "", name)
            lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", page],
                                  capture_output=True, text=True).stdout
            left = [line for line in lint.splitlines() if "missing date" not in line]
            self.assertEqual(left, [], name)
        with open(os.path.join(folder, "abide-wf.1"), encoding="utf-8") as page:
            text = page.read()
        for path in paths:
            if path[:1] == ["wf"] and len(path) == 2:
                self.assertIn('.SH "%s"' % " ".join(path), text)
        self.assertEqual(self.bare("man", "abide-nothing").code, 2)


class CompletionTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.deploy("order", ORDER)
        self.ok("wf", "start", "order", '{"amount": 1}', "--id", "to-be-completed")
        self.shell = self.environment() | {
            "PATH": os.path.dirname(ABIDE) + ":" + os.environ["PATH"],
            "ABIDE_SERVER": self.where[1], "HOME": self.folder, "ZDOTDIR": self.folder}

    def script(self, shell):
        return self.file(shell + "-completion", self.bare("completion", shell).out)

    def bash(self, *words):
        text = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _abide; ' \
               'printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", text, "bash", self.script("bash"), *words],
                              capture_output=True, text=True, env=self.shell, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("abide", "w"), ["worker", "wf", "workflow"])
        self.assertEqual(self.bash("abide", "wf", "st"), ["start"])
        self.assertEqual(self.bash("abide", "wf", "ls", "--stat"), ["--status", "--state"])
        self.assertEqual(self.bash("abide", "wf", "ls", "-o", ""), ["table", "json", "ids"])
        self.assertEqual(self.bash("abide", "wf", "ls", "--limit", ""), [])
        self.assertEqual(self.bash("abide", "topic", "set", "x", "--consume", "a"), ["all"])
        self.assertEqual(self.bash("abide", "completion", "z"), ["zsh"])
        self.assertEqual(self.bash("abide", "wf", "show", "to-be"), ["to-be-completed"])
        self.assertEqual(self.bash("abide", "wf", "start", ""), ["order"])
        self.file("report.flow", "")
        self.assertEqual(self.bash("abide", "deploy", "rep"), ["report.flow"])

    def test_bash_in_an_interactive_shell(self):
        self.file(".bashrc", 'source "%s"\nPS1="> "\nbind "set bell-style none"\n'
                  % self.script("bash"))
        out, _ = in_terminal(["bash", "--rcfile", os.path.join(self.folder, ".bashrc"), "-i"], 100,
                             self.shell | {"TERM": "xterm"}, b"abide sched\tl\t--help\nexit\n")
        self.assertIn("Usage: abide schedule ls", out)

    def test_zsh_in_an_interactive_shell(self):
        self.file(".zshrc", 'autoload -U compinit; compinit -u\nsource "%s"\nPS1="> "\n'
                  'unsetopt beep\n' % self.script("zsh"))
        out, _ = in_terminal(["zsh", "-i"], 100, self.shell | {"TERM": "xterm"},
                             b"abide sched\tl\t--help\nexit\n")
        self.assertIn("Usage: abide schedule ls", out)

    def test_fish(self):
        def fish(line):
            done = subprocess.run(["fish", "-c", 'source "%s"; complete -C "%s"'
                                   % (self.script("fish"), line)],
                                  capture_output=True, text=True, env=self.shell, cwd=self.folder)
            self.assertEqual(done.stderr, "")
            return [offer.split("\t")[0] for offer in done.stdout.splitlines()]

        self.assertEqual(fish("abide wf st"), ["start"])
        self.assertEqual(sorted(fish("abide wf ls --output ")), ["ids", "json", "table"])
        self.assertEqual(fish("abide wf show to-be"), ["to-be-completed"])
        self.assertEqual(sorted(fish("abide wf ls --stat")), ["--state", "--status"])
        self.assertEqual(fish("abide completion b"), ["bash"])

    def test_an_unknown_shell(self):
        self.assertEqual(self.bare("completion", "powershell").code, 2)


class TerminalTest(CommandTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.deploy("order", ORDER)
        for run_id in ("plain", "wide-日本語-" + "長" * 30, "with\u202eturn"):
            cls.server.post("/v1/runs", {"workflow": "order", "input": {"amount": 1}, "id": run_id})

    def on_terminal(self, *arguments, columns=80, **more):
        environment = self.environment() | {"TERM": "xterm"} | more
        return in_terminal([ABIDE, *arguments, *self.where], columns, environment)

    def test_colours_only_on_a_terminal(self):
        self.assertNotIn("\033", self.ok("wf", "ls").out)
        out, code = self.on_terminal("wf", "ls", columns=200)
        self.assertEqual(code, 0)
        self.assertIn("\033[1mRUN\033[0m", out)
        self.assertIn("\033[34msuspended\033[0m", out)
        self.assertNotIn("\033", self.on_terminal("wf", "ls", NO_COLOR="1")[0])
        self.assertNotIn("\033", self.on_terminal("wf", "ls", TERM="dumb")[0])
        self.assertIn("\033[1m", self.on_terminal("wf", "show", "plain")[0])

    def test_tables_fit_the_terminal(self):
        for columns in (120, 80, 60, 40, 20, 5):
            out, code = self.on_terminal("wf", "ls", columns=columns, NO_COLOR="1")
            self.assertEqual(code, 0)
            for line in out.splitlines():
                self.assertLessEqual(columns_of(line), columns, line)
        out, _ = self.on_terminal("wf", "ls", columns=60, NO_COLOR="1")
        self.assertIn("…", out)
        rows = [line for line in out.splitlines() if "suspended" in line]
        self.assertEqual(len({columns_of(row[:row.index("suspended")]) for row in rows}), 1, out)

    def test_nothing_is_cut_off_a_terminal(self):
        self.assertIn("長" * 30, self.ok("wf", "ls").out)
        self.assertNotIn("…", self.ok("wf", "ls").out)

    def test_names_cannot_steer_the_terminal(self):
        self.assertNotIn("\u202e", self.ok("wf", "ls").out)
        self.assertIn("with?turn", self.ok("wf", "ls").out)
        self.assertIn("with\u202eturn", self.ok("wf", "ls", "-o", "ids").out)

    def test_a_progress_line_only_on_a_terminal(self):
        out, code = self.on_terminal("wf", "result", "plain", "--wait-limit", "1200ms")
        self.assertEqual(code, 1)
        self.assertRegex(out, "\r\033\\[Kplain is suspended … ")
        answer = self.abide("wf", "result", "plain", "--wait-limit", "10ms")
        self.assertNotIn("\r", answer.err)


class SignalTest(CommandTest):
    def start_waiting(self, *arguments):
        process = subprocess.Popen([ABIDE, *arguments, *self.where], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.environment())
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def test_interrupted_is_130(self):
        self.deploy("order", ORDER)
        self.ok("wf", "start", "order", '{"amount": 1}', "--id", "waits")
        watcher = self.start_waiting("wf", "watch", "waits", "-o", "json")
        json.loads(watcher.stdout.readline())  # it is connected
        watcher.send_signal(signal.SIGINT)
        self.assertEqual(watcher.wait(60), 130)
        self.assertIn("(INTERRUPTED)", watcher.stderr.read())

    def test_a_closed_pipe_is_quiet(self):
        self.deploy("many", "for (let i = 0; i < 20000; i++) console.log('line ' + i)\nreturn 1")
        self.ok("wf", "start", "many", "--id", "talks", "--wait")
        text = '"$0" wf watch talks %s | head -n 1' % " ".join(self.where)
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + text, ABIDE], timeout=60,
                              capture_output=True, text=True, env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 1)

    def test_a_full_disk_is_said(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([ABIDE, "stats", *self.where], stdout=full, timeout=60,
                                  stderr=subprocess.PIPE, text=True, env=self.environment())
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot write the output", done.stderr)


if __name__ == "__main__":
    tap.main()
