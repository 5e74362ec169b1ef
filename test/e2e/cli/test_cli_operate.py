"""Commands of somebody who operates a server: queues, tasks that wait, lists that are watched, console
lines, backups."""
import json
import os
import re
import signal
import stat
import subprocess
import sys
import threading

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from cli import CommandTest  # noqa: E402
from server import ABIDE, PATIENCE, wait_until  # noqa: E402

PAY = "return await Task.run('%s', Inputs, { retry: { attempts: 3, delay: '1h' }, queue: '%s' })"


class QueueTest(CommandTest):
    def test_set_changes_what_is_named_and_keeps_the_rest(self):
        first = self.ok("queue", "set", "mail", "--max-running", "3", "--rate", "10/1m").out
        self.assertRegex(first, r"(?m)^max running +3$")
        self.assertRegex(first, r"(?m)^rate count +10$")
        self.assertRegex(first, r"(?m)^rate period +(1m|60s)$")
        self.ok("queue", "set", "mail", "--max-per-key", "2", "--pause")
        queue = self.ok("queue", "show", "mail", "-o", "json").json
        self.assertEqual([queue[name] for name in ("max_running", "max_per_key", "rate_count", "paused",
                                                   "set")], [3, 2, 10, True, True])
        self.assertIn("mail", self.ok("queue", "ls").out)
        queue = self.ok("queue", "set", "mail", "--rate", "0", "--resume", "-o", "json").json
        self.assertEqual((queue["rate_count"], queue["rate_period"], queue["paused"]),
                         (0, None, False))
        self.assertEqual(self.ok("queue", "pause", "mail").out, "mail: paused\n")
        self.assertEqual(self.ok("queue", "resume", "mail").out, "mail: resumed\n")
        self.assertEqual(self.ok("queue", "rm", "mail").out, "mail: limits removed\n")
        self.assertEqual(self.ok("queue", "rm", "mail").out, "mail: unchanged: it had none\n")
        self.assertFalse(self.ok("queue", "show", "mail", "-o", "json").json["set"])

    def test_many_at_once_lose_nothing(self):
        given = {"queue": [("--max-running", "max_running", 7), ("--max-per-key", "max_per_key", 8), ("--rate", "rate_count", "9/1m")],
                 "topic": [("--cap", "cap", 7), ("--expire", "expire", "8h"), ("--consume", "consume", "all")]}
        setters = [threading.Thread(target=self.ok, args=(thing, "set", "shared", option, str(value)))
                   for thing, options in given.items() for option, _, value in options]
        for setter in setters:
            setter.start()
        for setter in setters:
            setter.join()
        queue = self.ok("queue", "show", "shared", "-o", "json").json
        topic = self.ok("topic", "show", "shared", "-o", "json").json
        self.assertEqual([queue[name] for _, name, _ in given["queue"]], [7, 8, 9])
        self.assertEqual([topic[name] for _, name, _ in given["topic"]], [7, "8h", "all"])

    def test_what_is_refused(self):
        self.refused(2, "BAD_ARGUMENT", "queue", "set", "mail", "--rate", "10")
        self.refused(2, "BAD_DURATION", "queue", "set", "mail", "--rate", "10/often")
        self.refused(2, "BAD_QUEUE_LIMIT", "queue", "set", "mail", "--max-running", "-1")


