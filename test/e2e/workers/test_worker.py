"""`abide worker`: a program per task, against the real server."""
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "sdk"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cases import PATIENCE, WorkerCase  # noqa: E402
from server import ABIDE  # noqa: E402


class Program:
    """An `abide worker`; its log is collected."""

    def __init__(self, url, *arguments, folder):
        self.process = subprocess.Popen([ABIDE, "worker", "--server", url, *arguments], cwd=folder,
                                        stderr=subprocess.PIPE, text=True)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            self.lines.append(line.rstrip("\n"))

    def wait_for(self, text):
        deadline = time.monotonic() + PATIENCE
        while not any(text in line for line in self.lines):
            if time.monotonic() > deadline:
                raise AssertionError("no %r in %s" % (text, self.lines))
            time.sleep(0.01)

    def ended(self):
        code = self.process.wait(PATIENCE)
        self.reader.join(PATIENCE)
        return code

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.ended()
        self.process.stderr.close()
        for line in self.lines:
            if "Sanitizer" in line or "runtime error:" in line:
                raise AssertionError("\n".join(self.lines))


class WorkerTest(WorkerCase, unittest.TestCase):
    def worker(self, *arguments, url=None):
        program = Program(url or self.url, *arguments, folder=self.folder)
        self.addCleanup(program.close)
        return program

    def shell(self, command, *arguments, task="job"):
        worker = self.worker("--task", task, *arguments, "--exec", command)
        worker.wait_for("is ready")
        return worker

    def path(self, name):
        return os.path.join(self.folder, name)

    def wait_for_file(self, name):
        deadline = time.monotonic() + PATIENCE
        while not os.path.exists(self.path(name)):
            self.assertLess(time.monotonic(), deadline, name)
            time.sleep(0.01)

    # ---- what goes in and out ----

    def test_input_and_result_are_json_byte_for_byte(self):
        self.worker("--task", "job", "--", "cat")
        for text in ('{"a":[1,2.50,{"b":null}]}', "12345678901234567", '"\\u00e9\\n"', "[]", "null"):
            made = self.server.post("/v1/tasks", raw='{"name":"job","input":%s}' % text).json["id"]
            self.assertEqual(self.task_ended(made)["status"], "completed")
            self.assertIn('"result":' + text, self.server.get("/v1/tasks/" + made).body)

    def test_a_large_payload(self):
        self.worker("--task", "job", "--", "cat")
        self.assertEqual(self.result_of("job", "x" * 3000000)["result"], "x" * 3000000)

    def test_no_output_is_null_and_text_is_text(self):
        self.shell("true")
        self.assertEqual(self.result_of("job")["result"], None)
        self.shell("printf 'one\\n\"two\"'", "--text", task="words")
        self.assertEqual(self.result_of("words")["result"], 'one\n"two"')

    def test_the_environment_tells_about_the_task(self):
        self.shell('printf \'["%s","%s","%s","%s","%s","%s"]\' "$ABIDE_TASK_ID" "$ABIDE_TASK_NAME" '
                   '"$ABIDE_QUEUE" "$ABIDE_ATTEMPT" "$ABIDE_RUN_ID" "$ABIDE_WORKER"',
                   "--queue", "side", "--queue", "default", "--name", "w7")
        task = self.result_of("job", queue="side")
        self.assertEqual(task["result"], [task["id"], "job", "side", "1", "", "w7"])
        self.server.deploy("flow", "return await Task.run('job')")
        run = self.server.run("flow", wait="50s")
        self.assertEqual(run["result"][4], run["id"])

    def test_several_tasks_and_standard_error_in_the_log(self):
        worker = self.worker("--task", "a", "--task", "b", "--exec",
                             "echo \"doing $ABIDE_TASK_NAME\" >&2; cat")
        self.assertEqual(self.result_of("a", 1)["result"], 1)
        self.assertEqual(self.result_of("b", 2)["result"], 2)
        worker.wait_for("doing a")
        worker.wait_for("doing b")

    # ---- errors ----

    def failure(self, command, *arguments, attempts=3):
        worker = self.shell(command, *arguments)
        task = self.result_of("job", 1, attempts=attempts, retry_delay="1ms")
        self.assertEqual(worker.stop(), 0)
        self.assertEqual(task["status"], "failed")
        return task["attempt"], task["error"]

    def test_an_exit_status_fails_the_attempt(self):
        attempt, error = self.failure("echo 'out of paper' >&2; exit 3")
        self.assertEqual(attempt, 3)
        self.assertEqual(error, {"type": "ExitError", "details": {"exit_status": 3},
                                 "message": "/bin/sh ended with status 3: out of paper"})

    def test_status_100_is_final(self):
        attempt, error = self.failure("exit 100")
        self.assertEqual((attempt, error["retryable"]), (1, False))

    def test_an_error_may_be_said_in_json(self):
        own = {"type": "Busy", "message": "later", "details": {"queue": 9}}
        attempt, error = self.failure("echo '%s'; exit 1" % json.dumps(own))
        self.assertEqual((attempt, error), (3, own))
        attempt, error = self.failure("echo '%s'; exit 100" % json.dumps(own))
        self.assertEqual((attempt, error), (1, {**own, "retryable": False}))
        attempt, error = self.failure("echo '%s'; exit 1" % json.dumps({**own, "retryable": False}))
        self.assertEqual(attempt, 1)
        attempt, error = self.failure("echo '[1]'; exit 1", attempts=1)
        self.assertEqual(error["type"], "ExitError")

    def test_output_that_is_no_json_is_an_error(self):
        attempt, error = self.failure("echo hello")
        self.assertEqual((attempt, error["type"]), (1, "ResultError"))
        self.assertIn("not JSON", error["message"])
        attempt, error = self.failure("head -c 5000000 /dev/zero | tr '\\0' x")
        self.assertEqual((attempt, error["type"]), (1, "ResultError"))

    def test_a_signal_is_an_error(self):
        _, error = self.failure("kill -9 $$", attempts=1)
        self.assertEqual((error["type"], error["message"]),
                         ("SignalError", "/bin/sh was ended by signal 9"))

    def test_a_program_that_cannot_be_started(self):
        self.worker("--task", "job", "--", "/nowhere/at/all")
        task = self.result_of("job", attempts=2, retry_delay="1ms")
        self.assertEqual((task["attempt"], task["error"]["type"]), (2, "ExecError"))

    def test_a_program_that_takes_too_long(self):
        _, error = self.failure("trap 'touch asked; exit 1' TERM; sleep 600 & wait", "--timeout",
                                "200ms", attempts=1)
        self.assertEqual(error["type"], "TimeoutError")
        self.wait_for_file("asked")
        _, error = self.failure("trap '' TERM; while :; do sleep 0.1; done", "--timeout", "200ms",
                                "--kill-after", "200ms", attempts=1)
        self.assertEqual(error["type"], "TimeoutError")

    # ---- life ----

    def test_cancelling_ends_the_program(self):
        worker = self.shell("trap 'touch asked; exit 1' TERM; touch begun; sleep 600 & wait",
                            "--heartbeat", "100ms")
        self.server.deploy("long", "await Task.run('job')")
        run_id = self.server.post("/v1/runs", {"workflow": "long"}).json["id"]
        self.wait_for_file("begun")
        task_id = self.server.get("/v1/tasks?status=leased").json["items"][0]["id"]
        self.server.post("/v1/runs/%s/cancel" % run_id, {"grace": 0})
        self.wait_for_file("asked")
        self.assertEqual(self.task_ended(task_id)["status"], "cancelled")
        self.assertEqual(worker.stop(), 0)

    def test_heartbeats_keep_a_long_task(self):
        self.shell("sleep 5; echo 1", "--lease", "2s")
        task = self.result_of("job")
        self.assertEqual((task["status"], task["attempt"]), ("completed", 1))

    def test_no_more_at_once_than_allowed(self):
        self.shell("echo + >> trace; sleep 0.2; echo - >> trace", "--concurrency", "3")
        for task_id in [self.task("job") for _ in range(12)]:
            self.assertEqual(self.task_ended(task_id)["status"], "completed")
        with open(self.path("trace"), encoding="utf-8") as file:
            text = file.read().split()
        most = now = 0
        for sign in text:
            now += 1 if sign == "+" else -1
            most = max(most, now)
        self.assertEqual((len(text), most), (24, 3))

    def test_a_killed_worker_s_task_is_done_by_another(self):
        first = self.shell("touch begun; sleep 5", "--lease", "1s")
        task_id = self.task("job", attempts=2, retry_delay="1ms")
        self.wait_for_file("begun")
        first.process.kill()
        self.shell("echo '\"another\"'", "--lease", "1s")
        task = self.task_ended(task_id)
        self.assertEqual((task["result"], task["attempt"]), ("another", 2))

    def test_a_frozen_worker_ends_the_program_of_a_lost_lease(self):
        first = self.shell("trap 'touch asked; exit 1' TERM; touch begun; sleep 600 & wait",
                           "--lease", "1s")
        task_id = self.task("job", attempts=2, retry_delay="1ms")
        self.wait_for_file("begun")
        first.process.send_signal(signal.SIGSTOP)
        other = self.server.claim(names=["job"], wait="60s", lease="60s")[0]
        self.assertEqual((other["id"], other["attempt"]), (task_id, 2))
        first.process.send_signal(signal.SIGCONT)
        self.wait_for_file("asked")
        self.server.complete(other, "the other one's")
        self.assertEqual(self.task_ended(task_id)["result"], "the other one's")
        self.assertEqual(first.stop(), 0)

    def test_a_server_may_go_away_and_come_back(self):
        worker = self.shell("touch begun; sleep 1; echo 5", "--lease", "60s")
        task_id = self.task("job")
        self.wait_for_file("begun")
        self.server.kill()
        worker.wait_for("telling outcomes")
        self.server.start()
        task = self.task_ended(task_id)
        self.assertEqual((task["result"], task["attempt"]), (5, 1))
        self.assertEqual(self.result_of("job")["result"], 5)

    def test_stopping_lets_programs_finish(self):
        worker = self.shell("touch begun; sleep 1; echo 5")
        task_id = self.task("job")
        self.wait_for_file("begun")
        self.assertEqual(worker.stop(), 0)
        self.assertEqual(self.server.get("/v1/tasks/" + task_id).json["result"], 5)
        later = self.task("job")
        self.assertEqual(self.server.get("/v1/tasks/" + later).json["status"], "queued")

    def test_what_does_not_finish_in_time_is_handed_back(self):
        worker = self.shell("trap '' TERM; touch begun; while :; do sleep 0.1; done", "--grace",
                            "100ms", "--kill-after", "200ms", "--lease", "1h")
        task_id = self.task("job")
        self.wait_for_file("begun")
        self.assertEqual(worker.stop(), 0)
        task = self.server.claim(names=["job"])[0]
        self.assertEqual((task["id"], task["attempt"]), (task_id, 1))

    def test_a_worker_may_have_the_store_to_itself(self):
        self.server.deploy("flow", "return await Task.run('job', Inputs)")
        run_id = self.server.post("/v1/runs", {"workflow": "flow", "input": 8}).json["id"]
        self.server.wait_for(run_id, "suspended")
        self.assertEqual(self.server.stop(), 0)
        worker = subprocess.Popen([ABIDE, "worker", "--store", self.server.store, "--task", "job",
                                   "--exec", "cat; touch done"], cwd=self.folder)
        self.addCleanup(lambda: worker.poll() is None and worker.kill())
        self.wait_for_file("done")
        worker.send_signal(signal.SIGTERM)
        self.assertEqual(worker.wait(PATIENCE), 0)
        self.server.start()
        self.assertEqual(self.server.wait_for(run_id, "completed")["result"], 8)

    # ---- arguments ----

    def test_a_refused_token_ends_it(self):
        seen = []
        worker = self.worker("--token", "s3cret", "--task", "job", "--", "cat",
                             url=self.refusing_server(seen))
        self.assertEqual(worker.ended(), 3)
        self.assertEqual(set(seen), {"Bearer s3cret"})
        self.assertIn("UNAUTHORIZED", "\n".join(worker.lines))

    def test_bad_arguments(self):
        for arguments in ([], ["--task", "x"], ["--exec", "cat"], ["--task", "x", "--exec", "a", "b"],
                          ["--task", "x", "--concurrency", "0", "--", "cat"],
                          ["--task", "x", "--lease", "soon", "--", "cat"],
                          ["--task", "x", "--lease", "1ms", "--", "cat"]):
            self.assertEqual(self.worker(*arguments).ended(), 2, arguments)


if __name__ == "__main__":
    tap.main()
