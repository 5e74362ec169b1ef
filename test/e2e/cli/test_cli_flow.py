"""abide check, run and disasm as a user meets them: output, streams and exit codes."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

ABIDE = os.path.join(BUILD, "abide")


class CliTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def abide(self, *arguments, text=None):
        return subprocess.run([ABIDE, *arguments], input=text, capture_output=True, text=True,
                              timeout=60)

    def run_text(self, text, *arguments):
        return self.abide("run", self.file("script.flow", text), *arguments)


class RunTest(CliTest):
    def test_prints_the_result_as_json(self):
        answer = self.run_text("return { a: [1, 'x', null], b: undefined }")
        self.assertEqual((answer.returncode, answer.stdout), (0, '{"a":[1,"x",null]}\n'))

    def test_undefined_prints_null(self):
        self.assertEqual(self.run_text("let a = 1").stdout, "null\n")

    def test_input_comes_from_the_command_line_or_a_file(self):
        text = "return Inputs.n * 2"
        self.assertEqual(self.run_text(text, "--input", '{"n": 21}').stdout, "42\n")
        path = self.file("input.json", '{"n": 4}')
        self.assertEqual(self.run_text(text, "--input=@" + path).stdout, "8\n")

    def test_bad_input_is_a_usage_error(self):
        for value in ("{n: 1}", "@/nowhere/at/all"):
            answer = self.run_text("return 1", "--input", value)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertTrue(answer.stderr.startswith("abide: "), answer.stderr)

    def test_console_lines_go_to_stderr(self):
        answer = self.run_text("console.log('hello', 1); console.error('bad'); return 5")
        self.assertEqual((answer.stdout, answer.stderr), ("5\n", "hello 1\nbad\n"))

    def test_an_uncaught_error_has_a_stack_and_exit_code_1(self):
        answer = self.run_text("function f() {\n  null.x\n}\nf()")
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        lines = answer.stderr.splitlines()
        self.assertEqual(lines[0],
                         "Uncaught TypeError: Cannot read properties of null (reading 'x')")
        self.assertRegex(lines[1], r"^    at f \(.*script\.flow:2:8\)$")
        self.assertRegex(lines[2], r"^    at .*script\.flow:4:1\)?$")

    def test_anything_can_be_thrown(self):
        answer = self.run_text("throw { code: 7 }")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("Uncaught", answer.stderr)

    def test_a_file_that_does_not_load_has_exit_code_2(self):
        answer = self.run_text("let a = ;\nreturn 1")
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn("script.flow:1:9", answer.stderr)
        self.assertEqual(self.abide("run", "/nowhere.flow").returncode, 2)

    def test_usage_errors_have_exit_code_2(self):
        path = self.file("a.flow", "return 1")
        for arguments in (["run"], ["run", path, path], ["run", path, "--nope"],
                          ["run", path, "--max-steps", "x"], ["run", path, "--input"],
                          ["run", "--batch", path], ["run", path, "--workflow", "other"],
                          [], ["nonsense"], ["version", "x"], ["check"], ["disasm"],
                          ["check", path, "-o", "xml"]):
            with self.subTest(arguments):
                answer = self.abide(*arguments)
                self.assertEqual(answer.returncode, 2)
                self.assertEqual(answer.stdout, "")
                self.assertNotEqual(answer.stderr, "")

    def test_timers_really_wait(self):
        start = time.monotonic()
        answer = self.run_text("await Timer.delay('150ms'); await Task.delay(0.05); return 1")
        self.assertEqual(answer.stdout, "1\n")
        self.assertGreaterEqual(time.monotonic() - start, 0.2)

    def test_timers_fire_in_order_of_their_time(self):
        answer = self.run_text("const log = []\nawait Promise.all([60, 20, 40].map(async n => {"
                               " await Timer.delay(n + 'ms'); log.push(n) }))\nreturn log")
        self.assertEqual(answer.stdout, "[20,40,60]\n")

    def test_awaiting_a_task_nobody_handles_names_it(self):
        answer = self.run_text("await Task.run('charge', { id: 1 })")
        self.assertEqual(answer.returncode, 1)
        self.assertIn('task "charge"', answer.stderr)
        answer = self.run_text("await Signal.next('go')")
        self.assertIn('signal "go"', answer.stderr)

    def test_a_task_nobody_waits_for_is_no_error(self):
        self.assertEqual(self.run_text("Task.run('log'); return 1").stdout, "1\n")

    def test_a_signal_with_a_timeout_times_out(self):
        answer = self.run_text("try { await Signal.when('go', { timeout: '30ms' }) }"
                               " catch (e) { return e.name }")
        self.assertEqual(answer.stdout, '"TimeoutError"\n')

    def test_a_promise_nothing_can_settle_ends_the_run(self):
        answer = self.run_text("await new Promise(() => {})")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("nothing can settle", answer.stderr)

    def test_endless_loops_stop_at_max_steps(self):
        answer = self.run_text("for (;;);", "--max-steps", "100000")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("stopped after 100000 steps", answer.stderr)

    def test_memory_is_limited(self):
        answer = self.run_text("const a = []; for (;;) a.push({ a: 1 })", "--memory", "4M")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("memory", answer.stderr)

    def test_a_workflow_is_chosen_by_name(self):
        text = "workflow one(i) { return 'one ' + i }\nworkflow two(i) { return 'two ' + i }"
        self.assertEqual(self.run_text(text, "--input", "1").stdout, '"one 1"\n')
        answer = self.run_text(text, "--workflow", "two", "--input", "2")
        self.assertEqual(answer.stdout, '"two 2"\n')

    def test_continue_as_begins_again_with_the_new_input(self):
        answer = self.run_text("const n = Inputs ?? 0; if (n < 3) Workflow.continueAs(n + 1);"
                               " return n")
        self.assertEqual(answer.stdout, "3\n")

    def test_state_and_context_are_there(self):
        answer = self.run_text("State.set('k', { a: 1 }); return [State.get('k'), State.get('z'),"
                               " Context.workflow, Context.attempt]")
        self.assertEqual(json.loads(answer.stdout), [{"a": 1}, None, "script", 1])


class BatchTest(CliTest):
    def batch(self, *programs):
        frames = b"".join(b"%d\n%s" % (len(p.encode()), p.encode()) for p in programs)
        done = subprocess.run([ABIDE, "run", "--batch"], input=frames, capture_output=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0)
        rest, answers = done.stdout, []
        while rest:
            length, rest = rest.split(b"\n", 1)
            answers.append(json.loads(rest[:int(length)]))
            rest = rest[int(length):]
        return answers

    def test_each_program_gets_its_answer(self):
        answers = self.batch("return 1", "throw new RangeError('no')", "let = 1", "return 'é'")
        self.assertEqual(answers[0], {"ok": True, "result": 1})
        self.assertEqual(answers[1]["phase"], "run")
        self.assertEqual(answers[1]["error"]["name"], "RangeError")
        self.assertEqual(answers[1]["error"]["message"], "no")
        self.assertEqual(answers[2]["phase"], "load")
        self.assertEqual(answers[3]["result"], "é")

    def test_programs_do_not_see_each_other(self):
        answers = self.batch("globalThis.x = 1; Array.prototype.y = 2; return 1",
                             "return [typeof x, [].y === undefined]")
        self.assertEqual(answers[1]["result"], ["undefined", True])

    def test_no_programs_no_answers(self):
        self.assertEqual(self.batch(), [])


class CheckTest(CliTest):
    def test_a_good_file(self):
        answer = self.abide("check", self.file("a.flow", "return 1"))
        self.assertEqual((answer.returncode, answer.stdout), (0, "1 file checked, no errors\n"))

    def test_findings_show_the_place_and_a_hint(self):
        answer = self.abide("check", self.file("a.flow", "const a = 1\nrequire('fs')\n"))
        self.assertEqual(answer.returncode, 1)
        self.assertIn("a.flow:2:1", answer.stderr)
        self.assertIn("^^^^^^^", answer.stderr)
        self.assertIn("hint:", answer.stderr)

    def test_several_findings_in_several_files(self):
        first = self.file("a.flow", "let a = ;\nlet b = ;\n")
        second = self.file("b.flow", "return /(/")
        answer = self.abide("check", first, second, "-o", "json")
        findings = json.loads(answer.stdout)
        self.assertEqual(answer.returncode, 1)
        self.assertEqual([(os.path.basename(f["file"]), f["line"]) for f in findings],
                         [("a.flow", 1), ("a.flow", 2), ("b.flow", 1)])
        for finding in findings:
            self.assertEqual(finding["severity"], "error")
            self.assertTrue(finding["message"])

    def test_json_of_good_files_is_an_empty_array(self):
        answer = self.abide("check", "-ojson", self.file("a.flow", "return 1"))
        self.assertEqual((answer.returncode, answer.stdout), (0, "[]\n"))

    def test_a_missing_file_is_a_usage_error(self):
        self.assertEqual(self.abide("check", "/nowhere.flow").returncode, 2)

    def test_watch_checks_again_when_a_file_is_saved(self):
        path = self.file("a.flow", "return 1")
        with subprocess.Popen([ABIDE, "check", "--watch", "-o", "json", path],
                              stdout=subprocess.PIPE, text=True) as child:
            try:
                self.assertEqual(child.stdout.readline(), "[]\n")
                self.file("a.flow", "let = 1")
                self.assertEqual(len(json.loads(child.stdout.readline())), 1)
                other = self.file("new.flow", "return 2")
                os.rename(other, path)
                self.assertEqual(child.stdout.readline(), "[]\n")
            finally:
                child.kill()

    def check(self, text, *options):
        return self.abide("check", self.file("a.flow", text), *options)

    def test_everything_that_cannot_work_is_found_in_one_go(self):
        answer = self.check("await Tasks.run('x')\nsleep(5)\ntotal = 1\nawait Task.start('x')\n"
                            "await Signal.when('x', { timout: '1s' })\nawait Task.run()\n")
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        for code, line, hint in (("UNDECLARED", "1:7", "Did you mean `Task`?"),
                                 ("UNDECLARED", "2:1", "Timer.delay"),
                                 ("UNDECLARED", "3:1", "let total"),
                                 ("MEMBER", "4:12", "Did you mean `run`?"),
                                 ("OPTION", "5:26", "Did you mean `timeout`?"),
                                 ("ARGUMENT", "6:7", "Task.run(name, input?, options?)")):
            self.assertRegex(answer.stderr,
                             r"error\[FLOW_%s\][^\[]*a\.flow:%s\n[^\[]*%s"
                             % (code, line, hint.replace("(", r"\(").replace(")", r"\)")
                                .replace("?", r"\?").replace(".", r"\.")))
        self.assertTrue(answer.stderr.endswith("6 errors\n"), answer.stderr)

    def test_warnings_do_not_fail_unless_told(self):
        answer = self.check("Timer.delay('1s')\nTask.run('x')\n")
        self.assertEqual((answer.returncode, answer.stdout),
                         (0, "1 file checked, no errors, 2 warnings\n"))
        self.assertEqual(answer.stderr.count("warning[FLOW_UNAWAITED]"), 2)
        self.assertEqual(self.check("Timer.delay('1s')", "--warnings-as-errors").returncode, 1)
        quiet = self.check("void Timer.delay('1s')", "--warnings-as-errors")
        self.assertEqual((quiet.returncode, quiet.stderr), (0, ""))

    def test_json_has_what_the_text_has(self):
        [finding] = json.loads(self.check("await Tasks.run('x')", "-o", "json").stdout)
        expected = {"severity": "error", "code": "FLOW_UNDECLARED", "line": 1, "column": 7,
                    "endColumn": 12, "suggestion": "Task", "hint": "Did you mean `Task`?",
                    "excerpt": "await Tasks.run('x')"}
        self.assertEqual({key: finding[key] for key in expected}, expected)

    def test_what_cannot_work_does_not_run(self):
        answer = self.run_text("console.log('begun')\nsleep(5)")
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn("error[FLOW_UNDECLARED]", answer.stderr)
        self.assertNotIn("begun", answer.stderr)
        answer = self.run_text("Promise.all([])\nreturn 1")
        self.assertEqual((answer.returncode, answer.stdout), (0, "1\n"))
        self.assertIn("warning[FLOW_UNAWAITED]", answer.stderr)
        self.assertEqual(self.abide("disasm", self.file("a.flow", "sleep(5)")).returncode, 0)

    def test_the_api_prints_as_json(self):
        api = json.loads(self.abide("check", "--api").stdout)
        calls = {"%s.%s" % (thing["name"], member["name"]): member
                 for thing in api["objects"] for member in thing["members"]}
        self.assertEqual([field["name"] for field in calls["Signal.when"]["parameters"]],
                         ["name", "options"])
        options = calls["Event.wait"]["parameters"][1]["options"]
        self.assertEqual([field["name"] for field in options], ["timeout", "filter"])
        self.assertEqual(calls["Context.runId"]["returns"], "property")
        self.assertIn("timeout", [key["name"] for key in api["config"]])
        self.assertIn("Inputs", api["globals"])

    def test_the_book_shows_what_is_printed(self):
        with open(os.path.join(SOURCE, "docs", "language.md"), encoding="utf-8") as page:
            text = page.read().split("## What the check finds")[1].split("\n## ")[0]
        shown = text.split("```text\n")[1].split("```\n")[0]
        line = re.search(r"   9 \| (.*)", shown).group(1)
        path = self.file("order.flow", "\n" * 8 + line)
        answer = subprocess.run([ABIDE, "check", os.path.basename(path)], cwd=self.folder.name,
                                capture_output=True, text=True, timeout=60)
        self.assertIn(shown, answer.stderr)
        rows = re.findall(r"^\| `(FLOW_\w+)` \| (\w+) \| .* \| (.*) \|$", text, re.M)
        self.assertEqual(len(rows), 5)
        for code, severity, examples in rows:
            for example in re.findall("`([^`]*)`", examples):
                if example.startswith("{"):
                    example = "await Task.run('x', 1, %s)" % example
                program = "let items = [], text = '', total = 0\n" + example.replace("…", "1")
                found = json.loads(self.check(program, "-o", "json").stdout)
                self.assertEqual({item["code"] for item in found if item["severity"] == severity},
                                 {code}, example)


class OtherTest(CliTest):
    def test_disasm_lists_code_and_source(self):
        answer = self.abide("disasm", self.file("a.flow", "const f = x => x + 1\nreturn f(2)"))
        self.assertEqual(answer.returncode, 0)
        self.assertIn("ADD_INT", answer.stdout)
        self.assertIn("1 | const f = x => x + 1", answer.stdout)
        self.assertIn('"f"', answer.stdout)
        self.assertEqual(self.abide("disasm", self.file("b.flow", "let =")).returncode, 2)

    def test_help_and_version(self):
        self.assertRegex(self.abide("version").stdout, r"^abide \d+\.\d+\.\d+\n$")
        answer = self.abide("--help")
        self.assertEqual(answer.returncode, 0)
        for command in ("check", "run", "disasm"):
            self.assertIn(command, answer.stdout)
            text = self.abide(command, "--help")
            self.assertEqual(text.returncode, 0)
            self.assertIn("Examples:\n  abide " + command, text.stdout)

    def test_operands_may_follow_a_double_dash(self):
        self.file("-odd.flow", "return 7")
        answer = subprocess.run([ABIDE, "run", "--", "-odd.flow"], cwd=self.folder.name,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(answer.stdout, "7\n")


if __name__ == "__main__":
    tap.main()
