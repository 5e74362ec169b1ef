"""abide sim: what it finds, what it does not, and that what it prints can be played again."""
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "sim"))
import tap  # noqa: E402
from planted import PLANTED  # noqa: E402

ABIDE = os.path.join(os.environ["ABIDE_BUILD_DIR"], "abide")
DECLINED = {"error": {"message": "declined", "final": True}}


class SimTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, text):
        with open(os.path.join(self.folder.name, name), "w", encoding="utf-8") as out:
            out.write(text if isinstance(text, str) else json.dumps(text))
        return name

    def abide(self, *arguments):
        return subprocess.run([ABIDE, *arguments], capture_output=True, text=True, timeout=300, cwd=self.folder.name)

    def sim(self, source, mocks, *options):
        self.file("main.flow", textwrap.dedent(source).strip() + "\n")
        self.file("mocks.json", mocks)
        return self.abide("sim", "main.flow", "--mock", "mocks.json", *options)

    def assert_nothing(self, done):
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertRegex(done.stderr, r"nothing found in \d+ histories with \d+ states: all there are\n$")

    def assert_found(self, done, sentence):
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(sentence, done.stderr)
        return [line for line in done.stdout.splitlines() if not line.startswith("#")]

    def replay(self, script, *options):
        self.file("found.txt", script)
        return self.abide("run", "main.flow", "--mock", "mocks.json", "--script", "found.txt", *options)


class PlantedTest(SimTest):
    """Each mistake is found, the same way each time; what was found can be replayed; its twin is clean."""

    def check(self, planted):
        done = self.sim(planted.wrong, planted.mocks)
        self.assert_found(done, planted.found)
        again = self.abide("sim", "main.flow", "--mock", "mocks.json")
        self.assertEqual((again.stdout, again.stderr), (done.stdout, done.stderr))
        replayed = self.replay(done.stdout)
        self.assertEqual((replayed.returncode, replayed.stdout), (1, ""), replayed.stderr)
        sentence = done.stdout.splitlines()[0].removeprefix("# ")
        self.assertIn(planted.found, sentence)
        self.assertEqual(replayed.stderr.splitlines()[-1].partition(": ")[2], sentence)
        self.assert_nothing(self.sim(planted.right, planted.mocks))


for number, one in enumerate(PLANTED):
    name = "test_%02d_%s" % (number + 1, re.sub(r"\W+", "_", one.name))
    setattr(PlantedTest, name, lambda self, one=one: self.check(one))


