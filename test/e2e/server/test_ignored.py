"""What is given and would have no effect is refused: fields, parameters and flags that exclude each other."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, ServerTest  # noqa: E402

LATER = "2090-01-01T00:00:00Z"


class IgnoredTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.deploy("flow", "return 1")

    def refused(self, method, path, body, code, word):
        answer = self.server.call(method, path, body)
        self.assertEqual((answer.status, answer.json.get("code")), (400, code), answer.body)
        self.assertIn(word, answer.json["detail"])

    def misused(self, code, word, *arguments):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("ABIDE_")}
        done = subprocess.run([ABIDE, *arguments], capture_output=True, text=True, timeout=120,
                              env=environment)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(word, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_a_start_has_one_time(self):
        self.refused("POST", "/v1/runs", {"workflow": "flow", "start_at": LATER, "delay": "5s"},
                     "BAD_OPTION", "start_at")
        url = "http://127.0.0.1:%d" % self.server.port
        self.misused(2, "not both", "wf", "start", "flow", "--at", LATER, "--delay", "5s",
                     "--server", url)
        self.server.deploy("both", "try { await Workflow.start('flow', null, "
                                   "{delay: '5s', startAt: '%s'}) } "
                                   "catch (error) { return error.message }" % LATER)
        self.assertIn("not both", self.server.run("both", {})["result"])

    def test_a_time_zone_goes_with_cron(self):
        for when in ({"every": "1h"}, {"at": LATER}):
            self.refused("PUT", "/v1/schedules/s", {"workflow": "flow", "timezone": "Europe/Berlin",
                                                    **when}, "BAD_SCHEDULE", "cron alone")
            answer = self.server.call("PUT", "/v1/schedules/s",
                                      {"workflow": "flow", "timezone": "UTC", **when})
            self.assertIn(answer.status, (200, 201), answer.body)  # as it is shown

    def test_a_retry_policy_goes_with_attempts(self):
        for field, value in (("retry_delay", "5s"), ("retry_max_delay", "5s"), ("retry_factor", 2)):
            self.refused("POST", "/v1/tasks", {"name": "nobody", field: value}, "BAD_FIELD", field)
            answer = self.server.post("/v1/tasks", {"name": "nobody", "attempts": 2, field: value})
            self.assertEqual(answer.status, 201, answer.body)

    def test_a_store_needs_no_token(self):
        for flag in ("--token", "--ca-file"):
            self.misused(2, "for a server", "wf", "ls", "--store", "memory:", flag, "x")

    def test_what_has_no_ids_shows_none(self):
        url = "http://127.0.0.1:%d" % self.server.port
        for command in ("stats", "doctor"):
            self.misused(2, "table or json", command, "-o", "ids", "--server", url)


if __name__ == "__main__":
    tap.main()
