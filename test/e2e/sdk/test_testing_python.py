"""abide.testing: what it offers for tests of workflows, tried on workflows."""
import asyncio
import datetime
import logging
import os
import sys
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
sys.path.insert(0, os.path.join(SOURCE, "sdk", "python"))
os.environ["ABIDE_BIN"] = os.path.join(os.environ["ABIDE_BUILD_DIR"], "abide")
import tap  # noqa: E402
from abide import AbideError, BlockingContext, Context, Retry, workflow  # noqa: E402
from abide.testing import Difference, Environment, TestServer, every_crash  # noqa: E402


@workflow("order")
async def order(ctx: Context, input: int) -> list:
    """Everything that a workflow can do, once."""
    receipt = await ctx.step("charge", lambda: 0, retry=Retry(attempts=3, delay="1h"))
    noted = str(ctx.uuid())
    label, gift = await ctx.all(ctx.task("print", input), ctx.child(gift_of, input))
    await ctx.emit("ordered", receipt)
    try:
        approval = await ctx.signal("approval", timeout="24h")
    except TimeoutError:
        approval = "nobody said anything"
    await ctx.sleep("10d")
    values = await asyncio.gather(*(ctx.step("ship", int, number) for number in range(3)))
    assert noted == noted.lower()
    return [receipt, label, gift, approval, values]


@workflow("gift")
def gift_of(ctx: BlockingContext, input: int) -> int:
    first, _ = ctx.all(ctx.begin.step("wrap", lambda: 1), ctx.begin.sleep("1h"))
    return first + ctx.step("bow", lambda: input)


class Testing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        logging.getLogger("abide").setLevel(logging.CRITICAL)

    def test_days_pass_in_no_time(self):
        with Environment(order, gift_of, tasks={"print": lambda value: "label %d" % value}) as env:
            began = env.server.now()
            env.mock.step("charge", lambda: env.effect("charged", 5))
            run = env.start(order, 7)
            env.advance("25h")
            self.assertEqual([wait["on"] for wait in run.refresh()["waits"]], ["timer"])
            now = env.advance("10d")
            self.assertEqual(run.result(timeout=60), [5, "label 7", 8, "nobody said anything", [0, 1, 2]])
            self.assertEqual(now - began, datetime.timedelta(days=11, hours=1))
            self.assertEqual(env.effects, ["charged"])

    def test_mocks_fail_as_they_like_and_backoffs_take_virtual_time(self):
        with Environment(order, gift_of) as env:
            def charge():
                env.effect("tried at %s" % env.server.now().isoformat())
                if len(env.effects) < 3:
                    raise ConnectionError("no bank")
                return 1
            env.mock.step("charge", charge)
            env.mock.task("print", lambda value: "mocked")
            run = env.start(order, 1)
            env.advance("5h")
            run.signal("approval", "yes")
            env.advance("11d")
            self.assertEqual(run.result(timeout=60), [1, "mocked", 2, "yes", [0, 1, 2]])
            hours = [datetime.datetime.fromisoformat(each[9:]) for each in env.effects]
            self.assertEqual([(at - hours[0]).total_seconds() / 3600 for at in hours], [0, 1, 2])  # max_delay

    def test_a_worker_that_is_killed_is_replaced(self):
        with Environment(order, gift_of, tasks={"print": lambda value: value}) as env:
            with self.assertRaises(AbideError):
                env.restart()
            run = env.start(order, 1)
            env.settle()
            env.kill()
            run.signal("approval", "while nobody was there")
            env.restart()
            env.advance("11d")
            self.assertEqual(run.result(timeout=60)[3], "while nobody was there")

    def scenario(self, env):
        env.mock.step("charge", lambda: env.effect("charged", 5))
        env.mock.task("print", lambda value: env.effect("printed", value))
        run = env.start(order, 1)
        env.advance("2h")
        run.signal("approval", "yes")
        env.advance("10d")
        return run.result(timeout=60)

    def test_no_crash_changes_what_comes_of_it(self):
        self.assertGreater(every_crash(self.scenario, order, gift_of), 15)

    def test_a_crash_that_changes_something_is_told_with_its_place(self):
        counted = []

        @workflow("careless")
        async def careless(ctx: Context) -> int:
            await ctx.step("one", lambda: 1)
            counted.append(1)  # not in a step: a replay does it again
            await ctx.step("two", lambda: 2)
            return len(counted)

        def scenario(env):
            counted.clear()
            return env.start(careless).result(timeout=60)
        with self.assertRaisesRegex(Difference, r"killed before commit 2, the answer of the scenario "
                                    r"differ: 2 instead of 1"):
            every_crash(scenario, careless)

    def test_a_server_of_its_own(self):
        with TestServer() as server, server.client() as client:
            began = server.now()
            self.assertEqual(server.advance("1h") - began, datetime.timedelta(hours=1))
            self.assertEqual(client.server.ready()["status"], "ready")
        with self.assertRaisesRegex(AbideError, "did not start"):
            TestServer(arguments=["--no-such-option"]).start()


if __name__ == "__main__":
    tap.main()