class WorldTest(SimTest):
    """What the world may do, as the mocks say it."""

    def test_there_are_twenty_mistakes(self):
        self.assertEqual(len(PLANTED), 20)

    def test_every_alternative_of_a_task_is_tried(self):
        for answer in (2, 3):
            done = self.sim('Invariant("not %d", await Task.run("a") !== %d)' % (answer, answer),
                            {"a": {"any": [1, 2, 3]}})
            self.assertEqual(self.assert_found(done, 'Invariant "not %d" is not true' % answer),
                             ["history", "start", "task a#1 returns %d" % answer])

    def test_a_list_has_one_entry_per_call(self):
        source = 'return [await Task.run("a", 1), await Task.run("a", 2)]'
        mocks = {"a": [{"any": [1, 2]}, [3]], "check:both": "result[0] < 3 && result[1][0] === 3"}
        self.assert_nothing(self.sim(source, mocks, "--faults", "0"))
        source = 'await Task.run("a")\nreturn await Task.run("a").catch(error => error.cause.name)'
        mocks = {"a": [1], "check:name": 'result === "MockError"'}
        self.assert_nothing(self.sim(source, mocks, "--faults", "0"))

    def test_a_task_may_never_answer(self):
        mocks = {"a": {"any": [1, {"never": True}]}}
        lines = self.assert_found(self.sim('return await Task.run("a")', mocks), 'waits for task "a", which does not come')
        self.assertEqual(lines[-1], "task a#1 never answers")
        self.assert_nothing(self.sim('return await Task.run("a", null, { timeout: "1m" }).catch(() => 0)', mocks))

    def test_waiting_for_what_never_comes_is_a_good_end(self):
        self.assert_nothing(self.sim('await Signal.next("go")', {"signal:go": {"never": True}}))
        self.assert_found(self.sim('await Signal.next("go")\nawait Signal.next("stop")', {"signal:go": True}),
                          'waits for signal "stop", which the mocks do not name')

    def test_signals_of_a_list_are_all_sent_at_any_time(self):
        source = """
        const first = await Task.run("work")
        const seen = [await Signal.next("go"), await Signal.next("go")]
        Invariant("in order", seen.join() === "1,2")
        """
        self.assert_nothing(self.sim(source, {"work": True, "signal:go": [1, 2]}))

    def test_events_may_come_or_not(self):
        source = 'return await Event.wait("news", { timeout: "1h" }).catch(() => null)'
        for value in ("1", "2", "null"):
            done = self.sim(source, {"event:news": {"maybe": {"any": [1, 2]}}, "check:not": "result !== " + value})
            self.assert_found(done, 'check "not" is not true')

    def test_a_check_sees_what_was_done_and_how_often(self):
        source = 'await Task.run("a", { n: 1 })\nawait Signal.next("go")\nreturn { ok: true }'
        mocks = {"a": True, "signal:go": [7]}
        for check in ('status === "completed"', "result.ok", "error === null", "calls.a === 1", "done.a === 1",
                      "once.a === 1", "sent.go === 1", "taken.go === 1", 'order.join() === "a"', "inputs[0].n === 1"):
            self.assert_nothing(self.sim(source, {**mocks, "check:it": check}, "--faults", "0"))
            done = self.sim(source, {**mocks, "check:it": "!(%s)" % check}, "--faults", "0")
            self.assert_found(done, 'check "it" is not true')

    def test_a_lost_answer_is_an_effect_that_is_repeated(self):
        mocks = {"a": True, "check:one": "done.a === 1"}
        self.assertIn("task a#1 is done, and its answer is lost",
                      self.assert_found(self.sim('await Task.run("a")', mocks), 'check "one"'))
        self.assert_nothing(self.sim('await Task.run("a")', mocks, "--faults", "0"))
        self.assert_nothing(self.sim('await Task.run("a")', {"a": True, "check:one": "once.a === 1"}, "--faults", "2"))

    def test_crashes_and_repeated_answers_change_nothing(self):
        source = """
        let sum = 0
        for (const n of [1, 2]) sum += await Task.run("double", n)
        Invariant("the sum", sum === 4)
        return sum
        """
        done = self.sim(source, {"double": 2}, "--faults", "2")
        self.assert_nothing(done)
        for line in ("a crash loses the next turn", "a crash follows the next turn"):
            script = "history\n%s\nstart\n%s\ntask double#1 returns 2\ntask double#1 answers again\n" % (line, line)
            replayed = self.replay(script)
            self.assertEqual(replayed.returncode, 0, replayed.stderr)
            self.assertIn("nothing is wrong", replayed.stderr)

    def test_a_late_answer_counts_as_long_as_the_lease_does(self):
        self.sim('return await Task.run("a")', {"a": [1, 2], "check:two": "result === 2"})
        lost = "history\nstart\ntask a#1 is done, and its answer is lost\n"
        late = "task a#1 answers late\n"
        replayed = self.replay(lost + late)
        self.assertIn('check "two" is not true', replayed.stderr)
        replayed = self.replay(lost + "time passes\ntime passes\n" + late + "task a#1.2 returns 2\n")
        self.assertEqual(replayed.returncode, 0, replayed.stderr)

    def test_an_answer_after_a_timeout_is_work_that_was_done(self):
        source = 'return await Task.run("a", null, { timeout: "1m", retry: { attempts: 1 } }).catch(() => "gave up")'
        self.assert_found(self.sim(source, {"a": 1, "check:it": 'result !== "gave up" || done.a === 0'}, "--faults", "0"),
                          'check "it" is not true')

    def test_a_child_is_executed_or_answered_for(self):
        source = """
        workflow parent() { return await Workflow.run("child", 2) }
        workflow child(n) { return await Task.run("double", n) }
        """
        self.assert_nothing(self.sim(source, {"double": 4, "check:it": "result === 4"}))
        self.assert_nothing(self.sim(source, {"workflow:child": 5, "check:it": "result === 5 || error !== null"}))

    def test_an_always_is_looked_at_while_the_run_waits(self):
        source = """
        let open = 0
        Always("never two", () => open < 2)
        const one = async () => { open++; await Task.run("a"); open-- }
        await Promise.all([one(), one()])
        """
        self.assertEqual(self.assert_found(self.sim(source, {"a": 1}), 'Always "never two"'), ["history", "start"])

    def test_an_eventually_must_have_been_true(self):
        source = """
        let isPaid = false
        Eventually("paid", () => isPaid)
        isPaid = await Task.run("pay")
        await Timer.delay("1h")
        isPaid = false
        """
        self.assert_nothing(self.sim(source, {"pay": True}))
        self.assert_found(self.sim(source, {"pay": {"any": [True, False]}}), 'Eventually "paid" was never true')


