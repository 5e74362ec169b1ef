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
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cli import ORDER, CommandTest  # noqa: E402
from server import ABIDE, wait_until  # noqa: E402


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
    helps = {}  # command -> what --help says, asked for once

    def commands(self):
        """Every path of words that --help leads to: groups and commands."""
        found = [()]
        for path in found:
            if path not in self.helps:
                self.helps[path] = self.bare(*path, "--help")
            listed = re.search(r"\nCommands:\n((?:  \S+ .*\n)+)", self.helps[path].out)
            if listed:
                found += [(*path, line.split()[0]) for line in listed.group(1).splitlines()]
        return found

    def test_help_at_every_level_has_usage_and_a_complete_example(self):
        paths = self.commands()
        self.assertGreater(len(paths), 50)
        for path in paths:
            with self.subTest(command=" ".join(path)):
                answer = self.helps[path]
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
            self.assertEqual(lint, "", name)
        with open(os.path.join(folder, "abide-wf.1"), encoding="utf-8") as page:
            text = page.read()
        for path in paths:
            if path[:1] == ("wf",) and len(path) == 2:
                self.assertIn('.SH "%s"' % " ".join(path).replace("-", "\\-"), text)
        self.assertEqual(self.bare("man", "abide-nothing").code, 2)

    def test_manual_pages_have_the_date_of_the_version(self):
        source = os.environ["ABIDE_SOURCE_DIR"]
        with open(os.path.join(source, "meson.build"), encoding="utf-8") as file:
            text = file.read()
        date = re.search(r"(?m)^version_date = '(\d{4}-\d\d-\d\d)'$", text).group(1)
        version = re.search(r"(?m)^  version: '(.*)',$", text).group(1)
        for page in ("abide", "abide-wf"):
            self.assertRegex(self.bare("man", page).out,
                             r'\A\.TH "%s" "1" "%s" "abide %s" ' % (page.upper(), date, version))
        with open(os.path.join(source, "CHANGELOG.md"), encoding="utf-8") as file:
            released = re.search(r"(?m)^## %s\b.*?(\d{4}-\d\d-\d\d)" % re.escape(version),
                                 file.read())
        if released:
            self.assertEqual(released.group(1), date)


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
        text = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; ' \
               'COMP_POINT=${#COMP_LINE}; _abide abide "${!#}"; printf "%s\\n" "${COMPREPLY[@]}"'
        done = subprocess.run(["bash", "--norc", "-c", text, "bash", self.script("bash"), *words],
                              capture_output=True, text=True, env=self.shell, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("abide", "w"), ["worker", "wf", "workflow", "workers"])
        self.assertEqual(self.bash("abide", "wf", "st"), ["start"])
        self.assertEqual(self.bash("abide", "wf", "ls", "--stat"), ["--status", "--state"])
        self.assertEqual(self.bash("abide", "wf", "ls", "-o", ""), ["table", "json", "ids"])
        self.assertEqual(self.bash("abide", "wf", "ls", "--limit", ""), [])
        self.assertEqual(self.bash("abide", "topic", "set", "x", "--consume", "a"), ["all"])
        self.assertEqual(self.bash("abide", "completion", "z"), ["zsh"])
        self.assertEqual(self.bash("abide", "wf", "show", "to-be"), ["to-be-completed"])
        self.assertEqual(self.bash("abide", "wf", "start", ""), ["order"])

    def test_the_place_decides_what_is_offered_by_bash(self):
        self.check_places(lambda *words: self.bash("abide", *words))

    def test_the_place_decides_what_is_offered_by_fish(self):
        def fish(*words):
            # A file is offered where files are; the folder has one of its own for that.
            line = " ".join("''" if word == "" and word is not words[-1] else word for word in words)
            offers = self.fish("abide " + line)
            return [] if any("-completion" in offer for offer in offers) else offers
        self.check_places(fish)

    def test_the_place_decides_what_is_offered_by_zsh(self):
        def zsh(*words):
            """What the function of the script hands to compadd and its relatives."""
            text = ('compadd() { while [[ $1 == -* && $1 != -- && $1 != -a ]]; do shift; done; '
                    'if [[ $1 == -a ]]; then print -l -- "${(@P)2}"; else shift; print -l -- "$@"; '
                    'fi }; _files() { :; }; _message() { :; }; compdef() { :; }; '
                    '_describe() { print -l -- "${(@)${(@P)2}%%:*}"; }; '
                    'source "$1"; shift; words=("$@"); CURRENT=$#; _abide')
            done = subprocess.run(["zsh", "-f", "-c", text, "zsh", self.script("zsh"), "abide",
                                   *words], capture_output=True, text=True, env=self.shell,
                                  cwd=self.folder)
            self.assertEqual(done.stderr, "")
            # Options are offered where nothing else is known, which the others leave out.
            return [word for word in done.stdout.splitlines() if word.startswith(words[-1]) and
                    (words[-1] or not word.startswith("-"))]
        self.check_places(zsh)

    def check_places(self, offers):
        """Each kind of name where it is wanted, none twice."""
        self.deploy("order", ORDER + "// another version")
        self.ok("emit", "prices", "1", "--id", "e-1")
        self.ok("queue", "set", "mail", "--max-running", "1")
        self.ok("schedule", "set", "nightly", "order", "--every", "1h")
        wait_until(lambda: "charge" in self.ok("task", "ls").out)
        task = [item["id"] for item in self.ok("task", "ls", "-o", "json").json["items"]]
        runs = self.ok("wf", "ls", "-o", "ids").lines
        statuses = ["cancelled", "completed", "failed", "paused", "pending", "running", "suspended"]
        table = [
            (["order"], "wf", "start", ""),
            ([], "wf", "start", "order", ""),                        # files
            (runs, "wf", "show", ""),
            (runs, "wf", "cancel", "x", "y", ""),                    # any number of them
            (runs, "wf", "cancel", "--reason", "wf", ""),            # the value is no operand
            (runs, "wf", "fork", "--id", "new", ""),
            ([], "wf", "fork", "x", ""),                             # a step: nobody knows
            (runs, "signal", ""),
            ([], "signal", "x", ""),                                 # the name of a signal
            ([], "signal", "x", "go", ""),                           # files
            (runs, "logs", "-f", ""),
            (["prices"], "emit", ""),
            (["prices"], "topic", "show", ""),
            (["default", "mail"], "queue", "set", ""),
            ([], "queue", "set", "mail", ""),
            (["nightly"], "schedule", "set", ""),
            (["order"], "schedule", "set", "nightly", ""),
            (["nightly"], "schedule", "backfill", ""),
            (task, "task", "retry", ""),
            (["mail"], "task", "ls", "--queue", "m"),
            (runs, "task", "ls", "--run", ""),
            (["order"], "wf", "ls", "--workflow", ""),
            (statuses, "wf", "ls", "--status", ""),
            (statuses, "wf", "ls", "-s", ""),
            (["cancelled", "completed", "failed", "leased", "queued"], "task", "ls", "--status", ""),
        ]
        for wanted, *words in table:
            with self.subTest(words=words):
                self.assertEqual(sorted(offers(*words)), sorted(wanted))
        for path in (["wf"], ["wf", "ls"], ["serve"], ["schedule", "set"]):
            found = offers(*path, "-" if len(path) > 1 or path == ["serve"] else "")
            self.assertEqual(len(found), len(set(found)), path)
            self.assertGreater(len(found), 5)

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

    def fish(self, line):
        done = subprocess.run(["fish", "-c", 'source "%s"; complete -C "%s"'
                               % (self.script("fish"), line)],
                              capture_output=True, text=True, env=self.shell, cwd=self.folder)
        self.assertEqual(done.stderr, "")
        return [offer.split("\t")[0] for offer in done.stdout.splitlines()]

    def test_fish(self):
        fish = self.fish
        self.assertEqual(fish("abide wf st"), ["start"])
        self.assertEqual(sorted(fish("abide wf ls --output ")), ["ids", "json", "table"])
        self.assertEqual(fish("abide wf show to-be"), ["to-be-completed"])
        self.assertEqual(sorted(fish("abide wf ls --stat")), ["--state", "--status"])
        self.assertEqual(fish("abide completion b"), ["bash"])

    def test_an_unknown_shell(self):
        self.assertEqual(self.bare("completion", "powershell").code, 2)


# What a shell could take for something else. Ids have no control characters.
HOSTILE = ["$(touch pwned)", "`touch pwned`", "a b", " lead", "trail ", "star*", "wh?t", "[a-z]", "it's",
           'dq"x', "back\\slash", "end\\", "semi;touch pwned", "a&touch pwned", "a|touch pwned", "co:lon", "a:b:c",
           "eq=al", "at@x", "#hash", "!bang", "~tilde", ">pwned", "<x", "${HOME}", "$HOME", "{a,b}", "(x)",
           "ünï 日本", "%d", "=cmd", "^up", "a\"'b", "tab?"]
NAMES = ["my file.flow", "two  blanks.flow", "star*.flow", "$(touch pwned).flow", "it's.flow", 'dq"x.flow',
         "back\\slash.flow", "semi;colon.flow", "ünï.flow"]


class HostileTest(unittest.TestCase):
    """Real shells complete names that are not meant well. A program in place of abide answers with
    the names, and notes what it was called with."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(self.path("bin"))
        os.mkdir(self.path("work"))
        self.write("bin/abide", '#!/bin/sh\ncase "$*" in *"-o ids") cat "%s"; exit ;; esac\n'
                   'for a; do printf "%%s\\0" "$a"; done >>"%s"\nprintf "\\1" >>"%s"\n'
                   % (self.path("ids"), self.path("calls"), self.path("calls")))
        os.chmod(self.path("bin/abide"), 0o755)
        self.write("calls", "")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def script(self, shell):
        script = subprocess.run([ABIDE, "completion", shell], capture_output=True, text=True,
                                check=True).stdout
        self.write("script." + shell, script)
        return self.path("script." + shell)

    def shell(self, *arguments):
        """An interactive shell that has asked for its first command."""
        environment = {"PATH": self.path("bin") + ":" + os.environ["PATH"], "HOME": self.folder,
                       "ZDOTDIR": self.folder, "XDG_CONFIG_HOME": self.folder, "TERM": "xterm",
                       "XDG_DATA_HOME": self.folder, "LC_ALL": "C.UTF-8"}
        terminal, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        process = subprocess.Popen(arguments, stdin=child, stdout=child, stderr=child,
                                   env=environment, cwd=self.path("work"), start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(child)
        self.terminal, self.output = terminal, b""
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(os.close, terminal)
        self.until(lambda: b"ready> " in self.output)

    def until(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, self.output[-2000:])
            if select.select([self.terminal], [], [], 0.01)[0]:
                self.output += os.read(self.terminal, 65536)

    def calls(self):
        with open(self.path("calls"), encoding="utf-8") as file:
            return [call.split("\0")[:-1] for call in file.read().split("\1")[:-1]]

    def typed(self, text):
        """The arguments of the call that this text on the command line leads to."""
        before = len(self.calls())
        os.write(self.terminal, text.encode("utf-8"))
        self.until(lambda: len(self.calls()) > before)
        self.assertEqual(len(self.calls()), before + 1)
        return self.calls()[-1]

    def check_nothing_was_executed(self):
        made = [name for name in os.listdir(self.path("work")) if "flow" not in name]
        self.assertEqual(made, [])

    def check_names(self, quotes):
        for hostile in HOSTILE:
            for quote in quotes:
                if quote and quote in hostile or quote == '"' and set(hostile) & set('$`\\!'):
                    continue
                with self.subTest(id=hostile, quote=quote):
                    self.write("ids", "id%s\n--server=evil\n" % hostile)
                    self.assertEqual(self.typed("abide wf show %si\t\n" % quote),
                                     ["wf", "show", "id" + hostile])
            with self.subTest(id=hostile, begins=True):
                self.write("ids", "--server=evil\n%s\n" % hostile)
                self.assertEqual(self.typed("abide wf show \t\n"), ["wf", "show", hostile])
        self.check_nothing_was_executed()

    def check_files(self):
        for name in NAMES:
            with self.subTest(name=name):
                self.write("work/x " + name, "")
                self.assertEqual(self.typed("abide deploy x\t\n"), ["deploy", "x " + name])
                os.remove(self.path("work/x " + name))
        self.check_nothing_was_executed()

    def test_bash(self):
        self.write(".bashrc", 'source "%s"\nbind "set bell-style none"\nPS1="ready> "\n'
                   % self.script("bash"))
        self.shell("bash", "--rcfile", self.path(".bashrc"), "-i")
        self.check_names(["", "'", '"'])
        self.check_files()
        self.write("ids", "a:b c:d\na:x\n")  # in the middle of a word that the shell takes apart
        self.assertEqual(self.typed("abide wf show a:b\\ c\t\n"), ["wf", "show", "a:b c:d"])
        self.assertEqual(self.typed("abide wf show a:x\t\n"), ["wf", "show", "a:x"])
        self.write("ids", "a b c\n")
        self.assertEqual(self.typed("abide wf show a\\ b\t\n"), ["wf", "show", "a b c"])
        self.assertEqual(self.typed("abide wf show 'a b\t\n"), ["wf", "show", "a b c"])

    def test_zsh(self):
        self.write(".zshrc", 'autoload -U compinit; compinit -u\nsource "%s"\nunsetopt beep\n'
                   'PS1="ready> "\n' % self.script("zsh"))
        self.shell("zsh", "-i")
        self.check_names(["", "'", '"'])
        self.check_files()

    def test_fish(self):
        # Where there is none, fish makes completions of all manual pages, beside everything else.
        os.makedirs(self.path("fish/generated_completions"))
        self.write("fish/config.fish", 'source "%s"\nfunction fish_prompt; echo -n "ready> "; end\n'
                   'set -g fish_greeting\n' % self.script("fish"))
        self.shell("fish", "-i")
        self.check_names([])
        self.check_files()


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
