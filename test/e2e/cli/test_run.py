"""abide run on the engine: mocks, scripts, virtual time, plug-ins, stores."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from server import build_plugin, example_plugin  # noqa: E402

ABIDE = os.path.join(BUILD, "abide")


class RunTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text if isinstance(text, str) else json.dumps(text))
        return path

    def run_text(self, text, *arguments, mock=None, script=None, virtual=True):
        more = ["--virtual-time"] if virtual else []
        if mock is not None:
            more += ["--mock", self.file("mock.json", mock)]
        if script is not None:
            more += ["--script", self.file("script.txt", script)]
        return subprocess.run([ABIDE, "run", self.file("main.flow", text), *more, *arguments],
                              capture_output=True, text=True, timeout=60, cwd=self.folder.name)

    def result(self, text, *arguments, **more):
        done = self.run_text(text, *arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def error(self, text, *arguments, code=1, **more):
        done = self.run_text(text, *arguments, **more)
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        return done.stderr


class MockTest(RunTest):
    def test_one_value_answers_every_call(self):
        self.assertEqual(self.result("return [await Task.run('a'), await Task.run('a', 1)]",
                                     mock={"a": {"x": 1}}), [{"x": 1}, {"x": 1}])

    def test_a_list_has_one_entry_per_call(self):
        text = "const got = []\nfor (let i = 0; i < 3; i++) got.push(await Task.run('a'))\nreturn got"
        self.assertEqual(self.result(text, mock={"a": [1, None, {"result": [2, 3]}]}),
                         [1, None, [2, 3]])
        self.assertIn("has 2 answers", self.error(text, mock={"a": [1, 2]}))

    def test_results_that_look_like_something_else_can_be_written(self):
        for value in ([1], {"error": {"message": "x"}}, {"result": 1}, []):
            self.assertEqual(self.result("return await Task.run('a')",
                                         mock={"a": {"result": value}}), value)
        self.assertEqual(self.result("return await Task.run('a')", mock={"a": {"error": 1, "b": 2}}),
                         {"error": 1, "b": 2})

    def test_errors_are_retried_unless_final(self):
        text = ("try { return await Task.run('a', null, {retry: {attempts: 3}}) }"
                " catch (e) { return [e.attempts, e.cause.type, e.cause.message, e.cause.status] }")
        self.assertEqual(self.result(text, mock={"a": [{"error": {}}, {"error": {}}, 7]}), 7)
        error = {"error": {"type": "Odd", "message": "no", "status": 9}}
        self.assertEqual(self.result(text, mock={"a": error}), [3, "Odd", "no", 9])
        error["error"]["final"] = True
        self.assertEqual(self.result(text, mock={"a": error}), [1, "Odd", "no", 9])

    def test_children_are_mocked_even_when_the_file_has_them(self):
        text = ("workflow main(i) { return [await Workflow.run('sub'), await Workflow.run('far')"
                ".catch(e => [e.name, e.cause.message])] }\nworkflow sub(i) { return 'real' }")
        self.assertEqual(self.result(text, mock={"workflow:sub": "mocked", "workflow:far":
                                                 {"error": {"message": "gone"}}}),
                         ["mocked", ["ChildWorkflowError", "gone"]])

    def test_signals_come_when_they_are_waited_for(self):
        text = ("await Timer.delay('1h')\nconst got = [await Signal.next('s'), await Signal.next('s')]\n"
                "return [...got, await Signal.when('s', {timeout: '1m'}).catch(e => e.name)]")
        self.assertEqual(self.result(text, mock={"signal:s": [1, 2]}), [1, 2, "TimeoutError"])
        self.assertEqual(self.result(text, mock={"signal:s": 5}), [5, 5, 5])

    def test_a_child_gets_mocked_signals_too(self):
        text = ("workflow main(i) { return await Workflow.run('sub') }\n"
                "workflow sub(i) { return await Signal.next('s') }")
        self.assertEqual(self.result(text, mock={"signal:s": "hi"}), "hi")

    def test_mocks_win_over_built_in_tasks(self):
        self.assertEqual(self.result("return await Task.run('http', {url: 'x'})",
                                     mock={"http": {"status": 200}}), {"status": 200})

    def test_bad_files_are_usage_errors(self):
        for bad in ("[]", "{", '{"a": {"error": 5}}', '{"signal:s": {"error": {}}}',
                    '{"a": [{"error": {"type": 1}}]}', '{"a": {"error": {"final": "yes"}}}'):
            with self.subTest(bad):
                self.assertIn("mock.json", self.error("return 1", mock=bad, code=2))
        self.error("return 1", "--mock", "/nowhere/mock.json", code=2)


class ScriptTest(RunTest):
    FLOW = ("const log = []\nfor (let i = 0; i < 2; i++)\n"
            "  log.push(await Promise.race([Signal.next('s'), Event.wait('t')]))\nreturn log")

    def test_both_forms_mean_the_same(self):
        lines = '# first\nat 5s signal s {"a": 1}\n\nat 1m event t [2]\n'
        items = [{"at": "1m", "event": "t", "payload": [2]},
                 {"at": 5, "signal": "s", "payload": {"a": 1}}]
        mixed = ["at 1m event t [2]", {"at": "PT5S", "signal": "s", "payload": {"a": 1}}]
        for script in (lines, items, mixed):
            with self.subTest(script):
                done = self.run_text(self.FLOW, script=script)
                self.assertEqual(json.loads(done.stdout), [{"a": 1}, [2]])
                self.assertIn("[+5s] main: gets s", done.stderr)
                self.assertIn("[+1m] main: gets t", done.stderr)

    def test_in_real_time_entries_come_in_time(self):
        self.assertEqual(self.result(self.FLOW, virtual=False,
                                     script="at 0s signal s 1\nat 20ms signal s 2"), [1, 2])

    def test_cancel_lets_the_script_clean_up(self):
        done = self.run_text("try { await Timer.delay('1d') } finally { console.log('tidy') }",
                             script="at 1h cancel")
        self.assertEqual(done.returncode, 1)
        self.assertIn("[+1h] main: > tidy", done.stderr)
        self.assertIn("CancelledError", done.stderr)

    def test_another_run_can_be_addressed(self):
        text = ("workflow main(i) { return await Workflow.run('sub', null, {id: 'kid'}) }\n"
                "workflow sub(i) { return await Signal.next('s') }")
        self.assertEqual(self.result(text, script=[{"at": 1, "run": "kid", "signal": "s",
                                                    "payload": 3}]), 3)

    def test_an_entry_that_comes_too_late_is_told(self):
        done = self.run_text("await Timer.delay('1s'); return 1",
                             script=[{"at": 0, "run": "nobody", "signal": "s"}])
        self.assertEqual(done.stdout, "1\n")
        self.assertIn("script: ", done.stderr)

    def test_bad_files_are_usage_errors(self):
        for bad in ("5s signal s", "at soon signal s", "at 5s poke s", "at 5s signal", "[{}]",
                    '[{"at": 1}]', '[{"at": 1, "signal": "s", "event": "t"}]', "[1]", "[",
                    '[{"at": -1, "cancel": true}]', "at 5s signal s {", '[{"at":1,"sginal":"s"}]'):
            with self.subTest(bad):
                self.assertIn("script.txt", self.error("return 1", script=bad, code=2))


class TimeTest(RunTest):
    def test_a_month_takes_no_time(self):
        text = ("const before = Date.now()\nfor (let i = 0; i < 30; i++) await Timer.delay('1d')\n"
                "return Date.now() - before")
        self.assertEqual(self.result(text), 30 * 86400 * 1000)

    def test_time_begins_where_it_is_told(self):
        text = "await Timer.until(new Date('2030-01-01T00:00:00Z')); return new Date().toISOString()"
        self.assertEqual(self.result(text, "--now", "2029-12-31T23:00:00Z"),
                         "2030-01-01T00:00:00.000Z")
        self.error(text, "--now", "then", code=2)
        self.error(text, "--now", "2029-12-31T23:00:00Z", virtual=False, code=2)

    def test_the_output_is_the_same_each_time(self):
        text = ("const names = ['a', 'b', 'c', 'd']\n"
                "await Promise.all(names.map(async n => { await Task.run(n); await Timer.delay(n === 'a'"
                " ? 2 : 1); console.log(n) }))\nStream.write(1, 'x'); Event.emit('t', 2)")
        mock = {"a": 1, "b": 2, "c": 3, "d": 4}
        outputs = {self.run_text(text, mock=mock).stderr for _ in range(5)}
        self.assertEqual(len(outputs), 1, outputs)
        for line in ("[+2s] main: > a", "[+2s] main: stream x 1", "[+2s] main: event t 2"):
            self.assertIn(line, outputs.copy().pop())

    def test_continue_as_goes_on_with_time(self):
        text = ("const n = Inputs ?? 0; await Timer.delay('1h'); if (n < 3) Workflow.continueAs(n + 1)\n"
                "return n")
        done = self.run_text(text)
        self.assertEqual(done.stdout, "3\n")
        self.assertIn("[+3h] main: begins again 3", done.stderr)
        self.assertIn("[+4h] main: completed 3", done.stderr)

    def test_console_stream_and_events_are_printed_in_real_time_too(self):
        done = self.run_text("console.warn('w', 1); await Timer.delay(0); Stream.write({a: 1}, 'p')\n"
                             "Event.emit('t', [1]); return 1", virtual=False)
        self.assertEqual(done.stderr, 'w 1\nstream p {"a":1}\nevent t [1]\n')


class StuckTest(RunTest):
    def test_what_cannot_come_is_named(self):
        for text, named in (("await Task.run('charge')", 'task "charge"'),
                            ("await Signal.next('go')", 'signal "go"'),
                            ("await Event.wait('news')", 'event "news"'),
                            ("workflow main(i) { await Workflow.run('sub') }\n"
                             "workflow sub(i) { await Task.run('deep') }", 'task "deep"')):
            for virtual in (True, False):
                with self.subTest(named, virtual=virtual):
                    self.assertIn(named, self.error(text, virtual=virtual))

    def test_a_task_nobody_waits_for_still_runs(self):
        done = self.run_text("void Task.run('log', 'by the way'); await Timer.delay('20ms'); return 1",
                             virtual=False)
        self.assertEqual((done.stdout, done.stderr), ("1\n", "by the way\n"))

    def test_errors_of_scripts_keep_their_stack(self):
        text = "async function f() {\n  await Timer.delay(1)\n  null.x\n}\nawait f()"
        lines = self.error(text, virtual=False).splitlines()
        self.assertEqual(lines[0], "Uncaught TypeError: Cannot read properties of null (reading 'x')")
        self.assertRegex(lines[1], r"^    at (async )?f \(main\.flow:3:8\)$")

    def test_budgets_hold_on_the_engine_too(self):
        self.assertIn("BudgetError", self.error("await Timer.delay(1); for (;;);",
                                                "--max-steps", "100000"))
        self.assertIn("memory", self.error("await Timer.delay(1); const a = []; for (;;) a.push({})",
                                           "--memory", "4M"))


class QueueTest(RunTest):
    FLOW = ("const began = Date.now(), times = []\nawait Promise.all([1, 2, 3, 4, 5].map(async n => {"
            " await Task.run('t', n, {queue: 'eu:q'}); times.push((Date.now() - began) / 1000) }))\n"
            "return times")

    def test_limits_hold(self):
        self.assertEqual(self.result(self.FLOW, mock={"t": 1}), [0, 0, 0, 0, 0])
        self.assertEqual(self.result(self.FLOW, "--queue", "eu:q:rate=2/1m", mock={"t": 1}),
                         [0, 0, 60, 60, 120])
        self.assertEqual(self.result(self.FLOW, "--queue", "eu:q:max=1,per-key=1", mock={"t": 1}),
                         [0, 0, 0, 0, 0])

    def test_what_does_not_read_like_limits_is_refused(self):
        for bad in ("q", "q:", ":max=1", "q:max", "q:max=x", "q:rate=3", "q:rate=3/", "q:size=1",
                    "q:rate=3/soon", "q:max=-1"):
            with self.subTest(bad):
                self.error("return 1", "--queue", bad, code=2)


class PluginTest(RunTest):
    def build(self, name, text, *flags):
        return build_plugin(os.path.join(self.folder.name, name), text, *flags)

    def example(self):
        return example_plugin("plugin-numbers")

    def test_the_example_works(self):
        path = self.build("numbers.so", self.example())
        text = ("const next = [await Task.run('next'), await Task.run('next')]\n"
                "return [await Task.run('double', 21), ...next,"
                " await Task.run('double', 'x').catch(e => e.cause.type)]")
        self.assertEqual(self.result(text, "--plugin", path), [42, 1, 2, "TypeError"])
        self.assertEqual(self.result(text, "--plugin", "numbers.so"), [42, 1, 2, "TypeError"])
        self.assertEqual(self.result("return await Task.run('double', 1)", "--plugin", path,
                                     mock={"double": "mocked"}), "mocked")

    def test_what_cannot_be_loaded_is_explained(self):
        none = self.build("none.so", "int nothing(void); int nothing(void) { return 0; }")
        other = self.build("other.so", self.example().replace(
            'ABIDE_PLUGIN("numbers", init);', "extern const abide_plugin_info abide_plugin;\n"
            'const abide_plugin_info abide_plugin = {99, "n", init};'))
        unknown = self.build("unknown.so", self.example().replace(
            "static int init(", "int abide_no_such_thing(void);\nstatic int init(").replace(
            "ABIDE_TRY(abide_on_close", "abide_no_such_thing();\n    ABIDE_TRY(abide_on_close"))
        twice = self.build("twice.so", self.example().replace('"double"', '"log"'))
        for path, words in (("/nowhere/x.so", ["no plug-in"]), (none, ["no plug-in of abide"]),
                            (other, ["version 99", "version 1"]),
                            (unknown, ["cannot be loaded", "abide_no_such_thing"]),
                            (self.file("text.so", "hello"), ["cannot be loaded"]),
                            (twice, ["numbers", "registered already"])):
            with self.subTest(path):
                message = self.error("return 1", "--plugin", path, code=2)
                for word in words:
                    self.assertIn(word, message)


class StoreTest(RunTest):
    FLOW = ("const first = await Task.run('exec', {argv: ['sh', '-c', 'echo x >> effects; echo 1']})\n"
            "console.log('waiting')\nconst go = await Signal.when('go', {timeout: '1h'})\n"
            "const second = await Task.run('exec', {argv: ['sh', '-c', 'echo y >> effects; echo 2']})\n"
            "return [first, go, second]")

    def command(self, *more):
        path = self.file("main.flow", self.FLOW)
        return [ABIDE, "run", path, "--allow-exec", "--store", "sqlite:runs.db", *more]

    def effects(self):
        with open(os.path.join(self.folder.name, "effects"), encoding="utf-8") as file:
            return file.read().split()

    def test_a_run_that_was_killed_goes_on(self):
        with subprocess.Popen(self.command(), cwd=self.folder.name, stderr=subprocess.PIPE,
                              text=True) as child:
            # Console lines come after the commit of their turn: the run is parked.
            self.assertEqual(child.stderr.readline(), "waiting\n")
            child.send_signal(signal.SIGKILL)
        self.assertEqual(self.effects(), ["x"])
        script = self.file("go.txt", "at 0s signal go 7")
        done = subprocess.run(self.command("--script", script), cwd=self.folder.name,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.stdout, "[1,7,2]\n", done.stderr)
        self.assertIn("going on with run main", done.stderr)
        self.assertEqual(self.effects(), ["x", "y"])
        again = subprocess.run(self.command(), cwd=self.folder.name, capture_output=True, text=True,
                               timeout=60)
        self.assertEqual(again.stdout, "[1,7,2]\n")
        self.assertEqual(self.effects(), ["x", "y"])

    def test_other_ids_are_other_runs(self):
        script = self.file("go.txt", "at 0s signal go true")
        for name in ("a", "b"):
            done = subprocess.run(self.command("--id", name, "--script", script),
                                  cwd=self.folder.name, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.stdout, "[1,true,2]\n", done.stderr)
        self.assertEqual(self.effects(), ["x", "y"] * 2)

    def test_a_store_that_does_not_open_is_a_usage_error(self):
        self.error("return 1", "--store", "sqlite:/nowhere/at/all/x.db", code=2)
        self.error("return 1", "--store", "ftp://x", code=2)


if __name__ == "__main__":
    tap.main()
