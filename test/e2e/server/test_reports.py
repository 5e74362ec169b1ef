"""Reports of workers that bring a claim: POST /v1/tasks/complete with `claim`."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import Server, wait_until  # noqa: E402

CHAIN = "let n = 0\nfor (let i = 0; i < 3; i++) n += await Task.run('step', i)\nreturn n\n"
WORKER = {"worker": "w", "names": ["step"]}


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.server.deploy("chain", CHAIN)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def first_task(self, run):
        self.assertEqual(self.server.post("/v1/runs", {"workflow": "chain", "id": run}).status, 201)
        return self.server.post("/v1/tasks/claim", {**WORKER, "wait": "30s"}).json["tasks"][0]

    def report(self, task, **more):
        return self.server.post("/v1/tasks/complete", {
            "results": [{"id": task["id"], "token": task["token"], "result": 1}], **more})

    def test_a_report_brings_the_next_task_of_the_run(self):
        task = self.first_task("chain-1")
        for _ in range(2):
            answer = self.report(task, claim=WORKER).json
            self.assertEqual(answer["results"], [{"id": task["id"], "status": "accepted"}])
            self.assertEqual([each["run_id"] for each in answer["tasks"]], ["chain-1"])
            task = answer["tasks"][0]
        self.assertEqual(self.report(task, claim=WORKER).json["tasks"], [])
        wait_until(lambda: self.server.get("/v1/runs/chain-1").json["status"] == "completed")

    def test_without_a_claim_there_are_no_tasks_in_the_answer(self):
        task = self.first_task("chain-2")
        self.assertEqual(list(self.report(task).json), ["results"])
        self.server.post("/v1/runs/chain-2/cancel", {})

    def test_what_a_claim_does_not_have_is_refused_and_nothing_is_stored(self):
        task = self.first_task("chain-3")
        for claim, said in (({**WORKER, "wait": "1s"}, "wait"), ({"names": ["step"]}, "worker"),
                            ({**WORKER, "max": 0}, "max"), ({**WORKER, "max": 1001}, "max"), ("w", "claim")):
            answer = self.report(task, claim=claim)
            self.assertEqual(answer.status, 400, answer.body)
            self.assertIn(said, answer.json["detail"])
        self.assertEqual(self.server.get(f"/v1/tasks/{task['id']}").json["status"], "leased")
        self.server.post("/v1/runs/chain-3/cancel", {})

    def test_a_result_that_is_fenced_does_not_keep_tasks_away(self):
        task = self.first_task("chain-4")
        self.assertEqual(self.server.post("/v1/tasks", {"name": "step", "id": "alone"}).status, 201)
        answer = self.report({**task, "token": 1}, claim=WORKER).json
        self.assertEqual(answer["results"][0]["status"], "fenced")
        self.assertEqual([each["id"] for each in answer["tasks"]], ["alone"])
        self.server.post("/v1/runs/chain-4/cancel", {})


if __name__ == "__main__":
    tap.main()
