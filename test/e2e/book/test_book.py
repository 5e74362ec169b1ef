"""The book: every example of README.md and docs/ is run, every link leads somewhere, and every
table that has a source in the engine agrees with it. guide.py says how an example is marked."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import guide  # noqa: E402
import tap  # noqa: E402
from guide import SOURCE, read  # noqa: E402
from server import ABIDE, Server  # noqa: E402


def all_pages():
    found = glob.glob(os.path.join(SOURCE, "docs", "**", "*.md"), recursive=True)
    found += glob.glob(os.path.join(SOURCE, "*.md"))
    found += glob.glob(os.path.join(SOURCE, "examples", "**", "*.md"), recursive=True)
    return sorted(os.path.relpath(path, SOURCE) for path in found)


class Examples(unittest.TestCase):
    """One test per page that has examples; they are added below."""

    def run_page(self, page):
        for block in guide.blocks(page):
            if block.kind in guide.RUNNERS:
                guide.run_alone(block)
        for title, items in guide.sessions(page):
            by = re.search(r" by (\S+)$", title)
            if by:  # that test is the one that runs it
                [script] = glob.glob(os.path.join(SOURCE, "test", "e2e", "*", by.group(1)))
                self.assertIn(page, read(script), title)
            else:
                self.assertGreater(guide.run_session(title, items), 0, title)


def add_pages():
    for page in all_pages():
        has_some = guide.sessions(page) or any(block.kind in guide.RUNNERS
                                               for block in guide.blocks(page))
        if has_some:
            name = "test_" + re.sub(r"\W", "_", page.removesuffix(".md")).lower()
            setattr(Examples, name, lambda self, page=page: self.run_page(page))


class Marks(unittest.TestCase):
    def test_every_block_is_tested_or_says_why_not(self):
        found = [fault for page in all_pages() for fault in guide.faults(page)]
        self.assertEqual(found, [])

    def test_make_run_is_what_the_readme_runs(self):
        self.assertIn("\nrun: all\n\t@tools/run\n", read("Makefile"))

    def test_blocks_without_a_mark_are_noticed(self):
        for text in ("```sh\nls\n```\n", "```\nx\n```\n", "```c\nint x;\n```\n",
                     "<!-- not run: -->\n```sh\nls\n```\n", "<!-- wrong -->\n```js\n1\n```\n",
                     "<!-- session: a -->\n```json\n1\n```\n<!-- end -->\n",
                     "<!-- checks -->\n```c\nint x;\n```\n"):
            self.assertEqual(len(guide.faults("page.md", text)), 1, text)
        for text in ("```text\nx\n```\n", "<!-- not run: needs root -->\n```sh\nls\n```\n",
                     "<!-- flow: a.flow input=1 -->\n```js\nreturn 1\n```\n\n```json\n1\n```\n",
                     "<!-- session: a -->\n```json x.json\n1\n```\n```console\n$ ls\n```\n"):
            self.assertEqual(guide.faults("page.md", text), [], text)

    def test_a_session_that_prints_something_else_fails(self):
        for text in ("```console\n$ echo one\ntwo\n```\n", "```sh\nfalse\n```\n",
                     '<!-- terminal: t until="never" -->\n```sh\ntrue\n```\n'):
            items = guide.parse("page.md", "<!-- session: s -->\n" + text)
            with self.assertRaises(AssertionError):
                guide.run_session("s", items)


def anchors(text):
    """The names that GitHub and others give to headings."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M), re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", title).lower()).replace(" ", "-")
            for title in titles}


class Links(unittest.TestCase):
    def test_every_link_leads_somewhere(self):
        broken = []
        for page in all_pages():
            for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
                if re.match(r"https?:|mailto:", target):
                    continue
                path, _, anchor = target.partition("#")
                full = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                if not os.path.exists(os.path.join(SOURCE, full)) or (
                        anchor and anchor not in anchors(read(full))):
                    broken.append("%s: %s" % (page, target))
        self.assertEqual(broken, [])

    def test_the_index_names_every_page(self):
        index = read("docs/README.md")
        for page in all_pages():
            if page.startswith("docs/decisions/") or page in ("docs/README.md", "CHANGELOG.md",
                                                              "examples/flows/README.md"):
                continue
            link = os.path.relpath(page, "docs")
            self.assertIn("](%s)" % link, index, page)


