"""Workflows whose functions live in another process: /v1/turns, executed by support/code_worker.py."""
import os
import sys
import threading
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from code_worker import ContinueAs, Every, Failed, First, Cancelled, Worker  # noqa: E402
from server import Server, wait_until  # noqa: E402


class Turns(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.count, cls.url = 0, "http://127.0.0.1:%d" % cls.server.port

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        type(self).count += 1
        self.name = f"flow-{self.count}"
        self.done = []

    def worker(self, function, version="1", **more):
        worker = Worker(self.url, {(self.name, version): function}, f"{self.id()}-{version}", **more)
        worker.register()
        return worker

    def start(self, input=None, **more):
        answer = self.server.post("/v1/runs", {"workflow": self.name, "input": input, **more})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json["id"]

    def run_of(self, run):
        return self.server.get(f"/v1/runs/{run}").json

    def has(self, run, *states):
        return lambda: self.run_of(run)["status"] in states

    def finish(self, worker, run):
        worker.work(self.has(run, "completed", "failed", "cancelled", "paused"))
        return self.run_of(run)

    def effect(self, name, result=None):
        def body():
            self.done.append(name)
            return result
        return body

    def test_a_workflow_of_steps_completes(self):
        async def order(ctx, input):
            receipt = await ctx.step("charge", self.effect("charge", {"id": input["card"]}))
            label = await ctx.step("ship", self.effect("ship", "label"))
            return {"receipt": receipt, "label": label}
        worker = self.worker(order)
        run = self.start({"card": 7})
        found = self.finish(worker, run)
        self.assertEqual(found["status"], "completed", found)
        self.assertEqual(found["result"], {"receipt": {"id": 7}, "label": "label"})
        self.assertEqual(found["kind"], "code")
        self.assertEqual(self.done, ["charge", "ship"])
        steps = self.server.get(f"/v1/runs/{run}/steps").json["items"]
        self.assertEqual([each["name"] for each in steps], ["charge", "ship"])

    def test_signals_timers_tasks_and_children(self):
        async def helper(ctx, input):
            return input + 1

        async def order(ctx, input):
            await ctx.sleep(0.01)
            approval = await ctx.signal("approval")
            sent, child = await Every([ctx.task("mail", {"to": "x"}), ctx.child(self.name + "-child", 41)])
            return [approval, sent, child]
        worker = Worker(self.url, {(self.name, "1"): order, (self.name + "-child", "1"): helper}, self.id())
        worker.register()
        run = self.start()
        worker.work(lambda: any(each["on"] == "signal" for each in self.run_of(run)["waits"]))
        self.assertEqual(self.server.post(f"/v1/runs/{run}/signals/approval", "yes").status, 202)
        tasks = []

        def do_tasks():
            tasks.extend(self.server.post("/v1/tasks/claim", {"worker": "w", "names": ["mail"], "max": 1}).json["tasks"])
            while tasks:
                task = tasks.pop()
                self.server.post("/v1/tasks/complete", {"results": [
                    {"id": task["id"], "token": task["token"], "result": task["input"]}]})
            return self.run_of(run)["status"] == "completed"
        worker.work(do_tasks)
        self.assertEqual(self.run_of(run)["result"], ["yes", {"to": "x"}, 42])

    def test_a_timeout_a_failure_and_the_first_of_several(self):
        async def order(ctx, input):
            try:
                await ctx.signal("never", timeout=0.01)
            except Failed as error:
                late = error.error["type"]
            try:
                await ctx.step("bad", self.bad)
            except Failed as error:
                bad = error.error["message"]
            place, _ = await First([ctx.signal("other"), ctx.sleep(0.01)])
            return [late, bad, place]
        run = self.start_with(order)
        self.assertEqual(run["result"], ["TimeoutError", "broken", 1])

    def bad(self):
        self.done.append("bad")
        raise ValueError("broken")

    def start_with(self, function, input=None):
        worker = self.worker(function)
        return self.finish(worker, self.start(input))

    def test_a_step_is_tried_again_after_its_backoff(self):
        def flaky():
            self.done.append("flaky")
            if len(self.done) < 3:
                raise ValueError("not yet")
            return len(self.done)

        async def order(ctx, input):
            return await ctx.step("flaky", flaky, retry={"attempts": 5, "delay": 0.01})
        run = self.start_with(order)
        self.assertEqual((run["status"], run["result"], len(self.done)), ("completed", 3, 3))

    def test_a_worker_that_dies_anywhere_loses_and_repeats_nothing_recorded(self):
        async def order(ctx, input):
            first = await ctx.step("one", self.effect("one", 1))
            await ctx.sleep(0.001)
            second = await ctx.step("two", self.effect("two", 2))
            both = await Every([ctx.step("three", self.effect("three", 3)), ctx.sleep(0.001)])
            return [first, second, both[0]]
        for crash in range(8):
            self.done.clear()
            run = None
            dying = self.worker(order, lease="1h")
            dying.name += f"-{crash}"
            dying.crash_after = crash
            run = self.start()
            try:
                dying.work(self.has(run, "completed"))
            except KeyboardInterrupt:
                recorded = [each["name"] for each in self.server.get(f"/v1/runs/{run}/steps").json["items"]]
                before = list(self.done)
                # Its turns are anybody's when the server learns that it is gone.
                held = Worker(self.url, dying.workflows, dying.name)
                self.assertTrue(self.drop(held))
                found = self.finish(self.worker(order), run)
                for name in recorded:
                    self.assertEqual(self.done.count(name), before.count(name), (crash, name))
            found = self.run_of(run)
            self.assertEqual((found["status"], found["result"]), ("completed", [1, 2, 3]), crash)

    def drop(self, worker):
        """A claim that waits and whose connection ends."""
        import json
        import socket
        from urllib.parse import urlparse
        at = urlparse(self.url)
        body = json.dumps({"worker": worker.name, "workflows": [{"name": "idle", "version": "1"}], "wait": "30s"})
        Worker(self.url, {("idle", "1"): None}, "x").register()
        with socket.create_connection((at.hostname, at.port)) as connection:
            connection.sendall((f"POST /v1/turns/claim HTTP/1.1\r\nhost: {at.netloc}\r\ncontent-type: application/json\r\n"
                                f"content-length: {len(body)}\r\n\r\n{body}").encode())
            wait_until(lambda: True)
        return True

    def test_code_that_has_changed_pauses_the_run_and_the_right_code_goes_on(self):
        async def before(ctx, input):
            await ctx.step("a", self.effect("a"))
            await ctx.signal("go")
            return "done"

        async def after(ctx, input):
            await ctx.step("b", self.effect("b"))
            await ctx.signal("go")
            return "done"
        worker = self.worker(before)
        run = self.start()
        worker.work(self.has(run, "suspended"))
        worker.workflows = {(self.name, "1"): after}
        self.server.post(f"/v1/runs/{run}/signals/go", None)
        worker.work(self.has(run, "paused"))
        reason = self.run_of(run)["pause_reason"]
        self.assertEqual(reason["type"], "NondeterminismError")
        worker.workflows = {(self.name, "1"): before}
        self.server.post(f"/v1/runs/{run}/resume", {})
        self.assertEqual(self.finish(worker, run)["result"], "done")

    def test_a_run_stays_on_its_version_and_waits_for_somebody_who_has_it(self):
        async def first(ctx, input):
            await ctx.signal("go")
            return "first"

        async def second(ctx, input):
            return "second"
        old = self.worker(first)
        run = self.start()
        old.work(self.has(run, "suspended"))
        new = self.worker(second, "2")
        self.assertEqual(self.finish(new, self.start())["result"], "second")
        self.server.post(f"/v1/runs/{run}/signals/go", None)
        self.assertEqual(new.claim(), [])
        self.assertEqual(self.finish(old, run)["result"], "first")

    def test_two_holders_are_told_apart(self):
        async def order(ctx, input):
            return await ctx.step("once", self.effect("once", 1))
        worker = self.worker(order, lease="100ms")
        run = self.start()
        turns = []
        wait_until(lambda: turns.extend(worker.claim(wait="100ms")) or turns)
        again = []
        wait_until(lambda: again.extend(worker.claim(wait="100ms")) or again)
        self.assertNotEqual(turns[0]["turn"], again[0]["turn"])
        entry = {"kind": "step", "op": 1, "name": "once", "result": 1}
        body = {"turn": turns[0]["turn"], "entries": [entry], "outcome": "running"}
        late = worker.post("/v1/turns/commit", {"turns": [body]})["turns"][0]
        self.assertEqual((late["status"], late["code"]), ("fenced", "TURN_FENCED"))
        self.assertEqual(self.server.get(f"/v1/runs/{run}/steps").json["items"], [])

    def test_a_cancelled_run_cleans_up(self):
        async def order(ctx, input):
            try:
                await ctx.signal("never")
            except Cancelled:
                await ctx.step("clean", self.effect("clean"))
                raise
        worker = self.worker(order)
        run = self.start()
        worker.work(self.has(run, "suspended"))
        self.server.post(f"/v1/runs/{run}/cancel", {})
        self.assertEqual(self.finish(worker, run)["status"], "cancelled")
        self.assertEqual(self.done, ["clean"])

    def test_continue_as_begins_with_an_empty_journal(self):
        async def count(ctx, input):
            await ctx.step("count", self.effect(input))
            if input < 3:
                raise ContinueAs(input + 1)
            return input
        self.assertEqual(self.start_with(count, 1)["result"], 3)
        self.assertEqual(self.done, [1, 2, 3])

    def test_rewind_takes_the_steps_again(self):
        async def order(ctx, input):
            await ctx.step("a", self.effect("a"))
            await ctx.step("b", self.effect("b"))
            await ctx.signal("go")
        worker = self.worker(order)
        run = self.start()
        worker.work(self.has(run, "suspended"))
        answer = self.server.post(f"/v1/runs/{run}/rewind", {"step": "b"})
        self.assertEqual(answer.status, 200, answer.body)
        worker.work(lambda: self.done == ["a", "b", "b"])
        worker.work(self.has(run, "suspended"))

    def test_what_was_there_when_a_run_parked_is_in_the_journal_of_its_next_turn(self):
        async def order(ctx, input):
            return await ctx.signal("go")
        worker = self.worker(order)
        run = self.start()
        self.server.post(f"/v1/runs/{run}/signals/go", "early")
        turns = []
        wait_until(lambda: turns.extend(worker.claim(wait="100ms")) or turns)
        mark = {"kind": "mark", "op": 1, "name": "signal", "value": None}
        verdict = worker.post("/v1/turns/commit", {"turns": [
            {"turn": turns[0]["turn"], "outcome": "suspended", "keep": True, "entries": [mark],
             "waits": [{"op": 1, "on": "signal", "name": "go"}]}]})["turns"][0]
        self.assertEqual((verdict["status"], verdict["run_status"]), ("accepted", "running"))
        turns = []
        wait_until(lambda: turns.extend(worker.claim(wait="100ms")) or turns)
        self.assertEqual([each["data"] for each in turns[0]["journal"] if each["kind"] == "wait"], ["early"])

    def test_a_task_and_a_child_need_no_options(self):
        async def order(ctx, input):
            return None
        worker = self.worker(order)
        self.start()
        turns = []
        wait_until(lambda: turns.extend(worker.claim(wait="100ms")) or turns)
        entries = [{"kind": kind, "op": op, "name": self.name, "input": {"n": [1, 2, 3]}}
                   for op, kind in enumerate(("task", "child"), 1)]
        verdict = worker.post("/v1/turns/commit", {"turns": [
            {"turn": turns[0]["turn"], "outcome": "completed", "entries": entries}]})["turns"][0]
        self.assertEqual(verdict["status"], "accepted", verdict)

    def test_what_cannot_be_read_is_refused_and_the_turn_kept(self):
        async def order(ctx, input):
            return 1
        worker = self.worker(order)
        run = self.start()
        turns = []
        wait_until(lambda: turns.extend(worker.claim(wait="100ms")) or turns)
        token = turns[0]["turn"]
        for said in ({"outcome": "dancing"}, {"outcome": "suspended", "waits": []},
                     {"outcome": "suspended", "waits": [{"op": 1, "on": "task"}]},
                     {"outcome": "completed", "waits": []},
                     {"outcome": "running", "entries": [{"kind": "step", "name": "x"}]},
                     {"outcome": "running", "entries": [{"kind": "task", "op": 1, "name": "x", "options": {"tiemout": 1}}]},
                     {"outcome": "running", "entries": [{"kind": "mark", "name": "x", "valve": 1}]}):
            verdict = worker.post("/v1/turns/commit", {"turns": [{"turn": token, **said}]})["turns"][0]
            self.assertEqual(verdict["status"], "refused", (said, verdict))
        self.assertEqual(self.server.get(f"/v1/runs/{run}/steps").json["items"], [])
        verdict = worker.post("/v1/turns/commit", {"turns": [{"turn": token, "outcome": "completed", "result": 1}]})
        self.assertEqual(verdict["turns"][0]["status"], "accepted")
        self.assertEqual(worker.post("/v1/turns/heartbeat", {"turns": [{"turn": token}]})["turns"][0]["status"], "fenced")

    def test_the_input_is_held_to_the_schema_that_was_registered(self):
        async def order(ctx, input):
            return input["card"]
        worker = Worker(self.url, {(self.name, "1"): order}, self.id())
        schema = {"type": "object", "properties": {"card": {"type": "integer"}}, "required": ["card"]}
        worker.register(input=schema, description="Takes an order")
        wrong = self.server.post("/v1/runs", {"workflow": self.name, "input": {"card": "x"}})
        self.assertEqual((wrong.status, wrong.json["code"]), (400, "BAD_INPUT"))
        self.assertEqual(self.finish(worker, self.start({"card": 7}))["result"], 7)
        config = self.server.get("/v1/workflows/" + self.name).json["config"]
        self.assertEqual(config, {"description": "Takes an order", "input": schema})
        for said in ({"input": 7}, {"input": {"type": "oject"}}, {"description": "x" * 5000}, {"schema": {}}):
            answer = self.server.post("/v1/turns/register", {"workflows": [{"name": "wrong", "version": "1", **said}]})
            self.assertEqual(answer.status, 400, said)
        claim = {"worker": "w", "workflows": [{"name": self.name, "version": "1", "current": True}]}
        self.assertEqual(self.server.post("/v1/turns/claim", claim).status, 400)

    def test_a_commit_brings_the_next_turns(self):
        async def order(ctx, input):
            return input
        worker = self.worker(order)
        first = self.start(1)
        turn = worker.claim(wait="60s", max=1)[0]
        self.assertEqual(turn["run_id"], first)
        second = self.start(2)
        claim = {"worker": worker.name, "workflows": worker.served(), "max": 5, "lease": "60s"}
        answer = worker.post("/v1/turns/commit", {
            "turns": [{"turn": turn["turn"], "outcome": "completed", "result": 1}], "claim": claim})
        self.assertEqual([each["status"] for each in answer["turns"]], ["accepted"])
        found = answer["claimed"] or worker.claim(wait="60s")  # it may have become ready a moment after
        self.assertEqual([(each["run_id"], each["input"]) for each in found], [(second, 2)])
        worker.execute(found[0])
        self.assertEqual(self.run_of(second)["result"], 2)
        for wrong in ({}, {**claim, "wait": "1s"}, {**claim, "max": 0}, {**claim, "lease": "1ms"}, {**claim, "workflows": []}):
            answer = self.server.post("/v1/turns/commit", {"turns": [], "claim": wrong})
            self.assertEqual(answer.status, 400, wrong)

    def test_what_has_ended_meanwhile_comes_in_one_turn(self):
        async def order(ctx, input):
            first = await First([ctx.task("part", number) for number in range(20)])
            ctx.state("first", first[0])
            each = await ctx.step("between", self.effect("between"))
            all_of_them = await Every([*ctx.operations[:20], ctx.sleep(0.001), ctx.sleep(0.001)])
            return [first[0] in range(20), each, all_of_them[:20]]
        worker = self.worker(order)
        run = self.start()
        turn = worker.claim(wait="60s")[0]
        worker.execute(turn)
        tasks = self.server.claim(names=["part"], max=20)
        self.server.post("/v1/tasks/complete", {"results": [
            {"id": task["id"], "token": task["token"], "result": task["input"]} for task in tasks]})
        turns = 0
        while self.run_of(run)["status"] != "completed":
            for turn in worker.claim(wait="200ms"):
                worker.execute(turn)
                turns += 1
        self.assertEqual(self.run_of(run)["result"], [True, None, list(range(20))])
        self.assertLess(turns, 8)

    def test_what_comes_while_a_step_is_executed(self):
        worker = self.worker(None)
        run = self.start()
        turn = worker.claim(wait="60s")[0]

        def commit(**more):
            said = {"turn": turn["turn"], "outcome": "running", "waits": [
                {"op": 2, "on": "timer", "until": turn["now"]}, {"op": 3, "on": "signal", "name": "go"}]}
            verdict = worker.post("/v1/turns/commit", {"turns": [{**said, **more}]})["turns"][0]
            self.assertTrue(verdict["is_held"], verdict)
            return [(each["kind"], each["op"], each["outcome"], each["data"]) for each in verdict["journal"]]
        step = {"kind": "step", "op": 1, "name": "one", "result": 1}
        self.assertEqual(commit(entries=[step]), [("wait", 2, "ok", None)])  # the timer is over
        signal = {"waits": [{"op": 3, "on": "signal", "name": "go"}]}
        self.assertEqual(commit(**signal), [])
        answers = []
        waiting = threading.Thread(target=lambda: answers.append(worker.post("/v1/turns/claim", {
            "worker": worker.name, "workflows": worker.served(), "wait": "60s"})))
        waiting.start()
        self.server.post(f"/v1/runs/{run}/signals/go", "yes")
        waiting.join()
        self.assertEqual(answers[0], {"news": [turn["turn"]], "turns": []})
        told, = worker.post("/v1/turns/heartbeat", {"turns": [{"turn": turn["turn"]}]})["turns"]
        self.assertEqual((told["status"], told["news"]), ("accepted", True))
        self.assertEqual(commit(**signal), [("wait", 3, "ok", "yes")])
        self.assertEqual(commit(waits=[]), [])
        self.server.post(f"/v1/runs/{run}/cancel", {})
        self.assertEqual(commit(waits=[{"op": 4, "on": "signal", "name": "more"}]), [("wait", 4, "cancelled", None)])
        journal = worker.post("/v1/turns/journal", {"turn": turn["turn"]})["journal"]
        self.assertEqual([(each["kind"], each["op"]) for each in journal], [("step", 1), ("wait", 2), ("wait", 3), ("wait", 4)])
        self.assertEqual(worker.post("/v1/turns/commit", {"turns": [{
            "turn": turn["turn"], "outcome": "running", "deliver": "some", "waits": []}]})["turns"][0]["code"], "BAD_FIELD")

    def test_a_long_journal_is_read_by_name_and_operation(self):
        async def order(ctx, input):
            done = 0
            for _ in range(150):
                done += await ctx.step("same", lambda: 1)
            tasks = [ctx.task("late", number) for number in range(3)]
            await ctx.signal("go")
            return [done, await Every(tasks)]
        worker = self.worker(order)
        run = self.start()
        worker.work(self.has(run, "suspended"))
        steps = self.server.get(f"/v1/runs/{run}/steps?limit=1000").json["items"]
        self.assertEqual([each.get("iteration", 0) for each in steps if each["name"] == "same"], list(range(150)))
        self.server.post(f"/v1/runs/{run}/signals/go", 1)
        for task in self.server.claim(names=["late"], max=3):
            self.server.complete(task, task["input"])
        self.assertEqual(self.finish(worker, run)["result"], [150, [0, 1, 2]])

    def test_the_clock_of_a_server_that_is_no_test_is_not_moved(self):
        answer = self.server.post("/v1/time/advance", {"by": "1h"})
        self.assertEqual((answer.status, answer.json["code"]), (409, "CLOCK_REAL"))
        self.assertFalse(self.server.get("/v1/time").json["is_virtual"])


class VirtualTime(unittest.TestCase):
    """--virtual-time: a clock that stands still until it is moved."""

    def setUp(self):
        self.server = Server("--virtual-time", store="memory:")
        self.addCleanup(self.server.close)
        self.url = "http://127.0.0.1:%d" % self.server.port

    def now(self):
        return self.server.get("/v1/time").json["now"]

    def advance(self, **more):
        answer = self.server.post("/v1/time/advance", more)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def serve(self, **workflows):
        """A worker in a thread of its own; it ends with the test."""
        worker = Worker(self.url, {(name, "1"): function for name, function in workflows.items()}, "serving")
        worker.register()
        has_ended = threading.Event()
        thread = threading.Thread(target=worker.work, args=(has_ended.is_set,), kwargs={"seconds": 600})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(has_ended.set)
        return worker

    def start(self, workflow, **more):
        return self.server.post("/v1/runs", {"workflow": workflow, **more}).json["id"]

    def test_a_day_of_timers_passes_at_once(self):
        async def nightly(ctx, input):
            times = []
            for _ in range(24):
                await ctx.sleep(3600)
                times.append(ctx.now())
            return times
        self.serve(nightly=nightly)
        began = self.now()
        run = self.start("nightly")
        told = self.advance(by="23h")
        self.assertEqual((told["is_settled"], told["now"][11:], told["is_virtual"]), (True, self.now()[11:], True))
        self.assertNotEqual(told["next_at"], None)
        self.assertEqual(self.server.get("/v1/runs/" + run).json["status"], "suspended")
        self.advance(by="1h")
        found = self.server.get("/v1/runs/" + run).json
        self.assertEqual(found["status"], "completed", found)
        self.assertEqual(len(set(found["result"])), 24)
        self.assertEqual(found["result"][-1], self.now())  # each timer ended at its own moment
        self.assertEqual(found["result"][-1][11:], began[11:])

    def test_it_stands_still_by_itself_and_while_a_worker_executes(self):
        entered, leave = threading.Event(), threading.Event()

        def slow():
            entered.set()
            leave.wait()
            return "slept"

        async def work(ctx, input):
            done = await ctx.step("slow", slow)
            await ctx.sleep(60)
            return done
        self.serve(work=work)
        run, before = self.start("work"), self.now()
        entered.wait()
        told = self.advance(by="1h", wait="50ms")
        self.assertEqual((told["is_settled"], told["now"]), (False, before))
        leave.set()
        self.assertTrue(self.advance(by="1h")["is_settled"])
        self.assertEqual(self.server.get("/v1/runs/" + run).json["result"], "slept")

    def test_flows_tasks_and_long_polls(self):
        self.server.deploy("order", '''
          const label = await Task.run("print", {}, {scheduleTimeout: "2h"}).catch(error => error.name)
          await Timer.delay("1h")
          return label''')
        run = self.start("order")
        self.assertEqual(self.server.get(f"/v1/runs/{run}/result?wait=20ms").json["status"], "suspended")  # by the real clock
        self.assertEqual(self.server.claim(wait="20ms", names=["other"]), [])
        self.assertTrue(self.advance(by="3h")["is_settled"])
        self.assertEqual(self.server.get("/v1/runs/" + run).json["status"], "completed")

    def test_a_worker_that_is_gone_is_not_waited_for(self):
        async def work(ctx, input):
            return input
        worker = Worker(self.url, {("work", "1"): work}, "gone")
        worker.register()
        worker.claim(wait="0s")
        self.start("work")
        self.assertTrue(self.advance(by="1h")["is_settled"])

    def test_a_version_that_nobody_has_needs_a_person(self):
        self.server.post("/v1/turns/register", {"workflows": [{"name": "order", "version": "7"}]})
        run = self.start("order")
        self.assertTrue(self.advance(by="1h")["is_settled"])
        group, = self.server.get("/v1/attention").json["groups"]
        self.assertEqual((group["kind"], group["workflow"], group["name"], group["examples"]),
                         ("unserved_runs", "order", "7", [run]))
        self.assertEqual(group["title"], "1 run of order waits for a process that has version 7")

    def test_what_is_wrong_is_refused(self):
        for wrong in ({}, {"by": "1h", "to": self.now()}, {"to": "2001-01-01T00:00:00Z"}, {"bye": "1h"}):
            self.assertEqual(self.server.post("/v1/time/advance", wrong).status, 400, wrong)
        with self.assertRaisesRegex(RuntimeError, "VIRTUAL_TIME_STORE"):
            Server("--virtual-time")


if __name__ == "__main__":
    tap.main()