class TaskTest(CommandTest):
    def fail(self, name, id):
        """A worker takes the task and fails."""
        task, = self.server.claim(names=[name], queues=[name])
        self.assertEqual(task["id"], id)
        self.server.post("/v1/tasks/complete", {"results": [
            {"id": id, "token": task["token"], "error": {"type": "E", "message": "broken"}}]})

    def task_of(self, run):
        def look():
            items = self.ok("task", "ls", "--run", run, "-o", "json").json["items"]
            return [each for each in items if each["queue"] != "system"]
        wait_until(look)
        return look()[0]["id"]

    def test_a_task_in_backoff_is_due_at_once(self):
        self.deploy("pay", PAY % ("charge", "charge"))
        self.ok("wf", "start", "pay", "{}", "--id", "pays")
        id = self.task_of("pays")
        self.fail("charge", id)
        task = self.ok("task", "show", id, "-o", "json").json
        self.assertEqual((task["status"], task["attempt"]), ("queued", 1))
        self.assertIsNotNone(task["next_at"])
        self.assertEqual(self.server.claim(names=["charge"], queues=["charge"], wait="0s"), [])
        answer = self.server.post("/v1/tasks/%s/retry" % id)
        self.assertEqual((answer.status, answer.json["changed"], answer.json["next_at"]),
                         (200, True, None))
        self.assertEqual(self.ok("task", "retry", id).out, id + ": unchanged: it is due already\n")
        self.fail("charge", id)
        self.assertEqual(self.ok("task", "retry", id).out, id + ": due now\n")
        task, = self.server.claim(names=["charge"], queues=["charge"])
        self.assertEqual((task["id"], task["attempt"]), (id, 3))  # none is given on top
        self.refused(1, "TASK_HAS_RUN", "task", "retry", id)
        self.server.post("/v1/tasks/complete", {"results": [
            {"id": id, "token": task["token"], "result": {"ok": True}}]})
        self.assertEqual(self.ok("wf", "result", "pays", "--wait").out, '{"ok":true}\n')

    def test_a_delayed_task_is_due_at_once(self):
        self.ok("task", "run", "late", "--id", "late-1", "--delay", "1h", "--queue", "late")
        self.assertEqual(self.server.claim(names=["late"], queues=["late"], wait="0s"), [])
        self.assertEqual(self.ok("task", "retry", "late-1").out, "late-1: due now\n")
        self.assertEqual(self.server.claim(names=["late"], queues=["late"])[0]["id"], "late-1")

    def test_tasks_by_name_and_run(self):
        self.deploy("pair", "await Promise.all([Task.run('left', 1), Task.run('right', 2)])")
        for run in ("pair-1", "pair-2"):
            self.ok("wf", "start", "pair", "--id", run)
            wait_until(lambda: len(self.ok("task", "ls", "--run", run, "--name", "left", "-o",
                                           "ids").lines) == 1)
        self.ok("task", "run", "left", "--id", "alone")
        left = self.ok("task", "ls", "--name", "left", "-o", "json").json["items"]
        self.assertEqual(len(left), 3)
        self.assertEqual({each["name"] for each in left}, {"left"})
        mine = self.ok("task", "ls", "--run", "pair-1", "-o", "json").json["items"]
        self.assertEqual(sorted(each["name"] for each in mine), ["left", "right"])
        one = self.server.get("/v1/tasks?run=pair-2&name=right&status=queued").json["items"]
        self.assertEqual([each["name"] for each in one], ["right"])
        self.assertEqual(self.ok("task", "ls", "--name", "nothing", "-o", "ids").out, "")
        pages, cursor = [], ""
        while cursor is not None:
            page = self.server.get("/v1/tasks?name=left&limit=1" + cursor).json
            pages += [each["id"] for each in page["items"]]
            cursor = "&cursor=" + page["next"] if page["next"] else None
        self.assertEqual(pages, [each["id"] for each in left])

    def test_runs_by_the_task_they_wait_for(self):
        self.deploy("waiting", "const waits = { task: () => Task.run('stamp', 1), "
                    "signal: () => Signal.when('stamp'), topic: () => Event.wait('stamp'), "
                    "child: () => Workflow.run('stamp') }; await waits[Inputs]()")
        self.deploy("stamp", "await Signal.when('never')")
        for kind in ("task", "signal", "topic", "child"):
            self.ok("wf", "start", "waiting", json.dumps(kind), "--id", "on-" + kind)

        def listed(*more):
            return self.ok("wf", "ls", "--waiting-on", "stamp", "-o", "ids", *more).lines
        wanted = ["on-child", "on-topic", "on-signal", "on-task"]
        wait_until(lambda: listed() == wanted)
        self.assertEqual(listed("--workflow", "stamp"), [])
        page = self.server.get("/v1/runs?waiting_on=stamp&limit=2").json
        self.assertEqual([run["id"] for run in page["items"]], wanted[:2])
        page = self.server.get("/v1/runs?waiting_on=stamp&limit=2&cursor=" + page["next"]).json
        self.assertEqual([run["id"] for run in page["items"]], wanted[2:])
        wait = page["items"][1]["waits"][0]
        self.assertEqual((wait["on"], wait["label"]), ("task", "stamp"))
        self.assertEqual(self.ok("wf", "ls", "--waiting-on", wait["name"], "-o", "ids").lines,
                         ["on-task"])
        self.assertRegex(self.ok("wf", "ls").out, r"(?m)^on-task +waiting +suspended +task stamp ")


class Following:
    """A command whose lines are read as they come."""

    def __init__(self, test, *arguments):
        self.process = subprocess.Popen([ABIDE, *arguments, *test.where], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=test.environment())
        test.addCleanup(self.close)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def has(self, pattern):
        wait_until(lambda: any(re.search(pattern, line) for line in list(self.lines)))

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.reader.join(PATIENCE)
        self.process.stdout.close()
        self.process.stderr.close()


class FollowTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.deploy("talks", "console.log('one', Inputs)\nawait Signal.when('go')\n"
                    "console.warn('two\\nlines')\nconsole.error('\\u001b[31mthree')")

    def test_a_list_that_is_watched_prints_what_changes(self):
        watch = Following(self, "wf", "ls", "--workflow", "talks", "--watch")
        watch.has("^RUN ")
        self.ok("wf", "start", "talks", "1", "--id", "w-1")
        watch.has(r"^w-1 +talks +suspended +signal go")
        self.ok("wf", "start", "talks", "1", "--id", "w-2")
        watch.has(r"^w-2 +talks +suspended")
        self.ok("signal", "w-1", "go")
        watch.has(r"^w-1 +talks +completed")
        self.assertEqual(watch.stop(), 130)
        self.assertEqual(sum(line.startswith("RUN ") for line in watch.lines), 1)
        self.assertNotIn("\x1b", "".join(watch.lines))
        # What has not changed is not repeated.
        self.assertEqual(sum(bool(re.match("w-2 .*suspended", line)) for line in watch.lines), 1)

    def test_a_list_that_is_watched_as_json(self):
        watch = Following(self, "wf", "ls", "--workflow", "talks", "--tag", "j", "--watch", "-o", "json")
        self.ok("wf", "start", "talks", "1", "--id", "j-1", "--tag", "j")
        watch.has('"id": ?"j-1".*"suspended"')
        self.assertEqual(watch.stop(), 130)
        for line in watch.lines:
            self.assertEqual(json.loads(line)["id"], "j-1")

    def test_console_lines_as_they_come(self):
        self.ok("wf", "start", "talks", "1", "--id", "l-1")
        wait_until(lambda: self.ok("logs", "l-1").out != "")
        self.assertRegex(self.ok("logs", "l-1").out, r"^[\d:.]{12}  log   one 1\n$")
        logs = Following(self, "logs", "l-1", "-f")
        logs.has("log   one 1$")
        self.ok("signal", "l-1", "go")
        self.assertEqual(logs.process.wait(PATIENCE), 0)
        logs.reader.join(PATIENCE)
        said = [line[14:] for line in logs.lines]
        self.assertEqual(said[:3], ["log   one 1", "warn  two", "warn  lines"])
        self.assertRegex(said[3], r"^error .*three$")
        self.assertNotIn("\x1b", said[3])
        self.assertEqual(self.ok("logs", "l-1").lines, logs.lines)
        entries = [json.loads(line) for line in self.ok("logs", "l-1", "-o", "json").lines]
        self.assertEqual([entry["name"] for entry in entries], ["log", "warn", "error"])

    def test_result_waits_within_its_limit(self):
        self.ok("wf", "start", "talks", "1", "--id", "r-1")
        wait_until(lambda: "suspended" in self.ok("wf", "show", "r-1").out)
        answer = self.refused(1, "RUN_NOT_ENDED", "wf", "result", "r-1", "--wait", "--wait-limit", "20ms")
        self.assertIn("has not ended within 20 ms, it is suspended; abide wf show r-1", answer.err)
        waiting = Following(self, "wf", "result", "r-1", "--wait", "--wait-limit", "1h")
        self.ok("signal", "r-1", "go")
        self.assertEqual(waiting.process.wait(PATIENCE), 0)


class BackupTest(CommandTest):
    def test_beside_a_busy_server(self):
        self.deploy("count", "return Inputs")
        is_over = threading.Event()

        def keep_busy():
            while not is_over.is_set():
                self.server.run("count", 1)
        busy = threading.Thread(target=keep_busy)
        busy.start()
        self.addCleanup(busy.join)
        self.addCleanup(is_over.set)
        copy = os.path.join(self.folder, "copy.db")
        for _ in range(3):
            done = self.bare("backup", copy, "--replace", "--store", self.server.store)
            self.assertEqual(done.code, 0, done.err)
            self.assertEqual(stat.S_IMODE(os.stat(copy).st_mode), 0o600)
            self.assertIn("all in order", self.bare("verify", copy).out)
        self.assertEqual([name for name in os.listdir(self.folder) if "partial" in name], [])
        ids = self.bare("wf", "ls", "-o", "ids", "--store", copy).out
        self.assertIn("run_", ids)  # the copy is a store

    def test_it_replaces_only_when_told(self):
        copy = self.file("copy.db", "precious")
        self.assertIn("BACKUP_EXISTS", self.bare("backup", copy, "--store", self.server.store).err)
        with open(copy, encoding="utf-8") as file:
            self.assertEqual(file.read(), "precious")
        answer = self.bare("backup", copy, "--store", self.server.store, "--replace", "-o", "json")
        self.assertEqual(answer.json["bytes"], os.path.getsize(copy))

    def test_the_store_is_that_of_the_settings(self):
        config = self.file("abide.toml", "store = '%s'" % self.server.store)
        copy = os.path.join(self.folder, "a.db")
        self.assertEqual(self.bare("backup", copy, "--config", config).code, 0)
        self.assertEqual(self.bare("backup", copy, "--replace", ABIDE_STORE=self.server.store).code, 0)

    def test_stores_on_servers_are_told_what_to_use(self):
        done = self.bare("backup", "x.db", "--store", "postgres://host/db")
        self.assertRegex(done.err, r"pg_dump.*\(BACKUP_UNSUPPORTED\)")
        self.assertNotIn("x.db", os.listdir("."))


if __name__ == "__main__":
    tap.main()
