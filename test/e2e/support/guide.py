"""Runs the examples of the documentation.

A fenced block of a page is an example. The comment on the line above it says how it is tested:

    <!-- flow: total.flow input={"n":1} -->   js: `abide run` with that input; the json block that
                                              follows is the result
    <!-- program: steps.c -->                 c: is built against the library and run; the text
                                              block that follows is what it prints
    <!-- plugin: orders -->                   c: is the end of examples/plugin-orders/plugin.c
    <!-- compiles: libpq-fe.h -->             c: compiles after abide.h and the headers named
    <!-- checks -->                           js: `abide check` accepts it
    <!-- settings -->                         toml: `abide config check` accepts it
    <!-- parses -->                           json: is valid JSON
    <!-- not run: REASON -->                  is not tested, for this reason

Blocks between <!-- session: NAME --> and <!-- end --> share a folder:

    ```js order.flow                          any language with a file name: is written to that file
    ```console                                lines that begin with "$ " are run; the lines below
                                              each are what it prints. "…" stands for anything
                                              within a line, a line of it alone for any lines
    ```sh                                     is run, and has to succeed
    <!-- terminal: NAME until="TEXT" -->      above a console or sh block: the command keeps
                                              running, and has printed TEXT before the session goes
                                              on. A process that NAME runs already is stopped by
                                              Ctrl-C. runs="COMMAND" is run in place of the block
                                              without=VARIABLE takes that out of its environment
    <!-- wait: NAME until="TEXT" -->          goes on when it has printed TEXT since the last wait
    <!-- ctrl-c: NAME -->  <!-- kill: NAME -->   stops it; kills it

What `export` sets holds for the commands after it.

The name of a session may be followed by

    with server                               a server runs, with the flags that follow
    with checkout                             the folder looks like a clone that was built
    by FILE                                   the test in FILE runs the session (it needs more than
                                              a folder)

Port 7433 stands for a free port. A block in the language `text` is a picture or plain output.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

from server import ABIDE, PATIENCE, Server

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]

FENCE = re.compile(r"^```(\w*)(?: (\S+))?$")
MARK = re.compile(r"^<!-- (.*?) -->$")
# Commands that only look: repeating them changes nothing.
LOOK = re.compile(
    r"(?:build/)?abide (wf (ls|show|signals|turns|diff|try)|(queue|task|topic|schedule|workflow|dead) (ls|show|events)"
    r"|attention|doctor|nodes|stats)\b[^|]*(\| (grep|jq|wc|head) .*)?$"
    r"|curl (?!.*(-X|-d|--data|-T|--json)\b)")
# Refused, and nothing was changed: a run has been started and has not come to its wait.
EARLY = re.compile(r"RUN_NOT_PARKED|is running; only a script that waits|[1-9]\d* runs? (is|are) running")
ADDRESS = re.compile(r"\b(127\.0\.0\.1|localhost|0\.0\.0\.0):7433\b")


class Block:
    """A fenced block. `mark` is the comment above it, `session` where it stands."""

    def __init__(self, page, line, language, name, mark, session):
        self.page, self.line = page, line
        self.language, self.name = language, name
        self.mark, self.session = mark, session
        self.lines = []
        self.after = None  # the block that directly follows

    @property
    def body(self):
        return "".join(line + "\n" for line in self.lines)

    @property
    def place(self):
        return "%s:%d" % (self.page, self.line)

    @property
    def kind(self):
        return self.mark.split(":")[0] if self.mark else None


class Note:
    """A comment between blocks that a session obeys."""

    def __init__(self, text, session):
        self.text, self.session = text, session


def read(page):
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        return file.read()


def parse(page, text=None):
    """The blocks and notes of a page, in order."""
    items, session, mark, open_block, previous = [], None, None, None, None
    for number, line in enumerate((read(page) if text is None else text).splitlines(), 1):
        if open_block is not None:
            if line == "```":
                open_block, previous = None, open_block
            else:
                open_block.lines.append(line)
            continue
        fence, comment = FENCE.match(line), MARK.match(line)
        if fence:
            open_block = Block(page, number, fence.group(1), fence.group(2), mark, session)
            if previous is not None:
                previous.after = open_block
            items.append(open_block)
            mark = None
        elif comment and comment.group(1).startswith("session: "):
            session = comment.group(1)[len("session: "):]
        elif comment and comment.group(1) == "end":
            session = None
        elif comment and re.match(r"(ctrl-c|kill|wait): ", comment.group(1)):
            items.append(Note(comment.group(1), session))
        elif comment:
            mark = comment.group(1)
        elif line.strip():
            mark = None
        if line.strip() and not fence:
            previous = None
    return items


def blocks(page, text=None):
    return [item for item in parse(page, text) if isinstance(item, Block)]


ALONE = {"flow": "js", "program": "c", "plugin": "c", "compiles": "c", "checks": "js",
         "settings": "toml", "parses": "json"}
RUN_IN_SESSIONS = ("console", "sh")


def fault(block, answers=()):
    """What is wrong with a block, if nothing tests it and it does not say why; None otherwise."""
    if not block.language:
        return "has no language; ```text is for pictures and plain output"
    if block.kind == "not run":
        return None if block.mark[len("not run:"):].strip() else "does not say why it is not run"
    if block.kind in ALONE:
        wanted = ALONE[block.kind]
        return None if block.language == wanted else "is not in the language " + wanted
    if block.kind is not None and not (block.kind == "terminal" and block.session):
        return "has a mark that nothing understands: " + block.mark
    if block.language == "text" or block in answers:
        return None
    if block.session and (block.name or block.language in RUN_IN_SESSIONS):
        return None
    return "is neither tested nor marked <!-- not run: REASON -->"


def faults(page, text=None):
    found = blocks(page, text)
    answers = [block.after for block in found if block.kind in ("flow", "program")]
    return ["%s: the block %s" % (block.place, problem) for block in found
            if (problem := fault(block, answers)) is not None]


def squeeze(text):
    """Columns are as wide as what is in them, which depends on the time."""
    return re.sub(r" {2,}", "  ", text)


def pattern(expected):
    lines = []
    for line in squeeze(expected).splitlines():
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(re.escape(line).replace("…", ".*") + r"\n")
    return re.compile(r"\A" + "".join(lines) + r"\Z")


def commands(block):
    """[(command, what it prints)] of a console block. A command goes on after a line that ends
    in a backslash or a pipe, and within quotes."""
    steps = []
    for line in block.lines:
        if line.startswith("$ "):
            steps.append((line[2:], []))
        elif steps[-1][0].endswith(("\\", "|")) or steps[-1][0].count("'") % 2:
            steps[-1] = (steps[-1][0] + "\n" + line, [])
        else:
            steps[-1][1].append(line)
    return [(command, "".join(line + "\n" for line in lines)) for command, lines in steps]


class Terminal:
    """A command that keeps running, as in a terminal window of its own."""

    def __init__(self, command, folder, environment):
        self.process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder, text=True,
                                        env=environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        self.text, self.seen, self.is_over = "", 0, False
        self.news = threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.text += line
                self.news.notify_all()
        with self.news:
            self.is_over = True
            self.news.notify_all()

    def wait_for(self, text):
        with self.news:
            self.news.wait_for(lambda: text in self.text[self.seen:] or self.is_over, PATIENCE)
            if text not in self.text[self.seen:]:
                raise AssertionError("it does not print %r" % text)
            self.seen = self.text.index(text, self.seen) + len(text)

    def end(self, number):
        if self.process.poll() is None:
            self.process.send_signal(number)
        self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        self.process.stdout.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Session:
    """What a reader does who follows the examples of one session."""

    def __init__(self, title, variables=None):
        words = title.split()
        self.title = title
        self.flags = words[words.index("server") + 1:] if "server" in words else []
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.terminals, self.server, self.count = {}, None, 0
        if "checkout" in words:
            self.make_checkout()
        if "server" in words:
            self.server = Server(*self.flags)
        self.port = self.server.port if self.server else free_port()
        address = "127.0.0.1:%d" % self.port
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("ABIDE_")} | {
            "PATH": BUILD + ":" + os.environ["PATH"], "TZ": "UTC", "TMPDIR": self.folder,
            "ABIDE_SERVER": "http://" + address, "ABIDE_LISTEN": address, "BUILD": "build",
            "PYTHONPATH": os.path.join(SOURCE, "sdk", "python")} | (variables or {})

    def make_checkout(self):
        os.symlink(BUILD, os.path.join(self.folder, "build"))
        for name in ("sdk", "include", "packaging"):
            os.symlink(os.path.join(SOURCE, name), os.path.join(self.folder, name))
        for name in ("examples", "tools"):
            shutil.copytree(os.path.join(SOURCE, name), os.path.join(self.folder, name),
                            ignore=shutil.ignore_patterns(".abide"))

    def close(self):
        for terminal in self.terminals.values():
            terminal.end(signal.SIGKILL)
        if self.server:
            self.server.close()
        self.temporary.cleanup()

    def with_port(self, text):
        return ADDRESS.sub(lambda match: "%s:%d" % (match.group(1), self.port), text)

    def obey(self, item):
        """Does what a block or a note says."""
        if isinstance(item, Note):
            self.obey_note(*re.match(r"(\S+): (\S+)(?: until=\"(.*)\")?$", item.text).groups())
        elif item.name:
            self.write(item.name, item.body)
        elif item.kind == "terminal":
            self.open_terminal(item)
        elif item.kind is None and item.language == "console":
            for command, expected in commands(item):
                self.expect(item.place, command, expected)
        elif item.kind is None and item.language == "sh":
            self.run_script(item)

    def obey_note(self, verb, name, text):
        if verb == "wait":
            self.terminals[name].wait_for(text)
        else:
            self.terminals.pop(name).end(signal.SIGKILL if verb == "kill" else signal.SIGINT)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.with_port(text))
        if text.startswith("#!"):
            os.chmod(path, 0o755)

    def open_terminal(self, block):
        name = re.match(r"terminal: (\S+)", block.mark).group(1)
        until = re.search(r'until="(.*?)"', block.mark)
        runs = re.search(r'runs="(.*?)"', block.mark)
        command = runs.group(1) if runs else re.sub(r"^\$ ", "", block.body.strip())
        if name in self.terminals:
            self.terminals.pop(name).end(signal.SIGINT)
        command = re.sub(r"^((?:\w+=\S+ )+)", r"env \1", self.with_port(command))
        without = re.search(r"without=(\w+)", block.mark)
        environment = {key: value for key, value in self.environment.items()
                       if not without or key != without.group(1)}
        self.terminals[name] = Terminal(command, self.folder, environment)
        self.count += 1
        if until:
            self.terminals[name].wait_for(self.with_port(until.group(1)))

    def run_script(self, block):
        done = self.bash("set -euo pipefail\n" + block.body)
        self.count += 1
        if done.returncode != 0:
            raise AssertionError("%s: %s\n%s" % (block.place, block.body, done.stdout))

    def bash(self, command):
        return subprocess.run(["bash", "-c", self.with_port(command)], cwd=self.folder,
                              env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=2 * PATIENCE)

    def expect(self, place, command, expected):
        """A reader types slower than runs proceed: looking is repeated until it shows that."""
        wanted, deadline = pattern(expected), time.monotonic() + PATIENCE
        self.count += 1
        if command.startswith("export "):
            self.export(command)
            return
        while True:
            printed = squeeze(self.bash(command).stdout).replace(":%d" % self.port, ":7433")
            printed += "\n" if printed and not printed.endswith("\n") else ""
            if wanted.search(printed):
                return
            may_repeat = LOOK.match(command) or EARLY.search(printed)
            if not may_repeat or time.monotonic() > deadline:
                raise AssertionError("%s: %s\n--- printed\n%s--- wanted\n%s" % (
                    place, command, printed, squeeze(expected)))
            time.sleep(0.05)


    def export(self, command):
        done = self.bash(command + " && env -0")
        self.environment = dict(line.split("=", 1) for line in done.stdout.split("\0") if line)


def sessions(page):
    """[(title, its blocks and notes)] of a page."""
    found = []
    for item in parse(page):
        if item.session is None:
            continue
        if not found or found[-1][0] != item.session:
            found.append((item.session, []))
        found[-1][1].append(item)
    return found


def run_session(title, items, variables=None, files=None):
    """Answers how many commands were run. `files` are copied into the folder: name -> source."""
    session = Session(title, variables)
    try:
        for name, path in (files or {}).items():
            shutil.copy(path, os.path.join(session.folder, name))
        for item in items:
            session.obey(item)
        return session.count
    except AssertionError as error:
        said = "".join("\n--- terminal %s\n%s" % (name, terminal.text)
                       for name, terminal in session.terminals.items())
        raise AssertionError(str(error) + said) from None
    finally:
        session.close()


# ---- blocks that stand alone ----

def abide(*arguments, folder):
    return subprocess.run([ABIDE, *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=PATIENCE)


def save(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def run_flow(block, folder):
    name, given = re.match(r"flow: (\S+) input=(.*)", block.mark).groups()
    done = abide("run", save(folder, name, block.body), "--input", given, folder=folder)
    if done.returncode != 0 or json.loads(done.stdout) != json.loads(block.after.body):
        raise AssertionError("%s:\n%s%s" % (block.place, done.stdout, done.stderr))


def compile_c(folder, name, text, *flags):
    save(folder, name, text)
    done = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I",
                           os.path.join(SOURCE, "include"), name, *flags], cwd=folder,
                          capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


def run_program(block, folder):
    name = block.mark[len("program: "):]
    flags = os.environ.get("ABIDE_EXAMPLE_CFLAGS", "").split()
    compile_c(folder, name, block.body, *flags, "-o", "example", "-L", BUILD, "-labide",
              "-Wl,-rpath," + BUILD)
    done = subprocess.run(["./example"], cwd=folder, capture_output=True, text=True,
                          timeout=PATIENCE)
    if done.returncode != 0 or done.stdout != block.after.body:
        raise AssertionError("%s:\n%s%s" % (block.place, done.stdout, done.stderr))


def compile_fragment(block, folder):
    headers = block.mark[len("compiles"):].lstrip(":").split()
    text = "".join("#include <%s>\n" % header for header in headers)
    flags = []
    if "libpq-fe.h" in headers:
        flags = subprocess.run(["pkg-config", "--cflags", "libpq"], check=True, text=True,
                               capture_output=True).stdout.split()
    compile_c(folder, "fragment.c", '#include "abide.h"\n' + text + block.body, "-c",
              "-Wno-unused-function", *flags)


def check_plugin(block, folder):
    name = block.mark[len("plugin: "):]
    text = read("examples/plugin-%s/plugin.c" % name)
    if not text.endswith(block.body):
        raise AssertionError("%s is not the end of the plug-in %s" % (block.place, name))
    compile_c(folder, "plugin.c", text, "-shared", "-fPIC", "-o", name + ".so")


def check_flow(block, folder):
    done = abide("check", save(folder, "checked.flow", block.body), folder=folder)
    if done.returncode != 0:
        raise AssertionError("%s:\n%s%s" % (block.place, done.stdout, done.stderr))


def check_settings(block, folder):
    done = abide("config", "check", "--config", save(folder, "abide.toml", block.body),
                 folder=folder)
    if done.returncode != 0:
        raise AssertionError("%s:\n%s%s" % (block.place, done.stdout, done.stderr))


def check_json(block, folder):
    del folder
    json.loads(block.body)


RUNNERS = {"flow": run_flow, "program": run_program, "plugin": check_plugin,
           "compiles": compile_fragment, "checks": check_flow, "settings": check_settings,
           "parses": check_json}


def run_alone(block):
    with tempfile.TemporaryDirectory() as folder:
        RUNNERS[block.kind](block, folder)
