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


if __name__ == "__main__":
    tap.main()