class HistoryTest(SimTest):
    BUSY = """
    const names = ["a", "b", "c", "d"]
    const answers = await Promise.all(names.map(name => Task.run(name)))
    Invariant("d is good", answers[3] !== "bad")
    """
    MOCKS = {"a": 1, "b": 1, "c": 1, "d": {"any": [1, "bad"]}, "signal:noise": {"maybe": [1, 2]}}

    def test_what_is_not_needed_is_left_out(self):
        lines = self.assert_found(self.sim(self.BUSY, self.MOCKS), 'Invariant "d is good"')
        self.assertEqual(sorted(lines), sorted(["history", "start", "task a#1 returns 1", "task b#1 returns 1",
                                                "task c#1 returns 1", 'task d#1 returns "bad"']))

    def test_the_same_seed_finds_the_same_history(self):
        options = ("--limit", "0", "--seeds", "500", "--seed", "7")
        first = self.sim(self.BUSY, self.MOCKS, *options)
        self.assert_found(first, 'Invariant "d is good"')
        second = self.sim(self.BUSY, self.MOCKS, *options)
        self.assertEqual((first.stdout, first.stderr), (second.stdout, second.stderr))
        self.assertEqual(self.replay(first.stdout).returncode, 1)

    def test_limits_are_said(self):
        good = {**self.MOCKS, "d": 1}
        done = self.sim(self.BUSY, good, "--limit", "5", "--seeds", "3")
        self.assertEqual(done.returncode, 0)
        self.assertIn("nothing found in 8 histories", done.stderr)
        self.assertIn("not all there are", done.stderr)
        done = self.sim(self.BUSY, good, "--faults", "4", "--limit", "100000000", "--time", "200ms")
        self.assertIn("not all there are", done.stderr)

    def test_attempts_of_one_task_are_told_apart(self):
        done = self.sim('await Task.run("a", null, { timeout: "1m" })', {"a": 1, "check:once": "done.a < 2"}, "--faults", "0")
        lines = self.assert_found(done, 'check "once" is not true')
        self.assertIn("task a#1 returns 1", lines)
        self.assertIn("task a#1.2 returns 1", lines)
        replayed = self.replay(done.stdout)
        self.assertEqual(replayed.returncode, 1)
        self.assertIn('check "once" is not true', replayed.stderr)

    def test_many_runs_are_all_seen(self):
        source = """
        workflow parent() { await Promise.all([...Array(250).keys()].map(n => Workflow.run("child", n))) }
        workflow child(n) { if (n === 249) await Signal.next("last") }
        """
        self.assert_found(self.sim(source, {"signal:last": {"maybe": 1}}, "--limit", "1"), 'child waits for signal "last"')

    def test_a_step_that_cannot_happen_is_refused(self):
        self.sim(self.BUSY, self.MOCKS)
        done = self.replay("# mine\nhistory\nstart\ntask a#1 returns 2\n")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn('line 4, "task a#1 returns 2", cannot happen here; this can: task a#1 returns 1;', done.stderr)
        done = self.replay("history\nstart\n", "--store", "sqlite:x.db")
        self.assertEqual(done.returncode, 2)
        self.assertIn("a history of abide sim takes --mock", done.stderr)

    def test_a_history_without_an_end_goes_to_one(self):
        self.sim(self.BUSY, {**self.MOCKS, "d": 1})
        done = self.replay("history\nstart\n", "--now", "2030-01-01T00:00:00Z")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("[+0s] task c#1 returns 1\n", done.stderr)

    def test_several_files_have_their_mocks_beside_them(self):
        self.file("good.flow", 'return await Task.run("a")')
        self.file("good.mock.json", {"a": 1})
        self.file("bad.flow", 'Invariant("one", await Task.run("a") === 1)')
        self.file("bad.mock.json", {"a": 2})
        done = self.abide("sim", "good.flow", "bad.flow")
        self.assertEqual(done.returncode, 1)
        self.assertIn("good.flow: nothing found", done.stderr)
        self.assertIn("bad.flow: found in history ", done.stderr)
        self.assertIn("# Again: abide run bad.flow --mock 'bad.mock.json' --script FILE\n", done.stdout)
        again = re.search("# Again: (.*)", self.abide("sim", "bad.flow", "--input", '{"it\'s": 1}').stdout).group(1)
        self.file("found.txt", done.stdout)
        done = subprocess.run(again.replace("FILE", "found.txt").replace("abide", ABIDE, 1), shell=True, cwd=self.folder.name,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1, done.stderr)


