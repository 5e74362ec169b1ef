"""The filter language over HTTP and on the command line: each term finds what it says, and no more."""
import os
import subprocess
import sys
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, PATIENCE, ServerTest  # noqa: E402

ORDER = """
State.set("customer", Inputs.customer)
if (Inputs.fails) throw new RangeError("no Room for " + Inputs.customer)
return await Signal.when("approval", { timeout: "24h" })
"""
MANY = 402  # failed runs: more than one request reads errors of


class FilterTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        server = cls.server
        cls.version = server.deploy("order", ORDER)["version"]
        server.deploy("parent", 'return await Workflow.run("order", { customer: 9 }, { id: "child" })')
        server.deploy("sleepy", 'await Timer.delay("24h")')
        for number, (customer, tag) in enumerate(((42, "eu"), (7, "us"), ("42", "a, b")), 1):
            server.post("/v1/runs", {"workflow": "order", "id": "order-%d" % number, "tags": [tag],
                                     "input": {"customer": customer}, "priority": number})
        server.run("order", {"customer": "x", "fails": True}, id="order-4", tags=["eu"])
        server.post("/v1/runs", {"workflow": "parent", "id": "mother"})
        server.post("/v1/runs", {"workflow": "sleepy", "id": "dozing"})
        server.post("/v1/runs", {"workflow": "sleepy", "id": "later", "delay": "1h"})
        for name in ("order-1", "order-2", "order-3", "mother", "child", "dozing"):
            server.wait_for(name, "suspended")
        server.post("/v1/runs/order-3/pause")

    def find(self, text, more=""):
        """Ids in order, all pages."""
        found, cursor = [], ""
        while True:
            answer = self.server.get("/v1/runs?q=" + urllib.parse.quote(text) + more + cursor)
            self.assertEqual(answer.status, 200, answer.body)
            self.assertGreaterEqual(answer.json["looked_at"], len(answer.json["items"]))
            found += [item["id"] for item in answer.json["items"]]
            if answer.json["next"] is None:
                return found
            cursor = "&cursor=" + answer.json["next"]

    def test_each_term_finds_what_it_says(self):
        cases = {
            "status:failed": ["order-4"],
            "status:failed,paused": ["order-4", "order-3"],
            "-status:suspended,pending": ["order-4", "order-3"],
            "workflow:parent,sleepy": ["later", "dozing", "mother"],
            "workflow~ORD -workflow:parent tag:eu": ["order-4", "order-1"],
            "id:order-1,order-2,none": ["order-2", "order-1"],
            "id~R-": ["order-4", "order-3", "order-2", "order-1"],
            "tag:eu": ["order-4", "order-1"],
            'tag:"a, b"': ["order-3"],
            "tag:us,eu status:suspended": ["order-2", "order-1"],
            "parent:mother": ["child"],
            "-parent:mother workflow:order tag:us": ["order-2"],
            "line:4": ["child", "order-3", "order-2", "order-1"],
            "line:4 status:paused": ["order-3"],
            "line:0": ["order-4"],
            "line>=1 line<4": ["dozing", "mother"],
            "-line:4 workflow:order": ["order-4"],
            "version:" + self.version[:6]: ["child", "order-4", "order-3", "order-2", "order-1"],
            "version:none," + self.version + " tag:us": ["order-2"],
            "version:" + self.version[:5]: [],
            "-version:" + self.version: ["later", "dozing", "mother"],
            "waiting:approval": ["child", "order-2", "order-1"],
            "waiting~APP tag:us": ["order-2"],
            "waiting:order": ["mother"],
            "waiting:timer": ["dozing"],
            "age>1h": [],
            "age<1h status:failed": ["order-4"],
            "changed<1h status:paused": ["order-3"],
            "changed>1h": [],
            "idle<1h tag:us": ["order-2"],
            "idle>1h": [],
            "created>2020-01-01 status:pending": ["later"],
            "created<2020-01-01T00:00:00Z": [],
            "priority>2": ["order-3"],
            "priority:1": ["order-1"],
            "priority>=1 priority<=2": ["order-2", "order-1"],
            "attempt>1": [],
            "attempt:1 tag:us": ["order-2"],
            "state.customer=42": ["order-1"],
            'state.customer="42"': ["order-3"],
            "state.customer=42,7": ["order-2", "order-1"],
            "-state.customer=42 tag:us": ["order-2"],
            "error:RangeError": ["order-4"],
            "error~ROOM": ["order-4"],
            "-error~room tag:eu": ["order-1"],
            "order-1": ["order-1"],
            "eu -order-1": ["order-4"],
            "": ["later", "dozing", "child", "mother", "order-4", "order-3", "order-2", "order-1"],
        }
        for text, expected in cases.items():
            with self.subTest(text):
                mine = [name for name in self.find(text) if not name.startswith("many")]
                if set(expected) == {"child", "mother"} or "child" in expected:
                    self.assertEqual(set(mine), set(expected))
                else:
                    self.assertEqual(mine, expected)

    def test_other_parameters_hold_too_and_pages_go_on(self):
        self.assertEqual(self.find("tag:eu", "&status=suspended"), ["order-1"])
        self.assertEqual(self.find("workflow~ord tag~u", "&limit=1"), ["order-4", "order-2", "order-1"])
        self.assertEqual(self.find("status:paused", "&status=failed"), [])
        self.assertEqual(self.find("tag:us", "&tag=eu"), [])

    def test_mistakes_are_refused_with_their_place(self):
        answer = self.server.get("/v1/runs?q=tag:eu%20status:faild")
        self.assert_problem(answer, 400, "BAD_FILTER")
        self.assertEqual(answer.json["detail"],
                         'at 14: there is no status "faild"; did you mean "failed"?')
        self.assert_problem(self.server.get("/v1/runs?q=" + "a" * 2001), 400, "BAD_FILTER")

    def test_a_search_box_gets_terms_faults_and_completions(self):
        read = self.server.get("/v1/filter?q=-status:failed%20workflow:so&at=14").json
        self.assertEqual(read["terms"][0], {"from": 0, "to": 14, "field": "status", "op": ":",
                                            "values": ["failed"], "negated": True})
        self.assertEqual([item["text"] for item in read["completions"]], ["failed"])
        read = self.server.get("/v1/filter?q=workflow:sl").json
        self.assertEqual(read["completions"], [{"text": "sleepy", "from": 9, "to": 11, "about": "workflow"}])
        read = self.server.get("/v1/filter?q=state.k=1%20nope:1").json
        self.assertEqual((read["ok"], read["terms"][0]["field"], read["error"]["at"], read["error"]["length"]),
                         (False, "state.k", 10, 4))
        self.assertEqual(len(self.server.get("/v1/filter").json["completions"]), 17)
        self.assert_problem(self.server.get("/v1/filter?q=a&at=2"), 400, "BAD_QUERY")

    def test_a_request_reads_a_bounded_number_of_errors(self):
        connection = self.server.connect()
        self.server.deploy("many", "throw new Error('of ' + Inputs)")
        for number in range(MANY):
            connection.request("POST", "/v1/runs", '{"workflow":"many","id":"many-%d","input":%d}' % (number, number))
            connection.getresponse().read()
        connection.close()
        self.server.run("many", MANY, id="many-last")
        for number in range(MANY):
            if self.server.get("/v1/runs/many-%d" % number).json["status"] != "failed":
                self.server.get("/v1/runs/many-%d/result?wait=50s" % number)
        answer = self.server.get("/v1/runs?q=error~nothing").json
        self.assertEqual((answer["items"], answer["looked_at"]), ([], 400))
        self.assertIsNotNone(answer["next"])
        self.assertEqual(self.find('workflow:many error~"of 0"'), ["many-0"])

    def test_the_command_line_takes_it(self):
        done = subprocess.run([ABIDE, "wf", "ls", "-q", "tag:us status:suspended", "-o", "ids"],
                              capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "ABIDE_SERVER": "http://127.0.0.1:%d" % self.server.port})
        self.assertEqual((done.returncode, done.stdout), (0, "order-2\n"), done.stderr)
        done = subprocess.run([ABIDE, "wf", "ls", "-q", "statis:failed"],
                              capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "ABIDE_SERVER": "http://127.0.0.1:%d" % self.server.port})
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "status"? (BAD_FILTER)', done.stderr)


if __name__ == "__main__":
    tap.main()
