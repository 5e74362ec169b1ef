"""The bad day: what a failed run, a task nobody does and a worker that is gone say about themselves."""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cli import CommandTest  # noqa: E402
from server import ABIDE, PATIENCE, wait_until  # noqa: E402

SAGA = """async function charge(order) {
  return await Task.run("charge", { order, note: "n".repeat(500) }, { retry: { attempts: 2, delay: "1h" } });
}
export default async function saga(order) {
  const [receipt] = await Promise.all([charge(order)]);
  return receipt;
}
"""
MULTI = """await Promise.race([Signal.next("approved by"), Event.wait("paid"), Timer.delay("1d")])"""
LONG = "x" * 700


class Terminal:
    """A command on a terminal of that many columns; what it wrote."""

    def __init__(self, arguments, environment, columns=60):
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        process = subprocess.Popen([ABIDE, *arguments], stdout=child, stderr=child,
                                   env=environment | {"TERM": "dumb"})
        os.close(child)
        pieces = []
        while True:
            try:
                piece = os.read(parent, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            pieces.append(piece)
        os.close(parent)
        process.wait(PATIENCE)
        self.text = b"".join(pieces).decode().replace("\r\n", "\n")


class FailureTest(CommandTest):
    def start(self, run_id, workflow, body="null"):
        self.ok("wf", "start", workflow, body, "--id", run_id)
        return run_id

    def fail_task(self, final=True, **error):
        task = self.server.claim(names=["charge"])[0]
        failure = {"type": "CardError", "message": "declined", **error}
        if final:
            failure["retryable"] = False
        self.server.post("/v1/tasks/complete", {
            "results": [{"id": task["id"], "token": task["token"], "error": failure}]})
        return task

    def fail_saga(self, run_id, **error):
        self.deploy_file("the-saga.flow", SAGA)
        self.start(run_id, "saga", '{"id": 7}')
        self.fail_task(**error)
        return self.server.wait_for(run_id, "failed")

    def deploy_file(self, name, source):
        return self.ok("deploy", self.file(name, source))

    def test_the_error_has_the_await_and_the_file(self):
        error = self.fail_saga("places-1")["error"]
        self.assertEqual(error["stack"].splitlines(), [
            'TaskError: task "charge" failed',
            "    at async charge (the-saga.flow:2:10)",
            "    at async saga (the-saga.flow:5:21)",
            "    at async the-saga.flow:4:1"])
        self.assertEqual(self.server.get("/v1/workflows/saga").json["file"], "the-saga.flow")

    def test_a_file_is_named_by_whoever_deploys(self):
        put = lambda path: self.server.call("PUT", path, raw=b"throw new Error('here')")
        first = put("/v1/workflows/named").json
        self.assertIsNone(self.server.get("/v1/workflows/named").json["file"])
        self.assertIn("at named.flow:1:7", self.server.run("named")["error"]["stack"])
        again = put("/v1/workflows/named?file=some/where/main.flow")
        self.assertEqual(again.json["version"], first["version"])  # the source is the version
        self.assertEqual(self.server.get("/v1/workflows/named").json["file"], "main.flow")
        put("/v1/workflows/named")
        self.assertEqual(self.server.get("/v1/workflows/named").json["file"], "main.flow")
        self.assertEqual(put("/v1/workflows/named?file=").json["code"], "BAD_NAME")
        wrong = self.server.call("PUT", "/v1/workflows/named?file=broken.flow", raw=b"let = 1 1")
        self.assertEqual(wrong.json["findings"][0]["file"], "broken.flow")

    def test_snapshots_name_the_file(self):
        self.deploy_file("waiter.flow", "export default async function waits() {\n  await Signal.next('go');\n}\n")
        self.start("places-2", "waits")
        self.server.wait_for("places-2", "suspended")
        frame = self.server.get("/v1/runs/places-2/snapshot").json["frames"][0]
        self.assertEqual((frame["file"], frame["line"], frame["column"]), ("waiter.flow", 2, 3))
        self.assertIn("waiter.flow:2:3", self.ok("wf", "show", "places-2").out)

    def test_show_has_everything_of_a_failure_as_text(self):
        self.fail_saga("show-1", details={"why": "limit"})
        shown = self.ok("wf", "show", "show-1").out
        self.assertIn('error       TaskError: task "charge" failed\n'
                      "                at async charge (the-saga.flow:2:10)\n", shown)
        self.assertRegex(shown, r"\n +caused by CardError: declined\n +details: \{\"why\": ?\"limit\"\}\n")
        self.assertRegex(shown, r"--> the-saga.flow:2:10\n +2 \|   return await Task.run\(.*\n +\| {10}\^\n")
        self.assertIn('input       {"id": 7}\n', shown.replace('{"id":7}', '{"id": 7}'))
        self.assertRegex(shown, r"(?m)^task +charge \(task_\w+\) in queue default: failed, attempt 1 of 1$")
        self.assertRegex(shown, r"(?m)^ +input \{.*… \(5\d\d bytes\)$")
        self.assertRegex(shown, r"(?m)^ +last error CardError: declined$")
        self.assertRegex(shown, r"(?m)^next +abide wf retry show-1   # ")
        self.assertRegex(shown, r"(?m)^ +abide wf fork show-1 charge   # ")
        self.assertRegex(shown, r"(?m)^ +abide wf fork show-1   # ")
        self.assertNotIn('"stack"', shown)
        fork = self.ok("wf", "fork", "show-1", "charge", "--id", "show-1-again")
        self.assertEqual(fork.out, "show-1-again\n")
        self.ok("wf", "cancel", "show-1-again")  # its task is not for the other tests
        self.server.wait_for("show-1-again", "cancelled")

    def test_a_terminal_cuts_no_error(self):
        self.fail_saga("show-2", message=LONG)
        shown = Terminal(["wf", "show", "show-2", *self.where], self.environment()).text
        self.assertIn(LONG, shown)

    def test_json_stays_complete(self):
        self.fail_saga("show-3")
        whole = self.ok("wf", "show", "show-3", "-o", "json").json
        self.assertEqual(whole["error"]["value"]["cause"]["message"], "declined")
        self.assertIn("the-saga.flow:2:10", whole["error"]["stack"])

    def test_waiting_and_result_print_the_same(self):
        self.fail_saga("result-1", message=LONG)
        for arguments in (["result", "result-1"], ["result", "result-1", "--wait"]):
            said = self.refused(1, "RUN_FAILED", "wf", *arguments).err
            self.assertIn("    at async charge (the-saga.flow:2:10)\n", said)
            self.assertIn("  caused by CardError: " + LONG, said)
            self.assertIn("abide wf show result-1", said)
        self.deploy_file("thrower.flow", "throw new Error('%s')" % LONG)
        said = self.refused(1, "RUN_FAILED", "wf", "start", "thrower", "--wait").err
        self.assertIn(LONG, said)

    def test_run_prints_causes_and_the_line(self):
        path = self.file("local.flow", "\nthrow new Error('outer', { cause: new TypeError('inner') });\n")
        said = self.bare("run", path).err
        self.assertRegex(said, r"^Uncaught Error: outer\n    at .*local.flow:2:7\n  caused by TypeError: inner\n")
        self.assertRegex(said, r"\n +2 \| throw new Error\(.*\n +\| {7}\^\n$")

    def test_a_task_in_backoff_says_when_it_is_tried_again(self):
        self.deploy_file("the-saga.flow", SAGA)
        self.start("backoff-1", "saga", '{"id": 1}')
        task = self.fail_task(final=False)
        shown = self.ok("wf", "show", "backoff-1").out
        self.assertRegex(shown, r"(?m)^task +charge \(task_\w+\) in queue default: queued, attempt 1 of 2$")
        self.assertRegex(shown, r"(?m)^ +next attempt in \d+m \(20\d\d-.*Z\)$")
        self.assertIn("abide task retry " + task["id"], shown)

    def test_what_is_waited_for_comes_with_the_command(self):
        self.deploy_file("multi.flow", MULTI)
        self.start("it's waiting", "multi")
        self.server.wait_for("it's%20waiting", "suspended")
        shown = self.ok("wf", "show", "it's waiting").out
        self.assertIn("abide signal 'it'\\''s waiting' 'approved by' '{}'", shown)
        self.assertIn("abide emit paid '{}'", shown)

    def test_a_paused_run_says_how_to_go_on(self):
        self.deploy_file("multi.flow", MULTI)
        self.start("held", "multi")
        self.ok("wf", "pause", "held")
        self.server.wait_for("held", "paused")
        self.assertIn("abide wf resume held", self.ok("wf", "show", "held").out)

    def test_a_child_that_failed_is_named(self):
        self.deploy_file("kid.flow", "throw new TypeError('small')")
        self.deploy_file("parent.flow", "await Workflow.run('kid')")
        self.start("family", "parent")
        self.server.wait_for("family", "failed")
        shown = self.ok("wf", "show", "family").out
        self.assertIn('error       ChildWorkflowError: child "kid" failed\n', shown)
        self.assertIn("at async parent.flow:1:1", shown)
        self.assertIn("caused by TypeError: small", shown)
        self.assertRegex(shown, r"abide wf show run_\w+   # the child")


class UnservedTest(CommandTest):
    def lonely(self, task, queue="default"):
        """A task that nobody asks for, of a run that is called as the task is."""
        self.deploy("order", "await Task.run(Inputs.task, 1, { queue: Inputs.queue })")
        self.ok("wf", "start", "order", '{"task": "%s", "queue": "%s"}' % (task, queue), "--id", task)

    def wait_for_a_look(self, mark):
        """Until the server has looked at all that was there before; `mark` is a name used once."""
        self.lonely(mark)
        wait_until(lambda: self.unserved(mark))

    def worker(self, *names, queue="default", seconds=30):
        """Waits for tasks, beside the test, under a name of its own."""
        name = "w-" + "-".join(names)
        def ask():
            try:
                self.server.post("/v1/tasks/claim", {"worker": name, "names": list(names), "queues": [queue],
                                                     "wait": "%ds" % seconds})
            except OSError:
                pass  # the server was stopped
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        wait_until(lambda: any(each["id"] == name and each["waiting"] for each in self.workers()["items"]))
        self.addCleanup(lambda: (self.server.post("/v1/tasks/claim", {"worker": name, "max": 0}), thread.join()))
        return name

    def workers(self):
        return self.server.get("/v1/workers").json

    def unserved(self, name):
        return next((each for each in self.workers()["unserved"] if each["name"] == name), None)

    def test_it_is_said_everywhere(self):
        self.worker("charge", "refund", queue="till")
        self.lonely("chrage", queue="till")
        found = wait_until(lambda: self.unserved("chrage"))
        self.assertEqual((found["queue"], found["asked"], found["did_you_mean"]),
                         ("till", ["charge", "refund"], "charge"))
        run = self.server.get("/v1/runs/chrage").json
        self.assertEqual(run["waits"][0]["unserved"]["did_you_mean"], "charge")
        task = self.server.get("/v1/tasks/" + run["waits"][0]["name"]).json
        self.assertEqual(task["unserved"]["asked"], ["charge", "refund"])
        shown = self.ok("wf", "show", "chrage").out
        self.assertIn('no worker asks for the task "chrage" in the queue "till"; workers of that queue '
                      'ask for charge, refund; did you mean "charge"?', shown)
        self.assertRegex(shown, r"(?m)^next +abide worker --task chrage --queue till --exec COMMAND   # ")
        doctor = self.ok("doctor").out
        self.assertRegex(doctor, r'(?m)^warning +workers: no worker asks for the task "chrage".*did you mean "charge"')
        self.assertIn('did you mean "charge"?', self.ok("workers").out)
        self.assertIn('abide_task_unserved_seconds{queue="till",task="chrage"}', self.server.get("/metrics").body)
        said = self.server.said('nobody asks for the task "chrage"')
        self.assertEqual(len(said), 1)
        self.assertIn('did you mean "charge"?', said[0])

    def test_once_per_name_and_again_when_it_is_served(self):
        self.deploy("many", "await Promise.all([1, 2, 3].map(n => Task.run('shipp', n)))")
        self.ok("wf", "start", "many", "--id", "many-1")
        wait_until(lambda: self.unserved("shipp"))
        self.ok("wf", "start", "many", "--id", "many-2")
        served = lambda: [line for line in self.server.lines if '"shipp"' in line and "is asked for now" in line]
        self.assertEqual(served(), [])
        self.assertEqual(len(self.server.claim(names=["shipp"])), 1)
        wait_until(served)
        self.assertEqual(sum('nobody asks for the task "shipp"' in line for line in self.server.lines), 1)
        self.assertIsNone(self.unserved("shipp"))

    def test_waiting_for_a_run_says_it_once(self):
        self.deploy("waits-in-vain", "return await Task.run('nowhere')")
        process = subprocess.Popen([ABIDE, "wf", "start", "waits-in-vain", "--wait", *self.where], text=True,
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        said = process.stderr.readline()
        self.assertIn('waits: no worker asks for the task "nowhere" in the queue "default"', said)
        self.server.complete(self.server.claim(names=["nowhere"])[0], "done")
        result, more = process.communicate(timeout=PATIENCE)
        self.assertEqual((process.returncode, result, more), (0, '"done"\n', ""))

    def test_another_queue_is_named(self):
        self.worker("pack", queue="depot")
        self.deploy("packs", "await Task.run('pack')")
        self.ok("wf", "start", "packs", "--id", "packs-1")
        found = wait_until(lambda: self.unserved("pack"))
        self.assertEqual(found["other_queues"], ["depot"])
        self.assertIn("it is asked for in depot", self.ok("wf", "show", "packs-1").out)

    def test_a_busy_worker_serves(self):
        self.deploy("works", "await Promise.all([Task.run('dig', 1), Task.run('dig', 2)])")
        self.ok("wf", "start", "works", "--id", "works-1")
        self.assertEqual(len(self.server.claim(names=["dig", "fill"], worker="digger", lease="10m")), 1)
        self.ok("task", "run", "fill", "1", "--id", "fill-1")  # whoever digs also fills
        self.wait_for_a_look("mark-one")
        self.assertIsNone(self.unserved("dig"))
        self.assertIsNone(self.unserved("fill"))

    def test_functions_and_paused_queues_are_no_news(self):
        self.assertIn("http", self.workers()["functions"][0]["names"])
        self.ok("queue", "pause", "held")
        self.ok("task", "run", "anything", "1", "--queue", "held", "--id", "held-1")
        self.wait_for_a_look("mark-two")
        self.assertIsNone(self.unserved("anything"))
        self.assertNotIn("unserved", self.server.get("/v1/tasks/held-1").json)

    def test_workers_are_counted(self):
        self.ok("task", "run", "count-me", "1", "--id", "c1")
        self.ok("task", "run", "count-me", "2", "--id", "c2")
        first, second = self.server.claim(names=["count-me"], worker="counted", max=2)
        held = next(each for each in self.workers()["items"] if each["id"] == "counted")
        self.assertEqual((held["held"], held["recent"]["claimed"], held["recent"]["completed"]), (2, 2, 0))
        self.server.complete(first, 1)
        self.server.post("/v1/tasks/complete", {"results": [{"id": second["id"], "token": second["token"],
                                                             "error": {"message": "no"}}]})
        mine = next(each for each in self.workers()["items"] if each["id"] == "counted")
        self.assertEqual((mine["handed_out"], mine["completed"], mine["failed"]), (2, 1, 1))
        self.assertEqual((mine["queues"], mine["names"], mine["waiting"]), (["default"], ["count-me"], 0))
        self.assertEqual((mine["held"], mine["recent"]["completed"], mine["recent"]["failed"]), (0, 1, 1))
        self.assertEqual((mine["recent"]["per_minute"], mine["library"]), (2, None))
        self.assertGreaterEqual(mine["last_seen_at"], mine["last_claim_at"])
        self.server.call("POST", "/v1/tasks/claim", {"worker": "counted", "names": ["count-me"]},
                         headers={"User-Agent": "counter/2"})
        mine = next(each for each in self.workers()["items"] if each["id"] == "counted")
        self.assertEqual(mine["library"], "counter/2")
        self.assertTrue(mine["present"])
        self.server.post("/v1/tasks/claim", {"worker": "counted", "max": 0})  # it stops
        self.assertFalse(next(each for each in self.workers()["items"] if each["id"] == "counted")["present"])
        self.assertIn("counted", self.ok("workers", "-o", "ids").lines)

    def test_the_memory_of_workers_is_bounded(self):
        for number in range(1100):
            self.server.post("/v1/tasks/claim", {"worker": "worker-%d" % number})
        items = self.workers()["items"]
        self.assertEqual(len(items), 1000)
        names = {each["id"] for each in items}
        self.assertIn("worker-1099", names)
        self.assertNotIn("worker-0", names)


if __name__ == "__main__":
    tap.main()