class UsageTest(SimTest):
    def test_what_cannot_be_tried_is_said(self):
        for mocks, sentence in (({"a": {"maybe": 1}}, "maybe is for signals and events"),
                                ({"a": {"any": []}}, "any must be a list"),
                                ({"a": {"any": [{"any": [1]}]}}, "cannot stand inside"),
                                ({"signal:a": {"error": {}}}, "cannot be an error"),
                                ({"check:a": 7}, "a check is a text with an expression"),
                                ({"check:a": "1 +"}, "check:a"), ([], "mocks are an object")):
            done = self.sim("return 1", mocks)
            self.assertEqual((done.returncode, done.stdout), (2, ""), mocks)
            self.assertIn(sentence, done.stderr)
        self.assertEqual(self.abide("sim").returncode, 2)
        self.assertEqual(self.abide("sim", "nothing.flow").returncode, 2)
        self.assertEqual(self.sim("return 1", {}, "--workflow", "other").returncode, 2)
        self.assertEqual(self.sim("return 1", {}, "--input", "{").returncode, 2)
        self.assertEqual(self.sim("return 1", {}, "--time", "soon").returncode, 2)

    def test_an_input_that_the_workflow_refuses_is_said(self):
        source = """
        export const config = { input: { type: "object", required: ["n"] } }
        return Inputs.n
        """
        done = self.sim(source, {}, "--input", "{}")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("the run is not started", done.stderr)
        self.assert_nothing(self.sim(source, {"check:n": "result === 3"}, "--input", '{"n": 3}'))

    def test_run_takes_the_same_mocks(self):
        self.file("main.flow", 'return [await Task.run("a"), await Signal.next("go")]')
        self.file("mocks.json", {"a": {"any": [{"never": True}, 1, 2]}, "signal:go": {"any": [3, 4]},
                                 "event:x": {"maybe": 1}, "check:it": "true", "signal:stop": {"maybe": 1}})
        done = self.abide("run", "main.flow", "--mock", "mocks.json", "--virtual-time")
        self.assertEqual((done.returncode, done.stdout), (0, "[1,3]\n"), done.stderr)
        self.file("mocks.json", {"a": {"never": True}})
        done = self.abide("run", "main.flow", "--mock", "mocks.json", "--virtual-time")
        self.assertEqual(done.returncode, 2)
        self.assertIn("with abide sim only", done.stderr)

    def test_conditions_do_nothing_in_production(self):
        self.file("main.flow", 'Always("no", () => false)\nEventually("no", () => false)\nInvariant("no", false)\n'
                               'await Timer.delay("1ms")\nreturn 1')
        for options in ((), ("--virtual-time",), ("--store", "sqlite:runs.db")):
            done = self.abide("run", "main.flow", *options)
            self.assertEqual((done.returncode, done.stdout), (0, "1\n"), done.stderr)


if __name__ == "__main__":
    tap.main()