# Words of the workshop: stages of the project, and private names of things that have one in the
# glossary.
PRIVATE = re.compile(r"\bparts? \d|documents? this was made|\bherds?\b|\bmend\b|\bset aside\b|\bunless told\b"
                     r"|\bbroken off\b|\btime-outs?\b|\bunder way\b(?!`)", re.I)


class Words(unittest.TestCase):
    def test_pages_speak_of_no_stages_and_use_the_terms_of_the_glossary(self):
        for page in all_pages():
            if not page.startswith(("docs/decisions/", "CHANGELOG")):
                found = [match.group() for match in PRIVATE.finditer(read(page))]
                self.assertEqual(found, [], page)


# A value that each option accepts, for options that have none in their "default" column.
VALUES = {"queue": "mail", "priority": 5, "delay": "1ms", "timeout": "1m", "scheduleTimeout": "1m",
          "heartbeatTimeout": "1m", "key": "k", "concurrencyKey": "c", "id": "other", "ttl": "1h",
          "startAt": "2020-01-01T00:00:00Z", "tags": ["a"], "parentClose": "cancel",
          "filter": {"a": 1}, "retry.nonRetryable": ["Bad"]}
ALTERNATIVES = {"delay", "startAt"}  # which do not go together
UNLESS_LATE = ".catch(error => { if (error.name != 'TimeoutError') throw error })"


