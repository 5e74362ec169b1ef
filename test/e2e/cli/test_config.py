"""export const config as users meet it: refused with its place, and heeded over HTTP, in the handler API and on the
command line."""
import os
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from cli import CommandTest  # noqa: E402
from server import wait_until  # noqa: E402
from test_dev import Dev  # noqa: E402
from handlers import Client  # noqa: E402

BAD = """export const config = {
  timout: "2s",
  retry: { attempts: 0 },
}
return 1
"""
PICKY = """export const config = { input: { type: "object", required: ["n"],
  properties: { n: { type: "integer", minimum: 1 } }, additionalProperties: false } }
return Inputs.n
"""
FLAKY = """export const config = { retry: { attempts: 3, delay: "50ms", factor: 1 } }
if (Context.attempt < Inputs.good) throw new Error("attempt " + Context.attempt)
return Context.attempt
"""


class RefusedTest(CommandTest):
    def test_check_shows_each_fault_underlined_with_what_was_meant(self):
        answer = self.bare("check", self.file("order.flow", BAD))
        self.assertEqual(answer.code, 1)
        for text in ("order.flow:2:3", 'timout: "2s"', "  ^^^^^^", 'Did you mean "timeout"?', "order.flow:3:22",
                     "`attempts` lies between 1 and 1000", "2 errors"):
            self.assertIn(text, answer.err)
        self.assertEqual(self.bare("run", self.file("order.flow", BAD)).code, 2)

    def test_deployment_is_refused_with_the_places(self):
        answer = self.server.call("PUT", "/v1/workflows/order", raw=BAD.encode())
        self.assertEqual(answer.status, 422)
        found = [(item["code"], item["line"], item["column"]) for item in answer.json["findings"]]
        self.assertEqual(found, [("FLOW_CONFIG", 2, 3), ("FLOW_CONFIG", 3, 22)])
        self.assertEqual(self.server.get("/v1/workflows/order").status, 404)
        checked = self.server.call("POST", "/v1/check?file=order.flow", raw=BAD.encode()).json
        self.assertEqual((checked["ok"], len(checked["findings"])), (False, 2))

    def test_dev_says_what_is_wrong_and_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "order.flow"), "w", encoding="utf-8") as file:
                file.write(BAD)
            dev = Dev(folder)
            self.addCleanup(dev.close)
            dev.line("order.flow:2:3")
            dev.line('Did you mean "timeout"?')


class HeededTest(CommandTest):
    def test_time_out_and_retry_with_virtual_time(self):
        slow = self.file("slow.flow", 'export const config = { timeout: "2s" }\nawait Timer.delay("30s")\nreturn 1\n')
        answer = self.bare("run", "--virtual-time", slow)
        self.assertEqual((answer.code, answer.out), (1, ""))
        self.assertIn("TimeoutError", answer.err)
        flaky = self.file("flaky.flow", FLAKY)
        answer = self.bare("run", "--virtual-time", flaky, "--input", '{"good": 3}')
        self.assertEqual((answer.code, answer.out), (0, "3\n"))
        self.assertIn("fails, tries again", answer.err)
        plain = self.file("plain.flow", 'export const config = { retry: { attempts: 2, delay: 0 } }\nthrow new Error("x")')
        self.assertEqual(self.bare("run", plain).code, 1)

    def test_attempts_are_shown(self):
        self.server.deploy("flaky", FLAKY)
        done = self.server.run("flaky", {"good": 3})
        self.assertEqual((done["status"], done["result"], done["attempt"]), ("completed", 3, 3))
        entries = self.server.get("/v1/runs/%s/log" % done["id"]).json["items"]
        tries = [(item["attempt"], item["data"]["error"]["message"]) for item in entries if item["kind"] == "retry"]
        self.assertEqual(tries, [(1, "attempt 1"), (2, "attempt 2")])
        self.assertRegex(self.ok("wf", "show", done["id"]).out, r"attempt +3")
        failed = self.server.run("flaky", {"good": 9})
        self.assertEqual((failed["status"], failed["attempt"]), ("failed", 3))
        self.assertEqual(failed["error"]["message"], "attempt 3")

    def test_a_handler_runs_until_the_last_attempt_has_ended(self):
        self.server.deploy("slow", FLAKY.replace("50ms", "1h"))
        client = Client(self.server.port)
        handler = client.call("POST", "/workflows/slow/run-nowait",
                              {"start_event": {"good": 2}, "handler_id": "h1"})[1]
        self.assertEqual(handler["status"], "running")
        wait_until(lambda: self.server.get("/v1/runs/h1").json["attempt"] == 2)
        self.assertEqual(self.server.get("/v1/runs/h1").json["status"], "pending")
        status, handler = client.call("GET", "/handlers/h1")
        self.assertEqual((status, handler["status"]), (202, "running"))

    def test_options_of_a_start_count_more(self):
        self.server.deploy("late", 'export const config = { timeout: "1h", priority: 7, tags: ["own"], queue: "slow" }\n'
                           'return await Signal.next("go")')
        own = self.server.post("/v1/runs", {"workflow": "late"}).json
        given = self.server.post("/v1/runs", {"workflow": "late", "priority": 0, "tags": ["x"], "timeout": "2h"}).json
        self.assertEqual((own["priority"], own["tags"]), (7, ["own"]))
        self.assertEqual((given["priority"], given["tags"]), (0, ["x"]))
        self.assertLess(own["deadline_at"], given["deadline_at"])


class InputTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.server.deploy("picky", PICKY)

    def test_over_http(self):
        answer = self.server.post("/v1/runs", {"workflow": "picky", "input": {"n": "x"}})
        self.assertEqual((answer.status, answer.json["code"]), (400, "BAD_INPUT"))
        self.assertIn('$.n is string; wanted is integer (rule "type")', answer.json["detail"])
        self.assertEqual(self.server.post("/v1/runs", {"workflow": "picky"}).status, 400)
        self.assertEqual(self.server.run("picky", {"n": 4})["result"], 4)

    def test_in_the_handler_api(self):
        def start(path, event):
            return Client(self.server.port).call("POST", "/workflows/picky/" + path, {"start_event": event})
        for path in ("run", "run-nowait"):
            status, answer = start(path, {"n": 0})
            self.assertEqual(status, 400)
            self.assertIn("$.n is below 1", answer["detail"])
        self.assertIn('unknown member "m"', start("run", {"n": 1, "m": 2})[1]["detail"])
        self.assertEqual(start("run", {"n": 1})[0], 200)

    def test_on_the_command_line_and_in_schedules(self):
        self.refused(2, "BAD_INPUT", "wf", "start", "picky", '{"n":0}')
        self.refused(2, "BAD_INPUT", "schedule", "set", "s", "picky", "{}", "--every", "1h")
        answer = self.bare("run", self.file("picky.flow", PICKY), "--input", '{"n": 1.5}')
        self.assertEqual(answer.code, 2)
        self.assertIn("$.n is number; wanted is integer", answer.err)


if __name__ == "__main__":
    tap.main()
