"""Workflows as functions in Python, on a real server. Each test has definitions of its own."""
import asyncio
import dataclasses
import logging
import os
import sys
import threading
import typing
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
sys.path.insert(0, os.path.join(SOURCE, "sdk", "python"))
import abide  # noqa: E402
import guide  # noqa: E402
import tap  # noqa: E402
from abide import Client, Retry, Worker, workflow  # noqa: E402
from server import Server, wait_until  # noqa: E402


@dataclasses.dataclass
class Order:
    card: int
    items: typing.List[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Receipt:
    number: int


class WorkflowTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.getLogger("abide").setLevel(logging.CRITICAL)
        cls.server = Server()
        cls.url = "http://127.0.0.1:%d" % cls.server.port

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        self.client = Client(self.url)
        self.addCleanup(self.client.close)
        self.effects = []

    def name(self, more=""):
        return self.id().rpartition(".")[2] + more

    def work(self, *definitions, tasks=(), **options):
        """A worker in the background, that has registered them."""
        worker = Worker(self.url, **options)
        worker.workflow(*definitions)
        for function in tasks:
            worker.add(function.__name__, function)
        worker.__enter__()
        self.addCleanup(worker.__exit__)
        return worker

    def run_of(self, function, input=None, tasks=(), version=None, **options):
        """Starts a run of the function, and waits for its end."""
        definition = workflow(self.name(), version=version)(function)
        self.work(definition, tasks=tasks, **options)
        return self.start(definition, input).wait(timeout=60)

    def start(self, definition, input=None, **options):
        """Once the worker has registered it."""
        def try_it():
            try:
                return self.client.start(definition, input, **options)
            except abide.NotFound:
                return None
        return wait_until(try_it)

    def until(self, handle, *statuses):
        return wait_until(lambda: handle.refresh().status in statuses and handle)

    def until_waits(self, handle, *on):
        return wait_until(lambda: handle.refresh().status == "suspended" and
                          sorted(each["on"] for each in handle["waits"]) == sorted(on) and handle)

    def effect(self, name, answer=None):
        self.effects.append(name)
        return answer


class Behaviours(WorkflowTest):
    def test_steps_in_order_and_what_they_answer(self):
        async def order(ctx, input):
            receipt = await ctx.step("charge", self.effect, "charge", {"id": input["card"]})
            label = await ctx.step("ship", self.effect, "ship", "label")
            return {"receipt": receipt, "label": label}
        run = self.run_of(order, {"card": 7})
        self.assertEqual((run.status, run["kind"]), ("completed", "code"))
        self.assertEqual(run.result(), {"receipt": {"id": 7}, "label": "label"})
        self.assertEqual(self.effects, ["charge", "ship"])
        self.assertEqual([step["name"] for step in self.client.steps(run.id)], ["charge", "ship"])

    def test_an_input_that_does_not_fit_the_schema_is_refused(self):
        schema = {"type": "object", "required": ["card"], "properties": {"card": {"type": "integer"}}}

        @workflow(self.name(), version="1", description="Takes a card", schema=schema)
        async def order(ctx, input):
            return input["card"]
        self.work(order)
        self.assertEqual(self.start(order, {"card": 7}).result(timeout=60), 7)
        with self.assertRaises(abide.InvalidRequest) as caught:
            self.client.start(order, {"card": "x"})
        self.assertEqual(caught.exception.code, "BAD_INPUT")
        config = self.client.workflows.show(order.name)["config"]
        self.assertEqual((config["description"], config["input"]), ("Takes a card", schema))

    def test_a_plain_function_blocks_where_the_other_awaits(self):
        def order(ctx, input):
            first = ctx.step("first", self.effect, "first", 1)
            ctx.sleep("5ms")
            both = ctx.all(ctx.begin.step("second", self.effect, "second", 2), ctx.begin.sleep("5ms"))
            return [first, both[0], ctx.signal("go")]
        definition = workflow(self.name())(order)
        self.work(definition)
        run = self.start(definition)
        run.signal("go", "now")
        self.assertEqual(run.result(timeout=60), [1, 2, "now"])
        self.assertEqual(self.effects, ["first", "second"])

    def test_inputs_and_results_are_what_the_annotations_say(self):
        def charge(card: int) -> Receipt:
            return Receipt(card)

        @workflow(self.name())
        async def order(ctx: abide.Context, input: Order) -> Receipt:
            receipt = await ctx.step("charge", charge, input.card)
            assert isinstance(input, Order) and isinstance(receipt, Receipt)
            return Receipt(receipt.number + len(input.items))
        self.work(order)
        self.assertEqual(self.start(order, Order(7, ["a", "b"])).result(timeout=60), Receipt(9))
        bad = self.client.start(self.name(), {"card": "seven"}).wait(timeout=60)
        self.assertEqual((bad.status, bad["error"]["type"]), ("failed", "ConversionError"))
        self.assertIn("Order.card: int was expected, not \"seven\"", bad["error"]["message"])

    def test_tasks_children_events_and_signals_at_a_time(self):
        async def child(ctx, input):
            await ctx.sleep("5ms")
            return input + 1

        async def order(ctx, input):
            task, other, signal, event = await ctx.all(
                ctx.task("echo", {"a": 1}), ctx.child(child_definition, 41),
                ctx.signal("go", timeout="1h"), ctx.event(self.name("-topic"), filter="n > 1"))
            return [task, other, signal, event]

        def echo(value):
            return value
        child_definition = workflow(self.name("-child"))(child)
        definition = workflow(self.name())(order)
        self.work(definition, child_definition, tasks=[echo])
        run = self.start(definition)
        self.until_waits(run, "signal", "event")
        self.client.emit(self.name("-topic"), {"n": 1})
        self.client.emit(self.name("-topic"), {"n": 2})
        run.signal("go", "yes")
        self.assertEqual(run.result(timeout=60), [{"a": 1}, 42, "yes", {"n": 2}])

    def test_asyncio_works_with_what_the_context_answers(self):
        async def order(ctx, input):
            values = await asyncio.gather(*(ctx.step("s%d" % i, self.effect, i, i) for i in range(3)))
            done = asyncio.Event()

            async def later():
                await asyncio.sleep(0.005)  # durable
                done.set()
            asyncio.create_task(later())
            await done.wait()
            try:
                await asyncio.wait_for(ctx.signal("never"), 0.005)
            except asyncio.TimeoutError:
                return values
        self.assertEqual(self.run_of(order).result(), [0, 1, 2])

    def test_the_loser_of_a_race_takes_nothing_away(self):
        async def order(ctx, input):
            first = ctx.signal("go")
            await ctx.race(first, ctx.sleep("5ms"))
            lost = not first.is_done
            return [lost, await ctx.signal("go"), first.is_done]
        definition = workflow(self.name())(order)
        self.work(definition)
        run = self.start(definition)
        self.until_waits(run, "signal")
        run.signal("go", 1)
        self.assertEqual(run.result(timeout=60), [True, 1, False])

    def test_a_failed_step_is_tried_again_and_then_raised(self):
        def flaky():
            self.effects.append(abide.current_step().attempt)
            raise ValueError("not yet") if len(self.effects) < 3 else KeyError("no more")

        async def order(ctx, input):
            try:
                await ctx.step("flaky", flaky, retry=Retry(attempts=5, delay="5ms", non_retryable=["KeyError"]))
            except abide.StepError as error:
                return [error.type, str(error)]
        self.assertEqual(self.run_of(order).result(), ["KeyError", "'no more'"])
        self.assertEqual(self.effects, [1, 2, 3])


class Failures(WorkflowTest):
    def test_failures_of_tasks_and_children_have_classes(self):
        def bad(value):
            raise abide.TaskError("no", type="Refused", details={"why": 1}, retryable=False)

        async def child(ctx, input):
            raise LookupError("nothing there")

        async def order(ctx, input):
            found = []
            for operation in (ctx.task("bad"), ctx.child(child_definition, None)):
                try:
                    await operation
                except abide.OperationError as error:
                    found.append([type(error).__name__, error.type, str(error), error.details])
            return found
        child_definition = workflow(self.name("-child"))(child)
        definition = workflow(self.name())(order)
        self.work(definition, child_definition, tasks=[bad])
        found = self.start(definition).result(timeout=60)
        self.assertEqual(found[0], ["TaskError", "Refused", "no", {"why": 1}])
        self.assertEqual(found[1][:2] + found[1][2:3], ["ChildError", "LookupError", "nothing there"])

    def test_what_is_not_caught_fails_the_run_with_its_type(self):
        def broken():
            raise RuntimeError("broken")

        async def order(ctx, input):
            await ctx.step("bad", broken)
        run = self.run_of(order)
        self.assertEqual((run.status, run["error"]["type"], run["error"]["message"]),
                         ("failed", "RuntimeError", "broken"))
        with self.assertRaisesRegex(abide.RunFailed, "broken"):
            run.result()

    def test_a_step_that_takes_too_long_times_out_and_is_told(self):
        told = threading.Event()

        def slow():
            told.wait_result = abide.current_step().cancelled.wait(60)
            told.set()

        async def order(ctx, input):
            try:
                await ctx.step("slow", slow, timeout="20ms")
            except TimeoutError as error:
                return str(error)
        self.assertEqual(self.run_of(order).result(), 'step "slow" took longer than 0.02 s')
        self.assertTrue(told.wait(60) and told.wait_result)

    def test_some_errors_are_not_tried_again(self):
        def final():
            self.effects.append(1)
            raise abide.NonRetryableError("never", details=[1])

        async def order(ctx, input):
            try:
                await ctx.step("final", final, retry=Retry(attempts=5, delay=0))
            except abide.StepError as error:
                return error.details
        self.assertEqual(self.run_of(order).result(), [1])
        self.assertEqual(self.effects, [1])

    def test_a_cancelled_run_cleans_up_and_its_step_is_told(self):
        begun, told = threading.Event(), threading.Event()

        def slow():
            begun.set()
            if abide.current_step().cancelled.wait(60):
                told.set()
            abide.current_step().check()

        async def order(ctx, input):
            try:
                await ctx.step("slow", slow)
            except abide.CancelledError:
                assert ctx.is_cancelled and ctx.cancelled.is_set()
                await ctx.step("clean", self.effect, "clean")
                raise
        definition = workflow(self.name())(order)
        self.work(definition, heartbeat="50ms")
        run = self.start(definition)
        self.assertTrue(begun.wait(60))
        self.assertTrue(run.cancel())
        self.assertEqual(run.wait(timeout=60).status, "cancelled")
        self.assertEqual(self.effects, ["clean"])
        self.assertTrue(told.wait(60))

    def test_a_result_that_is_no_json_fails_the_step_and_an_input_the_call(self):
        async def order(ctx, input):
            found = []
            try:
                await ctx.step("set", lambda: {1, 2})
            except abide.StepError as error:
                found.append(error.type)
            for wrong in (lambda: ctx.task("x", {1}), lambda: ctx.task("x", None, timeuot=1),
                          lambda: ctx.task("x", "x" * (5 << 20)), lambda: ctx.race()):
                try:
                    wrong()
                except (TypeError, ValueError) as error:
                    found.append(type(error).__name__)
            return found
        self.assertEqual(self.run_of(order).result(),
                         ["ResultError", "TypeError", "TypeError", "PayloadTooLarge", "ValueError"])

    def test_what_the_server_refuses_fails_the_run(self):
        async def order(ctx, input):
            await ctx.task("x" * 5000)
        run = self.run_of(order)
        self.assertEqual((run.status, run["error"]["type"]), ("failed", "BAD_NAME"))


class Replays(WorkflowTest):
    """With no run kept in memory every turn is a replay from the beginning."""

    def test_a_replay_sees_what_was_recorded_and_says_nothing_twice(self):
        seen = []

        async def order(ctx, input):
            noted = [str(ctx.uuid()), ctx.random(), ctx.now().isoformat()]
            ctx.log.info("begun %s", noted[0])
            ctx.stream({"at": 1})
            ctx.state.set("phase", "one")
            await ctx.emit(self.name("-topic"), noted)
            noted.append(await ctx.step("step", self.effect, "step"))
            noted.append(await ctx.start(other))
            seen.append(noted)
            await ctx.sleep("5ms")
            ctx.state.set("phase", ctx.state.get("phase") + " and two")
            await ctx.signal("go")
            return noted

        async def nothing(ctx):
            return None
        other = workflow(self.name("-other"))(nothing)
        definition = workflow(self.name())(order)
        self.work(definition, other, max_runs_in_memory=0)
        run = self.start(definition)
        self.until_waits(run, "signal")
        run.signal("go")
        self.assertEqual(run.result(timeout=60), seen[0])
        self.assertEqual(len(seen), 3)
        self.assertTrue(all(noted == seen[0] for noted in seen))
        self.assertEqual(self.effects, ["step"])
        self.assertEqual(self.client.result(seen[0][4], timeout=60), None)
        log = [entry for entry in self.client.log(run.id)]
        self.assertEqual([entry["data"] for entry in log if entry["kind"] == "line"], ["begun " + seen[0][0]])
        self.assertEqual([message for message in run.messages()], [{"at": 1}])

    def test_continue_as_begins_anew(self):
        async def count(ctx, input):
            await ctx.step("count", self.effect, input)
            if input < 3:
                ctx.continue_as(input + 1)
            return input
        self.assertEqual(self.run_of(count, 1).result(), 3)
        self.assertEqual(self.effects, [1, 2, 3])

    def pause_by(self, before, after):
        """A run of `before` goes on with `after`, and with `before` again; answers the error between."""
        definition = workflow(self.name(), version="1")(before)
        worker = self.work(definition)
        run = self.start(definition)
        self.until_waits(run, "signal")
        worker.__exit__()
        other = self.work(workflow(self.name(), version="1")(after))
        run.signal("go", "went")
        self.until(run, "paused")
        reason = run["pause_reason"]
        other.__exit__()
        self.work(definition)
        self.client.resume(run.id)
        self.assertEqual(run.result(timeout=60), "went")
        return reason

    def test_another_step_pauses_the_run_until_the_right_code_is_there(self):
        async def before(ctx, input):
            await ctx.step("charge", self.effect, "charge")
            return await ctx.signal("go")

        async def after(ctx, input):
            await ctx.step("refund", self.effect, "refund")  # the line
            return await ctx.signal("go")
        reason = self.pause_by(before, after)
        self.assertEqual((reason["type"], reason["position"], reason["expected"], reason["found"]),
                         ("NondeterminismError", 1, 'step "charge"', 'has begun step "refund"'))
        line = after.__code__.co_firstlineno + 1
        self.assertEqual(reason["at"], "%s:%d" % (after.__code__.co_filename, line))
        self.assertIn(reason["at"], reason["message"])
        self.assertEqual(self.effects.count("charge"), 1)

    def test_a_command_that_is_missing_and_one_that_is_another_pause_it(self):
        async def before(ctx, input):
            ctx.emit("a-topic")
            return await ctx.signal("go")

        async def missing(ctx, input):
            return await ctx.signal("go")
        self.assertIn('entry 1 of the journal is emit "a-topic", but the code does not ask for it',
                      self.pause_by(before, missing)["message"])

    def test_a_command_in_front_of_a_recorded_step_pauses_it(self):
        async def before(ctx, input):
            await ctx.step("charge", self.effect, "charge")
            return await ctx.signal("go")

        async def after(ctx, input):
            await ctx.emit("a-topic")
            await ctx.step("charge", self.effect, "charge")
            return await ctx.signal("go")
        reason = self.pause_by(before, after)
        self.assertEqual((reason["expected"], reason["found"]), ('step "charge"', 'asks for emit "a-topic"'))

    def test_what_it_says_between_things_that_came_together_is_kept(self):
        async def order(ctx, input):
            one, other = ctx.child(child_definition, 1), ctx.child(child_definition, 2)
            await ctx.signal("go")
            for child in (one, other):
                ctx.log.info("%d came", await child)
                ctx.state.set("came", await child)
            await ctx.signal("end")

        async def child(ctx, input):
            return input
        child_definition = workflow(self.name("-child"))(child)
        definition = workflow(self.name())(order)
        self.work(definition, child_definition)
        run = self.start(definition)
        wait_until(lambda: len([each for each in self.client.list(parent=run.id, status="completed")]) == 2)
        run.signal("go")
        self.until_waits(run, "signal")
        run.signal("end")
        self.assertEqual(run.wait(timeout=60).status, "completed")
        self.assertEqual([entry["data"] for entry in self.client.log(run.id) if entry["kind"] == "line"],
                         ["1 came", "2 came"])

    def test_a_plain_function_is_stopped_by_a_mismatch_too(self):
        def before(ctx, input):
            ctx.emit("a-topic")
            return ctx.signal("go")

        def after(ctx, input):
            ctx.emit("other-topic")
            return ctx.signal("go")
        self.assertIn('asks for emit "other-topic"', self.pause_by(before, after)["found"])

    def test_changed_tells_old_runs_from_new_ones(self):
        def version(has_change):
            async def order(ctx, input):
                await ctx.step("first", self.effect, "first")
                await ctx.signal("go")
                return "new" if has_change and ctx.changed("gift") else "old"

            async def guarded(ctx, input):
                if has_change and ctx.changed("thanks"):
                    await ctx.step("thanks", self.effect, "thanks")
                return await order(ctx, input)
            return workflow(self.name(), version="1")(guarded)
        worker = self.work(version(False))
        old = self.start(self.name())
        self.until_waits(old, "signal")
        worker.__exit__()
        self.work(version(True))
        new = self.client.start(self.name())
        self.until_waits(new, "signal")
        old.signal("go")
        new.signal("go")
        self.assertEqual((old.result(timeout=60), new.result(timeout=60)), ("new", "new"))
        self.assertEqual(self.effects, ["first", "thanks", "first"])
        steps = [step["name"] for step in self.client.steps(old.id) if step["kind"] == "step"]
        self.assertEqual(steps, ["first"])

    def test_old_versions_are_served_beside_new_ones(self):
        def version(text):
            async def order(ctx, input):
                await ctx.signal("go")
                return text
            return workflow(self.name(), version=text)(order)
        first = version("one")
        worker = self.work(first)
        old = self.start(first)
        self.until_waits(old, "signal")
        worker.__exit__()
        self.work(first, version("two"))
        new = wait_until(lambda: self.client.start(self.name()) if any(
            each["name"] == self.name() and each["version"] == "two"
            for each in self.client.workflows.list()) else None)
        for run in (old, new):
            run.signal("go")
        self.assertEqual((old.result(timeout=60), new.result(timeout=60)), ("one", "two"))

    def test_the_version_is_the_hash_of_the_source(self):
        @workflow
        async def one(ctx):
            return 1

        @workflow("one")
        async def other(ctx):
            return 2
        self.assertRegex(one.version, "^[0-9a-f]{12}$")
        self.assertEqual((one.name, other.name), ("one", "one"))
        self.assertNotEqual(one.version, other.version)

    def test_only_so_many_runs_stay_in_memory(self):
        begun = []

        async def order(ctx, input):
            begun.append(input)
            return await ctx.signal("go")
        definition = workflow(self.name())(order)
        self.work(definition, max_runs_in_memory=2)
        runs = []
        for number in range(4):
            runs.append(self.start(definition, number))
            self.until_waits(runs[-1], "signal")
        for run in runs:
            run.signal("go", run.id)
        self.assertEqual([run.result(timeout=60) for run in runs], [run.id for run in runs])
        self.assertEqual(sorted(begun), [0, 0, 1, 1, 2, 3])


class Slips(WorkflowTest):
    def test_the_clock_is_a_slip_that_is_told_once_with_its_line(self):
        import random
        import time
        with self.assertLogs("abide", logging.WARNING) as caught:
            async def order(ctx, input):
                for _ in range(3):
                    time.time()
                random.random()
                await ctx.step("fine", lambda: (time.time(), random.random()))
                await asyncio.sleep(0)
            self.run_of(order)
        told = [record.getMessage() for record in caught.records]
        first = order.__code__.co_firstlineno
        self.assertEqual(len(told), 2, told)
        self.assertIn("%s:%d calls time.time() in a workflow" % (__file__, first + 2), told[0])
        self.assertIn("use ctx.now()", told[0])
        self.assertIn("%s:%d calls random.random()" % (__file__, first + 3), told[1])

    def test_awaiting_what_nothing_ends_pauses_the_run_with_the_line(self):
        async def order(ctx, input):
            await asyncio.Event().wait()
        definition = workflow(self.name())(order)
        self.work(definition)
        run = self.until(self.start(definition), "paused")
        self.assertEqual(run["pause_reason"]["type"], "StuckError")

    def test_reaching_outside_is_refused_with_the_line(self):
        async def order(ctx, input):
            await asyncio.open_connection("127.0.0.1", 9)
        run = self.run_of(order)
        self.assertEqual((run.status, run["error"]["type"]), ("failed", "WorkflowMisuse"))
        self.assertIn("create_connection at %s:%d" % (__file__, order.__code__.co_firstlineno + 1),
                      run["error"]["message"])
        self.assertIn("ctx.step", run["error"]["message"])


class Workers(WorkflowTest):
    def test_a_long_step_keeps_its_turn_and_others_go_on(self):
        go = threading.Event()

        async def slow(ctx, input):
            return await ctx.step("slow", go.wait, 60)

        async def quick(ctx, input):
            return await ctx.step("quick", lambda: 1)
        one, other = workflow(self.name("-slow"))(slow), workflow(self.name("-quick"))(quick)
        self.work(one, other, lease="300ms")
        run = self.start(one)
        turn = wait_until(lambda: run.refresh().status == "running" and run["updated_at"])
        for _ in range(20):
            self.assertEqual(self.start(other).result(timeout=60), 1)
            self.assertEqual(run.refresh()["updated_at"], turn)  # nobody else has it
        wait_until(lambda: self.start(other).result(timeout=60) and self.has_passed(1.0))
        go.set()
        self.assertTrue(run.result(timeout=60))
        self.assertEqual([step["attempt"] for step in self.client.steps(run.id)], [1])

    def has_passed(self, seconds):
        import time
        self.began = getattr(self, "began", None) or time.monotonic()
        return time.monotonic() - self.began > seconds

    def test_stopping_records_what_runs_and_hands_the_rest_back(self):
        begun, go = threading.Event(), threading.Event()

        def first():
            begun.set()
            go.wait(60)
            return self.effect("first", 1)

        async def order(ctx, input):
            return [await ctx.step("first", first), await ctx.step("second", self.effect, "second", 2)]
        definition = workflow(self.name())(order)
        worker = self.work(definition, lease="1h")
        run = self.start(definition)
        self.assertTrue(begun.wait(60))
        stopper = threading.Thread(target=worker.__exit__)
        stopper.start()
        wait_until(lambda: worker._service.is_stopping)
        go.set()
        stopper.join(60)
        self.assertEqual(self.effects, ["first"])
        self.assertEqual([step["name"] for step in self.client.steps(run.id)], ["first"])
        self.work(definition)
        self.assertEqual(run.result(timeout=60), [1, 2])
        self.assertEqual(self.effects, ["first", "second"])

    def test_a_fan_out_of_steps_is_executed_at_a_time(self):
        barrier = threading.Barrier(20)

        async def plus(number):
            await asyncio.sleep(0)
            return number + 1

        async def order(ctx, input):
            first = await ctx.all(*(ctx.step("wait", barrier.wait, 60) for _ in range(20)))
            return [len(first), sum(await ctx.all(*(ctx.step("add", plus, i) for i in range(300))))]
        self.assertEqual(self.run_of(order).result(), [20, 300 * 299 // 2 + 300])

    def test_a_timer_and_a_signal_win_against_a_long_step(self):
        go = threading.Event()
        self.addCleanup(go.set)

        async def order(ctx, input):
            slow = ctx.step("slow", go.wait, 60)
            timer, signal = ctx.sleep("20ms"), ctx.signal("go")
            await ctx.race(slow, timer)
            first = [slow.is_done, timer.is_done]
            await ctx.race(slow, signal)
            return [first, slow.is_done, signal.is_done, await slow]
        definition = workflow(self.name())(order)
        self.work(definition)
        run = self.start(definition)
        run.signal("go")
        wait_until(lambda: "go" in [step["name"] for step in self.client.steps(run.id)])
        go.set()
        self.assertEqual(run.result(timeout=60), [[False, True], False, True, True])

    def test_a_backoff_ends_beside_a_long_step(self):
        go = threading.Event()
        self.addCleanup(go.set)

        def flaky():
            self.effects.append(1)
            if len(self.effects) < 3:
                raise ValueError("not yet")
            return go.set()

        async def order(ctx, input):
            slow = ctx.step("slow", go.wait, 60)
            await ctx.step("flaky", flaky, retry=Retry(attempts=3, delay="5ms"))
            return await slow
        self.assertTrue(self.run_of(order).result())
        self.assertEqual(len(self.effects), 3)

    def test_branches_are_coroutines(self):
        async def branch(ctx, number):
            await ctx.sleep("2ms")
            return await ctx.step("branch", self.effect, number, number)

        async def order(ctx, input):
            values = await ctx.all(*(branch(ctx, number) for number in range(3)))
            settled = await ctx.all_settled(branch(ctx, 7), ctx.step("bad", lambda: 1 / 0))
            any_one = await ctx.any(ctx.step("bad", lambda: 1 / 0), branch(ctx, 8))
            try:
                await ctx.any(ctx.step("bad", lambda: 1 / 0))
            except abide.NoneSucceeded as error:
                return [values, [each.ok for each in settled], any_one, len(error.errors)]
        self.assertEqual(self.run_of(order).result(), [[0, 1, 2], [True, False], 8, 1])


class AsyncClients(WorkflowTest):
    def test_a_run_is_started_followed_and_signalled(self):
        async def order(ctx: abide.Context, input: int) -> Receipt:
            ctx.stream({"at": 1})
            return Receipt(input + await ctx.signal("go"))
        definition = workflow(self.name())(order)
        self.work(definition)
        wait_until(lambda: any(each["name"] == self.name() for each in self.client.workflows.list()))

        async def talk():
            async with abide.AsyncClient(self.url) as client:
                run = await client.start(definition, 1, tags=[self.name()])
                with self.assertRaises(abide.WaitTimeout):
                    await run.result(timeout="1ms")
                with self.assertRaises(TypeError):
                    await client.start(definition, 1, tgas=[])
                kinds = []
                async for entry in run.events():
                    kinds.append(entry["kind"])
                    if entry["kind"] == "stream":
                        await run.signal("go", 2)
                self.assertEqual((kinds[0], kinds[-1]), ("started", "finished"))
                self.assertEqual([message async for message in run.messages()], [{"at": 1}])
                self.assertEqual([each["id"] async for each in client.list(tag=self.name())], [run.id])
                self.assertEqual([each["name"] async for each in client.steps(run.id, name="go")], ["go"])
                with self.assertRaises(abide.NotFound):
                    await client.show("no such run")
                again = await client.handle(run.id, definition)
                self.assertEqual((await again.wait()).status, "completed")
                self.assertEqual(await asyncio.to_thread(client.blocking.result, run.id), {"number": 3})
                cancelled = await client.start(definition, 1)
                self.assertTrue(await cancelled.cancel())
                with self.assertRaises(abide.RunFailed):
                    await cancelled.result()
                return await again.result(), await run.cancel()
        self.assertEqual(asyncio.run(talk()), (Receipt(3), False))


class Guide(unittest.TestCase):
    def test_the_sessions_of_the_readme_run(self):
        sessions = guide.sessions("sdk/python/README.md")
        self.assertEqual(len(sessions), 2)
        for title, items in sessions:
            self.assertGreater(guide.run_session(title, items), 0, title)


if __name__ == "__main__":
    tap.main()