class Options(unittest.TestCase):
    """The tables of options in the language page, against the engine and the editor's types."""

    def table(self, heading):
        """{option: its default} of the table below a heading."""
        section = read("docs/language.md").split("\n### %s\n" % heading)[1].split("\n#")[0]
        rows = re.findall(r"^\| `([\w.]+)` \|[^|]*\|([^|]*)\|", section, re.M)
        return {name: default.strip().strip("`") for name, default in rows}

    def declared(self, start):
        """The optional members between `start` and the next brace in the declarations."""
        text = read("editor/abide.d.ts")
        body = text[text.index(start) + len(start):].split("}")[0]
        return set(re.findall(r"(?:^|[{;\s])(\w+)\?: ", body))

    def literal(self, options):
        """An object literal with a good value for each option: its default, if it has a value."""
        flat, retry = {}, {}
        for name, default in options.items():
            if name == "retry":
                continue
            is_value = re.fullmatch(r'\d+|".*"', default)
            value = json.loads(default) if is_value else VALUES[name]
            (retry if name.startswith("retry.") else flat)[name.removeprefix("retry.")] = value
        return json.dumps(flat | ({"retry": retry} if retry else {}))

    def run_flow(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = guide.save(folder, "main.flow", text)
            return guide.abide("run", path, "--virtual-time", folder=folder)

    def check(self, heading, call, *starts):
        options = self.table(heading)
        names = {name.removeprefix("retry.") for name in options}
        self.assertEqual(names, set().union(*(self.declared(start) for start in starts)))
        for left_out in (ALTERNATIVES if ALTERNATIVES <= names else {None}):
            given = {name: default for name, default in options.items() if name != left_out}
            done = self.run_flow(call % self.literal(given))
            self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_flow(call % '{ "nonsense": 1 }')
        self.assertIn("nonsense", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_task_run(self):
        self.check("Task.run", 'await Task.run("log", "x", %s)', "interface TaskOptions {",
                   "interface RetryOptions {")

    def test_workflow_run(self):
        call = "workflow main() { await Workflow.run('other', 1, %s) }\nworkflow other() { }"
        self.check("Workflow.run and Workflow.start", call, "interface WorkflowOptions {")

    def test_signal_when(self):
        call = "await Signal.when('x', %s)" + UNLESS_LATE
        self.check("Signal.when", call, "function when<T = any>(name: string, options?: {")

    def test_event_wait(self):
        call = "await Event.wait('x', %s)" + UNLESS_LATE
        self.check("Event.wait", call, "function wait<T = any>(topic: string, options?: {")

    def test_defaults_of_retries(self):
        """A task that always fails is tried when the table says."""
        table = self.table("Task.run")
        attempts, factor = int(table["retry.attempts"]), int(table["retry.factor"])
        self.assertEqual(table["retry.delay"], '"1s"')
        text = ('const began = Date.now()\ntry { await Task.run("fail", {}) } catch (error) {'
                ' return [error.attempts, Math.floor((Date.now() - began) / 1000)] }')
        done = self.run_flow(text)
        self.assertEqual(json.loads(done.stdout), [attempts, 1 + factor])


UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def amount(text):
    """The first number in a cell, in bytes if it has a unit: "4 MiB of JSON" -> 4194304."""
    number, unit = re.search(r"([\d,]+)(?: (KiB|MiB|GiB))?", text).groups()
    return int(number.replace(",", "")) * UNITS.get(unit, 1)


class Tables(unittest.TestCase):
    """Tables of the pages against what the program itself says."""

    def test_the_page_on_limits_has_every_limit_and_its_value(self):
        source = re.findall(r"X\([A-Z_]+, (\w+), ([\d <]+), ", read("src/base/limits.h"))
        wanted = {}
        for name, value in source:
            number, _, shift = value.partition(" << ")
            wanted[name] = int(number) << int(shift or 0)
        self.assertGreater(len(wanted), 40)
        listed = {}
        for row in re.findall(r"^\|(.*)\|$", read("docs/limits.md"), re.M):
            cells = [cell.strip() for cell in row.split(" | ")]
            for i, cell in enumerate(cells):
                name = re.fullmatch(r"`(\w+)`", cell)
                if name and name.group(1) in wanted:  # by its name, or before it in the cell
                    listed[name.group(1)] = amount(cells[1 if i else i + 1])
        self.assertEqual(listed, wanted)

    def test_the_pages_on_http_have_a_row_for_every_route(self):
        server = Server()
        self.addCleanup(server.close)
        document = server.get("/openapi.json").json["paths"]
        wanted = {"%s %s" % (method.upper(), path) for path, methods in document.items()
                  for method in methods}
        listed = [found for page in ("docs/http.md", "docs/handlers.md")
                  for found in re.findall(r"^\| `([A-Z]+ /\S*)` \|", read(page), re.M)]
        self.assertEqual(sorted(listed), sorted(wanted))

    def test_alerts_ask_for_metrics_that_exist(self):
        page = read("docs/metrics.md")
        names = set(re.findall(r"^\| `(\w+)` \|", page, re.M))
        rules, = [block.body for block in guide.blocks("docs/metrics.md")
                  if block.language == "promql"]
        asked = set(re.findall(r"\b(?:abide|process)_\w+", rules))
        self.assertGreater(len(asked), 5)
        self.assertEqual({name.removesuffix("_bucket") for name in asked} - names, set())

    def commands(self, *path):
        """All commands below `path`, as in ("wf", "start")."""
        text = subprocess.run([ABIDE, *path, "--help"], capture_output=True, text=True,
                              check=True).stdout
        listed = re.search(r"\nCommands:\n((?:  \S+ .*\n)+)", text)
        if not listed:
            return [path]
        names = [line.split()[0] for line in listed.group(1).splitlines()]
        return [found for name in names for found in self.commands(*path, name)]

    def test_the_command_line_page_has_a_row_for_every_command(self):
        page, commands = read("docs/cli.md"), self.commands()
        self.assertGreater(len(commands), 50)
        missing = [" ".join(path) for path in commands
                   if not re.search(r"^\| `%s[ `]" % " ".join(path), page, re.M)]
        self.assertEqual(missing, [])


add_pages()

if __name__ == "__main__":
    tap.main()
