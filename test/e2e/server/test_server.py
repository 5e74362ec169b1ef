"""The v1 API against the real server: each route with what it answers, and what it refuses."""
import json
import os
import resource
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import PATIENCE, Server, ServerTest, eventually, in_time, wait_until  # noqa: E402

APPROVAL = """
const receipt = await Task.run("charge", { amount: Inputs.amount })
const approval = await Signal.when("approval", { timeout: "1h" })
Stream.write({ approved: approval }, "progress")
return { receipt, approval }
"""


class ChangeTest(ServerTest):
    ROUNDS = 25

    def set_at_once(self, path, values):
        """Each field has a setter of its own, who sees it as it set it each time: nobody else undoes it."""
        wrong = []

        def keep_setting(field, of_round):
            for number in range(1, self.ROUNDS + 1):
                answer = self.server.call("PATCH", path, {field: of_round(number)})
                if answer.status != 200 or answer.json[field] != of_round(number):
                    wrong.append((field, number, answer.status, answer.body))
        setters = [threading.Thread(target=keep_setting, args=item) for item in values.items()]
        for setter in setters:
            setter.start()
        for setter in setters:
            setter.join()
        self.assertEqual(wrong, [])
        after = self.server.get(path).json
        self.assertEqual({field: after[field] for field in values},
                         {field: of_round(self.ROUNDS) for field, of_round in values.items()})

    def test_setters_of_one_queue_do_not_undo_each_other(self):
        self.server.call("PUT", "/v1/queues/shared", {"rate_count": 1, "rate_period": "1s"})
        self.set_at_once("/v1/queues/shared", {
            "max_running": lambda number: number, "max_per_key": lambda number: 100 + number,
            "rate_count": lambda number: 200 + number, "rate_period": lambda number: "%ds" % (number % 50 + 1),
            "paused": lambda number: number % 2 == 1})

    def test_setters_of_one_topic_do_not_undo_each_other(self):
        self.set_at_once("/v1/topics/shared", {
            "cap": lambda number: number, "expire": lambda number: "%ds" % (number % 50 + 1),
            "consume": lambda number: ("one", "all")[number % 2],
            "visible": lambda number: ("all", "after-create", "after-wait")[number % 3]})

    def test_nothing_given_changes_nothing(self):
        call = self.server.call
        before = call("PUT", "/v1/queues/still", {"max_running": 3, "max_per_key": 2, "paused": True}).json
        self.assertEqual(call("PATCH", "/v1/queues/still", {}).json, before)
        before = call("PUT", "/v1/topics/still", {"cap": 3, "consume": "all", "expire": "1h"}).json
        self.assertEqual(call("PATCH", "/v1/topics/still", {"cap": None}).json, before)
        self.assert_problem(call("PATCH", "/v1/topics/still", {"cap": -1}), 400, "BAD_FIELD")
        self.assert_problem(call("PATCH", "/v1/queues/still", {"rate_count": 5}), 400, "BAD_QUEUE_LIMIT")
        self.assert_problem(call("PATCH", "/v1/queues/still", {"max": 5}), 400, "UNKNOWN_FIELD")


class SystemTest(ServerTest):
    def test_health_and_version(self):
        for path in ("/livez", "/readyz", "/healthz", "/version"):
            self.assertEqual(self.server.get(path).status, 200)

    def test_head_has_the_headers_of_get_and_no_body(self):
        answer = self.server.call("HEAD", "/v1/stats")
        self.assertEqual((answer.status, answer.body), (200, ""))
        self.assertGreater(int(answer.headers["Content-Length"]), 10)

    def test_unknown_paths_and_methods(self):
        self.assert_problem(self.server.get("/v1/nothing"), 404, "NO_SUCH_PATH")
        answer = self.server.call("DELETE", "/v1/runs")
        self.assert_problem(answer, 405, "METHOD_NOT_ALLOWED")
        self.assertEqual(answer.headers["Allow"], "POST, GET, HEAD")

    def test_malformed_targets(self):
        self.assert_problem(self.server.get("/v1/runs/%zz"), 400, "BAD_URI")
        self.assert_problem(self.server.get("/v1/runs/a%00b"), 400, "BAD_URI")
        self.assert_problem(self.server.get("/v1/runs?x=%2"), 400, "BAD_URI")
        self.assert_problem(self.server.get("/v1/runs?colour=red"), 400, "UNKNOWN_PARAMETER")

    def test_stats_and_nodes(self):
        stats = self.server.get("/v1/stats").json
        self.assertIn("suspended", stats["runs"])
        self.server.deploy("stays", "await Signal.when('go')")
        before = self.server.get("/v1/stats").json["resident_runs"]
        self.server.post("/v1/runs", {"workflow": "stays", "id": "stays"})
        self.server.wait_for("stays", "suspended")
        # The only node of a file renews nothing, and says what is so now.
        [node] = [node for node in self.server.get("/v1/nodes").json["items"] if node["alive"]]
        self.assertEqual(node["version"], self.server.get("/version").json["version"])
        self.assertEqual(node["resident"], self.server.get("/v1/stats").json["resident_runs"])
        self.assertGreater(node["resident"], before - 1)
        self.assertEqual(node["executing"], self.server.get("/v1/stats").json["active_runs"])


class WorkflowTest(ServerTest):
    def test_deploy_show_list_and_roll_back(self):
        first = self.server.call("PUT", "/v1/workflows/versions", raw=b"return 1")
        self.assertEqual(first.status, 201)
        second = self.server.call("PUT", "/v1/workflows/versions", raw=b"return 2")
        self.assertNotEqual(first.json["version"], second.json["version"])
        self.assertEqual(self.server.run("versions")["result"], 2)
        again = self.server.call("PUT", "/v1/workflows/versions", raw=b"return 1")
        self.assertEqual((again.status, again.json["version"]), (200, first.json["version"]))
        self.assertEqual(self.server.run("versions")["result"], 1)
        shown = self.server.get("/v1/workflows/versions").json
        self.assertEqual((shown["source"], shown["current"]), ("return 1", True))
        old = self.server.get("/v1/workflows/versions?version=" + second.json["version"]).json
        self.assertEqual((old["source"], old["current"]), ("return 2", False))
        names = [item["name"] for item in self.server.get("/v1/workflows").json["items"]]
        self.assertIn("versions", names)

    def test_a_source_with_errors_is_refused_with_their_places(self):
        answer = self.server.call("PUT", "/v1/workflows/broken", raw=b"const x = 1\nconst y = ;\n")
        self.assert_problem(answer, 422, "FLOW_SYNTAX")
        self.assertEqual(answer.json["findings"][0]["line"], 2)
        self.assert_problem(self.server.get("/v1/workflows/broken"), 404, "WORKFLOW_NOT_FOUND")

    def test_what_cannot_work_is_refused_with_what_was_meant(self):
        source = b"await Tasks.run('x')\nawait Signal.when('x', { timout: '1s' })\nTimer.delay(1)\n"
        answer = self.server.call("PUT", "/v1/workflows/wrong", raw=source)
        self.assert_problem(answer, 422, "FLOW_CHECK")
        self.assertIn("2 errors", answer.json["detail"])
        name, option, dropped = answer.json["findings"]
        self.assertEqual((name["code"], name["severity"], name["line"], name["column"]),
                         ("FLOW_UNDECLARED", "error", 1, 7))
        self.assertEqual((name["suggestion"], name["excerpt"]), ("Task", "await Tasks.run('x')"))
        self.assertEqual((option["code"], option["suggestion"]), ("FLOW_OPTION", "timeout"))
        self.assertEqual((dropped["code"], dropped["severity"]), ("FLOW_UNAWAITED", "warning"))
        checked = self.server.call("POST", "/v1/check?file=wrong.flow", raw=source)
        self.assertFalse(checked.json["ok"])
        self.assertEqual(checked.json["findings"], answer.json["findings"])
        self.assert_problem(self.server.get("/v1/workflows/wrong"), 404, "WORKFLOW_NOT_FOUND")

    def test_warnings_are_in_the_answer_and_keep_nothing_back(self):
        answer = self.server.call("PUT", "/v1/workflows/hasty", raw=b"Timer.delay(1)\nreturn 1")
        self.assertEqual(answer.status, 201)
        [warning] = answer.json["warnings"]
        self.assertEqual((warning["code"], warning["severity"], warning["line"]),
                         ("FLOW_UNAWAITED", "warning", 1))
        self.assertEqual(self.server.run("hasty")["result"], 1)
        quiet = self.server.call("PUT", "/v1/workflows/hasty",
                                 raw=b"void Timer.delay(1)\nreturn 1")
        self.assertEqual(quiet.json["warnings"], [])

    def test_the_name_must_be_one_of_the_file(self):
        source = b"workflow a(inputs) { return 1 }\nworkflow b(inputs) { return 2 }\n"
        self.assert_problem(self.server.call("PUT", "/v1/workflows/c", raw=source), 400,
                            "WORKFLOW_NAME")
        answer = self.server.call("PUT", "/v1/workflows/a", raw=source)
        self.assertEqual([item["name"] for item in answer.json["workflows"]], ["a", "b"])
        self.assertEqual(self.server.run("b")["result"], 2)

    def test_check_deploys_nothing(self):
        good = self.server.call("POST", "/v1/check?file=x.flow", raw=b"return 1")
        self.assertEqual((good.json["ok"], good.json["workflows"]), (True, ["x"]))
        bad = self.server.call("POST", "/v1/check", raw=b"return require('fs')")
        self.assertFalse(bad.json["ok"])
        self.assertEqual(bad.json["findings"][0]["file"], "workflow.flow")
        self.assert_problem(self.server.get("/v1/workflows/x"), 404, "WORKFLOW_NOT_FOUND")


class RunTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.deploy("echo", "return Inputs")
        cls.server.deploy("approval", APPROVAL)
        cls.server.deploy("sleeper", "await Timer.delay(Inputs); return 'slept'")
        cls.server.deploy("failing", "throw new TypeError('not today')")

    def test_payloads_come_back_byte_for_byte(self):
        for text in ('[]', 'null', '12345678901234567', '{"a":1.0,"b":[ ]}', '"\\u00e9\\n"'):
            body = '{"workflow":"sleeper","input":%s}' % text
            answer = self.server.post("/v1/runs", raw=body)
            self.assertEqual(answer.status, 201)
            log = self.server.get("/v1/runs/%s/log" % answer.json["id"]).body
            self.assertIn('"data":' + text, log)

    def test_start_answers_the_run(self):
        run = self.server.post("/v1/runs", {"workflow": "sleeper", "input": 60, "tags": ["x", "y"],
                                            "priority": 5}).json
        self.assertTrue(run["id"].startswith("run_"))
        self.assertEqual((run["workflow"], run["tags"], run["priority"]), ("sleeper", ["x", "y"], 5))
        shown = self.server.wait_for(run["id"], "suspended")
        self.assertEqual(shown["waits"][0]["on"], "timer")
        self.assertIsNotNone(shown["next_wake_at"])

    def test_a_start_answers_what_was_written_without_asking_the_store(self):
        before = self.server.figure("abide_store_reads_total")
        answers = [self.server.post("/v1/runs", {"workflow": "echo", "delay": "1h", "tags": ["a"]}).json
                   for _ in range(30)]
        self.assertLess(self.server.figure("abide_store_reads_total") - before, 30)
        self.assertEqual(self.server.get("/v1/runs/" + answers[0]["id"]).json, answers[0])

    def test_an_existing_id_or_key_starts_nothing(self):
        body = {"workflow": "echo", "input": 1, "id": self.run_id()}
        self.assertEqual(self.server.post("/v1/runs", body).status, 201)
        self.assertEqual(self.server.post("/v1/runs", body).status, 200)
        key = {"Idempotency-Key": self.run_id()}
        first = self.server.post("/v1/runs", {"workflow": "echo", "input": 1}, headers=key)
        again = self.server.post("/v1/runs", {"workflow": "echo", "input": 1}, headers=key)
        self.assertEqual((first.status, again.status), (201, 200))
        self.assertEqual(first.json["id"], again.json["id"])
        other = self.server.post("/v1/runs", {"workflow": "echo", "input": 2}, headers=key)
        self.assert_problem(other, 422, "DUPLICATE_KEY")

    def test_a_bad_value_has_one_code_and_one_sentence_everywhere(self):
        self.server.deploy("inner", "return 1")
        sentence = "takes a whole number from -1000 … 1000, not 5000"
        for method, path, body in (
                ("POST", "/v1/runs", {"workflow": "inner"}),
                ("POST", "/v1/tasks", {"name": "x"}),
                ("PUT", "/v1/schedules/s", {"workflow": "inner", "every": "1h"})):
            answer = self.server.call(method, path, {**body, "priority": 5000})
            self.assert_problem(answer, 400, "BAD_OPTION")
            self.assertEqual(answer.json["detail"], "priority " + sentence)
            answer = self.server.call(method, path, {**body, "timeout": "soon"})
            self.assert_problem(answer, 400, "BAD_DURATION")
        for call in ("Task.run", "Workflow.run"):
            self.server.deploy("outer", "try { await %s('inner', 1, Inputs) }\n"
                                        "catch (e) { return [e.code, e.message] }" % call)
            code, message = self.server.run("outer", {"priority": 5000})["result"]
            self.assertEqual((code, message), ("BAD_OPTION", "`priority` of `%s` %s" % (call, sentence)))
            code, message = self.server.run("outer", {"queue": ""})["result"]
            self.assertEqual((code, message), ("BAD_NAME", "`queue` of `%s` is missing or empty" % call))
        answer = self.server.post("/v1/runs", {"workflow": "inner", "queue": ""})
        self.assert_problem(answer, 400, "BAD_NAME")
        self.assertEqual(answer.json["detail"], "queue is missing or empty")

    def test_bad_starts(self):
        post = self.server.post
        self.assert_problem(post("/v1/runs", {"workflow": "nobody"}), 404, "WORKFLOW_NOT_FOUND")
        self.assert_problem(post("/v1/runs", {"workflo": "echo"}), 400, "UNKNOWN_FIELD")
        self.assert_problem(post("/v1/runs", {"input": 1}), 400, "MISSING_FIELD")
        self.assert_problem(post("/v1/runs", {"workflow": 7}), 400, "BAD_FIELD")
        self.assert_problem(post("/v1/runs", {"workflow": "echo", "delay": "soon"}), 400,
                            "BAD_DURATION")
        self.assert_problem(post("/v1/runs", {"workflow": "echo", "priority": 5000}), 400,
                            "BAD_OPTION")
        self.assert_problem(post("/v1/runs", {"workflow": "echo", "id": "a\u0000b"}), 400, "BAD_ID")
        self.assert_problem(post("/v1/runs", {"workflow": "echo", "tags": [1]}), 400, "BAD_TAG")
        self.assert_problem(post("/v1/runs", raw='{"workflow":"echo",}'), 400, "BAD_JSON")
        self.assert_problem(post("/v1/runs"), 400, "BODY_REQUIRED")
        self.assert_problem(post("/v1/runs", raw="[" * 5000), 422, "JSON_TOO_DEEP")
        large = '{"workflow":"echo","input":"' + "x" * (4 << 20) + '"}'
        self.assert_problem(post("/v1/runs", raw=large), 413, "PAYLOAD_TOO_LARGE")
        self.assert_problem(post("/v1/runs", raw="x" * (5 << 20)), 413, "BODY_TOO_LARGE")
        self.assert_problem(post("/v1/runs?wait=never", {"workflow": "echo"}), 400, "BAD_QUERY")

    def test_result_waits(self):
        run = self.server.post("/v1/runs", {"workflow": "sleeper", "input": "300ms"}).json
        early = self.server.get("/v1/runs/%s/result" % run["id"])
        self.assertEqual(early.status, 202)
        late = self.server.get("/v1/runs/%s/result?wait=20s" % run["id"])
        self.assertEqual((late.status, late.json), (200, {"status": "completed", "result": "slept"}))
        self.assert_problem(self.server.get("/v1/runs/none/result"), 404, "RUN_NOT_FOUND")

    def test_a_failed_run_shows_its_error(self):
        run = self.server.run("failing")
        self.assertEqual(run["status"], "failed")
        self.assertEqual(run["error"]["message"], "not today")
        answer = self.server.get("/v1/runs/%s/result" % run["id"]).json
        self.assertEqual(answer["status"], "failed")
        self.assertIn("failing.flow:1", json.dumps(answer["error"]))

    def test_list_filters_and_pages(self):
        tag = self.run_id()
        ids = [self.server.post("/v1/runs", {"workflow": "sleeper", "input": 60, "tags": [tag]})
               .json["id"] for _ in range(7)]
        seen, cursor = [], ""
        while cursor is not None:
            page = self.server.get("/v1/runs?tag=%s&limit=3%s" % (
                tag, "&cursor=" + cursor if cursor else "")).json
            self.assertLessEqual(len(page["items"]), 3)
            seen += [item["id"] for item in page["items"]]
            cursor = page["next"]
        self.assertEqual(seen, ids[::-1])
        for run_id in ids:
            self.server.wait_for(run_id, "suspended")
        count = len(self.server.get("/v1/runs?tag=%s&status=suspended,failed" % tag).json["items"])
        self.assertEqual(count, 7)
        for query, wanted in (("status=failed&status=suspended", 7), ("workflow=sleeper,no", 7),
                              ("workflow=no&workflow=sleeper", 7), ("workflow=no&workflow=other", 0),
                              ("workflow=", 0), ("workflow=sleeper&status=failed,running", 0)):
            found = self.server.get("/v1/runs?tag=%s&%s" % (tag, query)).json["items"]
            self.assertEqual(len(found), wanted, query)
        self.assertEqual(self.server.get("/v1/runs?tag=%s&status=failed" % tag).json,
                         {"items": [], "next": None})
        self.assert_problem(self.server.get("/v1/runs?status=tired"), 400, "BAD_QUERY")
        self.assert_problem(self.server.get("/v1/runs?limit=0"), 400, "BAD_QUERY")
        self.assert_problem(self.server.get("/v1/runs?cursor=abc"), 400, "BAD_QUERY")
        self.assert_problem(self.server.get("/v1/runs?tag=a&tag=b"), 400, "BAD_QUERY")

    def test_changes(self):
        run_id = self.server.post("/v1/runs", {"workflow": "sleeper", "input": 60}).json["id"]
        path = "/v1/runs/" + run_id
        self.server.wait_for(run_id, "suspended")
        self.assertEqual(self.server.post(path + "/pause").json, {"changed": True})
        self.assertEqual(self.server.post(path + "/pause").json, {"changed": False})
        self.assertEqual(self.server.get(path).json["status"], "paused")
        self.assertEqual(self.server.post(path + "/resume").json, {"changed": True})
        self.assertEqual(self.server.post(path + "/cancel", {"reason": "enough"}).json,
                         {"changed": True})
        self.server.wait_for(run_id, "cancelled")
        self.assertEqual(self.server.post(path + "/cancel").json, {"changed": False})
        self.assert_problem(self.server.post(path + "/signals/x", 1), 409, "RUN_TERMINAL")
        self.assertEqual(self.server.call("DELETE", path).status, 204)
        self.assert_problem(self.server.get(path), 404, "RUN_NOT_FOUND")
        self.assert_problem(self.server.post(path + "/cancel"), 404, "RUN_NOT_FOUND")

    def test_a_living_run_is_not_deleted(self):
        run_id = self.server.post("/v1/runs", {"workflow": "sleeper", "input": 60}).json["id"]
        self.assertEqual(self.server.call("DELETE", "/v1/runs/" + run_id).status, 409)

    def test_odd_ids(self):
        for run_id in ("a/b", "ü ö", "100%", "x?y=z#w", "q+r"):
            quoted = "".join("%%%02X" % byte for byte in run_id.encode("utf-8"))
            self.assertEqual(self.server.post("/v1/runs", {"workflow": "echo", "id": run_id}).status,
                             201)
            self.assertEqual(self.server.get("/v1/runs/" + quoted).json["id"], run_id)

    def test_tasks_signals_and_the_stream(self):
        run_id = self.server.post("/v1/runs", {"workflow": "approval",
                                               "input": {"amount": 5}}).json["id"]
        task = self.server.claim(names=["charge"])[0]
        self.assertEqual((task["name"], task["input"], task["attempt"]), ("charge", {"amount": 5}, 1))
        self.assertEqual(task["run_id"], run_id)
        self.assertEqual(self.server.complete(task, {"receipt": 1})["status"], "accepted")
        # Said again, perhaps because the answer was lost: nothing changes. Another result, or another
        # lease: refused.
        self.assertEqual(self.server.complete(task, {"receipt": 1})["status"], "accepted")
        self.assertEqual(self.server.complete(task, {"receipt": 2})["status"], "fenced")
        stale = {"id": task["id"], "token": task["token"] - 1}
        self.assertEqual(self.server.complete(stale, {"receipt": 3})["status"], "fenced")
        collected = []
        reader = threading.Thread(target=lambda: collected.append(
            self.server.stream("/v1/runs/%s/events" % run_id)))
        reader.start()
        self.server.wait_for(run_id, "suspended")
        signal = self.server.post("/v1/runs/%s/signals/approval?id=s1" % run_id, {"by": "Ada"})
        self.assertEqual(signal.status, 202)
        reader.join(PATIENCE)
        status, events = collected[0]
        self.assertEqual(status, 200)
        self.assertEqual([number for number, _, _ in events], list(range(1, len(events) + 1)))
        self.assertEqual(events[-1][1], "finished")
        self.assertEqual(events[-1][2]["data"], {"receipt": {"receipt": 1}, "approval": {"by": "Ada"}})
        self.assertIn(("progress", {"approved": {"by": "Ada"}}),
                      [(data["name"], data.get("data")) for _, _, data in events])
        middle = events[1][0]
        _, rest = self.server.stream("/v1/runs/%s/events" % run_id, {"Last-Event-ID": str(middle)})
        self.assertEqual(rest, events[2:])
        last = str(events[-1][0])
        self.assertEqual(self.server.stream("/v1/runs/%s/events?after=%s" % (run_id, last))[0], 204)
        steps = self.server.get("/v1/runs/%s/steps" % run_id).json["items"]
        self.assertTrue(all("position" in step for step in steps))

    def test_tokens_of_leases_cannot_be_guessed(self):
        for number in range(6):
            self.server.post("/v1/tasks", {"name": "secret", "queue": "secrets"})
        tasks = [task for _ in range(2)
                 for task in self.server.claim(queues=["secrets"], max=3)]
        tokens = sorted(task["token"] for task in tasks)
        self.assertTrue(all(0 < token < 2 ** 53 for token in tokens))
        self.assertTrue(all(after - before > 2 ** 20 for before, after in zip(tokens, tokens[1:])))
        self.assertEqual(self.server.complete({**tasks[0], "token": tokens[0] + 1}, 1)["status"],
                         "fenced")
        for task in tasks:
            self.assertEqual(self.server.complete(task, 1)["status"], "accepted")

    def test_steps_are_found_by_name(self):
        self.server.deploy("twice", "return [await Task.run('add', 1), await Task.run('add', 2), "
                                    "await Task.run('other')]")
        run_id = self.server.post("/v1/runs", {"workflow": "twice"}).json["id"]
        for number in (10, 20, 30):
            self.server.complete(self.server.claim(names=["add", "other"])[0], number)
        self.server.wait_for(run_id, "completed")
        path = "/v1/runs/%s/steps" % run_id
        results = lambda query: [(item["name"], item.get("iteration", 0), item["data"])
                                 for item in self.server.get(path + query).json["items"]
                                 if item["kind"] == "wait"]
        self.assertEqual(results(""), [("add", 0, 10), ("add", 1, 20), ("other", 0, 30)])
        self.assertEqual(results("?name=add"), [("add", 0, 10), ("add", 1, 20)])
        self.assertEqual(results("?name=add&iteration=1"), [("add", 1, 20)])
        self.assertEqual(results("?name=nothing"), [])
        self.assert_problem(self.server.get(path + "?iteration=1"), 400, "BAD_QUERY")
        ends = [entry for entry in self.server.get("/v1/runs/%s/log" % run_id).json["items"]
                if entry["kind"] == "wait"]
        self.assertEqual([(entry["name"], entry["step_state"]) for entry in ends],
                         [("add", "not_running")] * 2 + [("other", "not_running")])
        self.assertTrue(all(entry["target"].startswith("task_") for entry in ends))

    def test_a_task_nobody_awaits_outlives_its_run(self):
        self.server.deploy("teller", "Task.run('tell', Inputs); return 'told'")
        run = self.server.run("teller", 7)
        self.assertEqual((run["status"], run["result"]), ("completed", "told"))
        task = self.server.claim(names=["tell"])[0]
        self.assertEqual((task["input"], task["run_id"]), (7, run["id"]))
        self.assertEqual(self.server.complete(task, None)["status"], "accepted")
        self.assertEqual(self.server.get("/v1/runs/" + run["id"]).json["result"], "told")

    def test_stream_errors(self):
        self.assert_problem(self.server.get("/v1/runs/none/events"), 404, "RUN_NOT_FOUND")
        run = self.server.run("echo")
        answer = self.server.call("GET", "/v1/runs/%s/events" % run["id"],
                                  headers={"Last-Event-ID": "x"})
        self.assert_problem(answer, 400, "BAD_HEADER")


class EventTest(ServerTest):
    def test_events_wake_waiters_and_are_kept(self):
        self.server.deploy("listener", "return await Event.wait(Inputs)")
        first = self.server.post("/v1/runs", {"workflow": "listener", "input": "news"}).json["id"]
        self.server.wait_for(first, "suspended")
        self.assertEqual(self.server.get("/v1/topics/news").json["waiters"], [first])
        answer = self.server.post("/v1/events/news?id=e1", {"n": 1})
        self.assertEqual((answer.status, answer.json["resumed"]), (202, 1))
        self.assertEqual(self.server.wait_for(first, "completed")["result"], {"n": 1})
        self.assertTrue(self.server.post("/v1/events/news?id=e1", {"n": 1}).json["duplicate"])
        self.assertTrue(self.server.post("/v1/events/news", [2]).json["pending"])
        self.assertEqual(self.server.run("listener", "news")["result"], [2])

    def test_topic_policy(self):
        answer = self.server.call("PUT", "/v1/topics/limited", {"consume": "all", "cap": 2,
                                                               "expire": "1h"})
        self.assertEqual((answer.json["consume"], answer.json["cap"], answer.json["expire"]),
                         ("all", 2, "1h"))
        self.assertEqual(self.server.post("/v1/events/limited", 1).status, 202)
        self.assertEqual(self.server.post("/v1/events/limited", 2).status, 202)
        self.assert_problem(self.server.post("/v1/events/limited", 3), 429, "TOPIC_FULL")
        self.assert_problem(self.server.call("PUT", "/v1/topics/limited", {"consume": "some"}), 400,
                            "BAD_FIELD")
        names = [item["name"] for item in self.server.get("/v1/topics").json["items"]]
        self.assertIn("limited", names)

    def test_a_full_broadcast_topic_still_reaches_who_waits(self):
        self.server.deploy("ear", "const got = []\nwhile (got.length < 5) "
                                  "got.push(await Event.wait('aloud'))\nreturn got")
        self.server.call("PUT", "/v1/topics/aloud", {"consume": "all", "cap": 3})
        run_id = self.server.post("/v1/runs", {"workflow": "ear"}).json["id"]
        for number in range(1, 6):
            wait_until(lambda: self.server.get("/v1/topics/aloud").json["waiters"] == [run_id])
            answer = self.server.post("/v1/events/aloud", number)
            self.assertEqual((answer.status, answer.json["resumed"]), (202, 1))
        self.assertEqual(self.server.wait_for(run_id, "completed")["result"], [1, 2, 3, 4, 5])
        topic = self.server.get("/v1/topics/aloud").json
        self.assertEqual((topic["pending"], topic["full"]), (3, False))

    def test_a_full_topic_is_looked_into_and_emptied(self):
        self.server.call("PUT", "/v1/topics/heap", {"cap": 3})
        for number in range(3):
            self.server.post("/v1/events/heap?id=e%d" % number, {"n": number})
        self.assert_problem(self.server.post("/v1/events/heap", 3), 429, "TOPIC_FULL")
        self.assertTrue(self.server.get("/v1/topics/heap").json["full"])
        page = self.server.get("/v1/topics/heap/events?limit=2").json
        self.assertEqual([(item["event_id"], item["payload"], item["taken"])
                          for item in page["items"]],
                         [("e0", {"n": 0}, False), ("e1", {"n": 1}, False)])
        rest = self.server.get("/v1/topics/heap/events?cursor=" + page["next"]).json
        self.assertEqual([item["event_id"] for item in rest["items"]], ["e2"])
        self.assertIsNone(rest["next"])
        one = "/v1/topics/heap/events/" + page["items"][0]["id"]
        self.assertEqual(self.server.call("DELETE", one).json, {"removed": 1})
        self.assert_problem(self.server.call("DELETE", one), 404, "EVENT_NOT_FOUND")
        self.assert_problem(self.server.call("DELETE", "/v1/topics/heap/events/x"), 404,
                            "EVENT_NOT_FOUND")
        self.assertEqual(self.server.post("/v1/events/heap", 3).status, 202)
        self.assertEqual(self.server.call("DELETE", "/v1/topics/heap/events").json, {"removed": 3})
        self.assertEqual(self.server.get("/v1/topics/heap/events").json,
                         {"items": [], "next": None})

    def test_pending_signals_are_listed_and_removed(self):
        self.server.deploy("deaf", "return await Signal.next('go')")
        run_id = self.server.post("/v1/runs", {"workflow": "deaf"}).json["id"]
        for name, number in (("a", 1), ("b", 2), ("a", 3), ("b", 4)):
            self.server.post("/v1/runs/%s/signals/%s" % (run_id, name), number)
        path = "/v1/runs/%s/signals" % run_id
        items = self.server.get(path).json["items"]
        self.assertEqual([(item["name"], item["payload"]) for item in items],
                         [("a", 1), ("b", 2), ("a", 3), ("b", 4)])
        remove = lambda query: self.server.call("DELETE", path + query)
        self.assertEqual(remove("?id=" + items[0]["id"]).json, {"removed": 1})
        self.assert_problem(remove("?id=" + items[0]["id"]), 404, "SIGNAL_NOT_FOUND")
        self.assertEqual(remove("?name=b").json, {"removed": 2})
        self.assertEqual(remove("").json, {"removed": 1})
        self.assert_problem(self.server.get("/v1/runs/none/signals"), 404, "RUN_NOT_FOUND")
        self.assert_problem(self.server.call("DELETE", "/v1/runs/none/signals"), 404,
                            "RUN_NOT_FOUND")

    def end_with_leftovers(self, **fields):
        """A run that ends while two signals nobody took are there; answers its id."""
        self.server.deploy("leaves", "return await Signal.next('go')")
        run_id = self.run_id()
        start = {"workflow": "leaves", "id": run_id, **fields}
        self.assertEqual(self.server.post("/v1/runs", start).status, 201)
        for number in (1, 2):
            self.server.post("/v1/runs/%s/signals/extra" % run_id, {"left": run_id, "n": number})
        self.server.post("/v1/runs/%s/signals/go" % run_id, 1)
        self.server.wait_for(run_id, "completed")
        return run_id

    def test_signals_nobody_took_go_where_the_start_says(self):
        letters = lambda: self.server.get("/v1/dead-letters?limit=1000").body
        for fields in ({}, {"leftover_signals": "discard"}):
            self.assertNotIn(self.end_with_leftovers(**fields), letters())
        kept = self.end_with_leftovers(leftover_signals="dead_letter")
        found = [item["id"] for item in json.loads(letters())["items"]
                 if kept in json.dumps(item)]
        self.assertEqual(len(found), 2)
        for letter in found:
            self.assertEqual(self.server.call("DELETE", "/v1/dead-letters/" + letter).status,
                             204)
        self.server.deploy("takes", "return [await Event.wait('leftovers'), await Event.wait('leftovers')]")
        sent = self.end_with_leftovers(leftover_signals="topic", leftover_topic="leftovers")
        taken = self.server.run("takes")
        self.assertEqual(taken["result"], [{"left": sent, "n": 1}, {"left": sent, "n": 2}])

    def test_leftovers_that_make_no_sense_are_refused(self):
        for fields, code in (({"leftover_signals": "keep"}, "BAD_OPTION"),
                             ({"leftover_signals": 1}, "BAD_FIELD"),
                             ({"leftover_signals": "topic"}, "BAD_OPTION"),
                             ({"leftover_topic": "t"}, "BAD_OPTION"),
                             ({"leftover_signals": "topic", "leftover_topic": ""}, "BAD_NAME")):
            self.assert_problem(self.server.post("/v1/runs", {"workflow": "x", **fields}), 400, code)

    def test_dead_letters(self):
        self.assertEqual(self.server.get("/v1/dead-letters").json, {"items": [], "next": None})
        self.assert_problem(self.server.post("/v1/dead-letters/77/replay"), 404,
                            "DEAD_LETTER_NOT_FOUND")
        self.assert_problem(self.server.call("DELETE", "/v1/dead-letters/x"), 404,
                            "DEAD_LETTER_NOT_FOUND")


class TaskTest(ServerTest):
    def test_a_stand_alone_task_from_start_to_end(self):
        made = self.server.post("/v1/tasks", {"name": "resize", "input": [1], "queue": "images",
                                              "attempts": 2, "retry_delay": "10ms"})
        self.assertEqual((made.status, made.json["status"]), (201, "queued"))
        task_id = made.json["id"]
        task = self.server.claim(queues=["images"])[0]
        self.assertEqual(task["id"], task_id)
        heartbeat = self.server.post("/v1/tasks/heartbeat", {"tasks": [
            {"id": task_id, "token": task["token"], "progress": {"done": 0.5}},
            {"id": task_id, "token": task["token"] + 1},
            {"id": "none", "token": 1}]}).json["tasks"]
        self.assertEqual([item["status"] for item in heartbeat], ["accepted", "fenced", "not_found"])
        failed = self.server.post("/v1/tasks/complete", {"results": [
            {"id": task_id, "token": task["token"],
             "error": {"type": "Busy", "message": "later"}}]}).json["results"][0]
        self.assertEqual((failed["status"], failed["retried"]), ("accepted", True))
        task = self.server.claim(queues=["images"])[0]
        self.assertEqual(task["attempt"], 2)
        self.server.post("/v1/tasks/complete", {"results": [
            {"id": task_id, "token": task["token"],
             "error": {"type": "Bad", "message": "never", "retryable": False}}]})
        shown = self.server.get("/v1/tasks/" + task_id).json
        self.assertEqual((shown["status"], shown["error"]["message"]), ("failed", "never"))
        self.assertEqual(self.server.post("/v1/tasks/%s/retry" % task_id).json["status"], "queued")
        task = self.server.claim(queues=["images"])[0]
        self.server.complete(task, "done")
        self.assertEqual(self.server.get("/v1/tasks/" + task_id).json["result"], "done")
        listed = self.server.get("/v1/tasks?queue=images&status=completed").json["items"]
        self.assertEqual([item["id"] for item in listed], [task_id])

    def wait_for_claims(self, count):
        """Until so many workers wait for tasks."""
        wait_until(lambda: self.server.figure("abide_claims_waiting") == count)

    def test_a_waiting_claim_gets_the_task_that_comes(self):
        taken = []
        worker = threading.Thread(target=lambda: taken.extend(
            self.server.claim(queues=["later"], wait="50s")))
        worker.start()
        self.wait_for_claims(1)
        self.server.post("/v1/tasks", {"name": "late", "queue": "later"})
        worker.join(PATIENCE)
        self.assertEqual([task["name"] for task in taken], ["late"])

    def test_waiting_workers_share_what_comes(self):
        taken = []
        workers = [threading.Thread(target=lambda: taken.extend(
            self.server.claim(queues=["shared"], wait="50s", max=1))) for _ in range(5)]
        for worker in workers:
            worker.start()
        self.wait_for_claims(5)
        for number in range(5):
            self.server.post("/v1/tasks", {"name": "n", "queue": "shared", "input": number})
        for worker in workers:
            worker.join(PATIENCE)
        self.assertEqual(sorted(task["input"] for task in taken), [0, 1, 2, 3, 4])

    def test_a_claim_that_finds_nothing_answers_none(self):
        self.assertEqual(self.server.claim(queues=["empty"], wait="50ms"), [])
        self.assertEqual(self.server.claim(queues=["empty"], wait=0), [])

    def test_a_task_handed_back_is_as_if_it_had_not_been_claimed(self):
        self.server.post("/v1/tasks", {"name": "back", "queue": "back"})
        task = self.server.claim(queues=["back"], lease="5s")[0]
        self.assertTrue(0 < task["lease_ms"] <= 5000, task)
        item = {"id": task["id"], "token": task["token"], "release": True}
        answer = self.server.post("/v1/tasks/complete", {"results": [item, item]}).json
        self.assertEqual([result["status"] for result in answer["results"]], ["accepted", "fenced"])
        again = self.server.claim(queues=["back"])[0]
        self.assertEqual((again["id"], again["attempt"]), (task["id"], 1))
        self.assertEqual(self.server.complete(task, 1)["status"], "fenced")
        self.assertEqual(self.server.complete(again, 1)["status"], "accepted")

    def test_a_worker_that_stops_calls_its_waiting_claims_off(self):
        answers = {}

        def wait_as(worker):
            answers[worker] = self.server.claim(queues=["quiet"], wait="60s", worker=worker)

        threads = [threading.Thread(target=wait_as, args=(worker,)) for worker in ("one", "two")]
        for thread in threads:
            thread.start()
        # It may be called off before it waits, so that is repeated until it was heard.
        while threads[0].is_alive():
            self.assertEqual(self.server.claim(worker="one", max=0), [])
            threads[0].join(0.05)
        self.server.post("/v1/tasks", {"name": "n", "queue": "quiet"})
        threads[1].join(PATIENCE)
        self.assertEqual((answers["one"], [task["name"] for task in answers["two"]]), ([], ["n"]))

    def test_nothing_is_leased_for_a_worker_that_hung_up(self):
        body = json.dumps({"worker": "gone", "queues": ["left"], "wait": "60s"})
        gone = socket.create_connection(("127.0.0.1", self.server.port))
        gone.sendall(("POST /v1/tasks/claim HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                      % (len(body), body)).encode("ascii"))
        self.wait_for_claims(1)
        gone.close()
        self.wait_for_claims(0)
        self.server.post("/v1/tasks", {"name": "n", "queue": "left"})
        task = self.server.claim(queues=["left"], wait="50s")[0]
        self.assertEqual(task["attempt"], 1)

    def test_bad_requests(self):
        post = self.server.post
        self.assert_problem(post("/v1/tasks/claim", {"worker": "w", "lease": "1ms"}), 400,
                            "BAD_FIELD")
        self.assert_problem(post("/v1/tasks/heartbeat", {"tasks": [], "lease": "25h"}), 400,
                            "BAD_FIELD")
        self.assert_problem(post("/v1/tasks", {"input": 1}), 400, "MISSING_FIELD")
        self.assert_problem(post("/v1/tasks", {"name": "x", "attempts": 0}), 400, "BAD_OPTION")
        self.assert_problem(post("/v1/tasks/claim", {"max": 1}), 400, "MISSING_FIELD")
        self.assert_problem(post("/v1/tasks/claim", {"worker": "w", "max": 1001}), 400,
                            "BAD_FIELD")
        self.assert_problem(post("/v1/tasks/claim", {"worker": "w", "queues": [1]}), 400,
                            "BAD_FIELD")
        self.assert_problem(post("/v1/tasks/complete", {"results": [{"id": "x"}]}), 400,
                            "MISSING_FIELD")
        self.assert_problem(post("/v1/tasks/heartbeat", {"tasks": [{"id": "x", "token": 1,
                                                                    "y": 2}]}), 400, "UNKNOWN_FIELD")
        self.assert_problem(self.server.get("/v1/tasks/none"), 404, "TASK_NOT_FOUND")


class ScheduleTest(ServerTest):
    def test_a_schedule_from_start_to_end(self):
        self.server.deploy("report", "return 'reported'")
        made = self.server.call("PUT", "/v1/schedules/nightly", {
            "workflow": "report", "cron": "0 3 * * *", "timezone": "Europe/Berlin",
            "overlap": "queue", "tags": ["n"]})
        self.assertEqual(made.status, 201, made.body)
        self.assertEqual((made.json["cron"], made.json["timezone"], made.json["overlap"]),
                         ("0 3 * * *", "Europe/Berlin", "queue"))
        self.assertIsNotNone(made.json["next_at"])
        again = self.server.call("PUT", "/v1/schedules/nightly", {"workflow": "report",
                                                                  "every": "1h"})
        self.assertEqual((again.status, again.json["every"]), (200, "1h"))
        run = self.server.post("/v1/schedules/nightly/trigger")
        self.assertEqual(run.status, 201)
        self.assertEqual(self.server.wait_for(run.json["id"], "completed")["result"], "reported")
        self.assertEqual(self.server.post("/v1/schedules/nightly/pause").json, {"changed": True})
        self.assertTrue(self.server.get("/v1/schedules/nightly").json["paused"])
        self.assertEqual(self.server.post("/v1/schedules/nightly/resume").json, {"changed": True})
        filled = self.server.post("/v1/schedules/nightly/backfill", {
            "from": "2026-01-01T00:00:00Z", "to": "2026-01-01T05:00:00Z"}).json
        self.assertEqual(filled, {"started": 6, "existing": 0})
        names = [item["name"] for item in self.server.get("/v1/schedules").json["items"]]
        self.assertEqual(names, ["nightly"])
        self.assertEqual(self.server.call("DELETE", "/v1/schedules/nightly").status, 204)
        self.assert_problem(self.server.get("/v1/schedules/nightly"), 404, "SCHEDULE_NOT_FOUND")

    def test_bad_schedules(self):
        def put(body):
            return self.server.call("PUT", "/v1/schedules/bad", body)
        self.server.deploy("report2", "return 1")
        self.assert_problem(put({"workflow": "report2"}), 400, "BAD_SCHEDULE")
        self.assert_problem(put({"workflow": "nobody", "every": "1h"}), 404, "WORKFLOW_NOT_FOUND")
        bad = put({"workflow": "report2", "cron": "99 * * * *"})
        self.assertEqual(bad.status, 400)
        self.assertIn("minute", bad.json["detail"])
        self.assert_problem(put({"workflow": "report2", "every": "1h", "overlap": "x"}), 400,
                            "BAD_OPTION")


class DurabilityTest(unittest.TestCase):
    def test_what_was_acknowledged_survives_kill_and_restart(self):
        server = Server()
        self.addCleanup(server.close)
        server.deploy("approval", APPROVAL)
        run_id = server.post("/v1/runs", {"workflow": "approval", "input": {"amount": 1}}).json["id"]
        server.complete(server.claim(names=["charge"])[0], "paid")
        server.kill()
        server.start()
        server.post("/v1/runs/%s/signals/approval" % run_id, "yes")
        server.kill()
        server.start()
        self.assertEqual(server.wait_for(run_id, "completed")["result"],
                         {"receipt": "paid", "approval": "yes"})

    def test_an_orderly_stop_ends_long_polls_and_streams(self):
        server = Server("--threads", "1")
        self.addCleanup(server.close)
        server.deploy("sleeper", "await Timer.delay(3600); return 1")
        run_id = server.post("/v1/runs", {"workflow": "sleeper"}).json["id"]
        server.wait_for(run_id, "suspended")
        stream = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        self.addCleanup(stream.close)
        stream.sendall(b"GET /v1/runs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n" % run_id.encode())
        received = b""
        while b"event: started" not in received:
            received += stream.recv(65536)
        claimed = []
        claim = threading.Thread(target=lambda: claimed.append(server.claim(wait="60s")))
        claim.start()
        wait = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
        self.addCleanup(wait.close)
        wait.sendall(b"GET /v1/runs/%s/result?wait=60s HTTP/1.1\r\nHost: localhost\r\n\r\n" % run_id.encode())
        # With one thread an answer to a later request says that the earlier one has been read.
        wait_until(lambda: "abide_claims_waiting 1\n" in server.get("/metrics").body)
        self.assertEqual(server.stop(), 0)
        claim.join(PATIENCE)
        self.assertEqual(claimed, [[]])
        self.assertRegex(wait.recv(65536), rb"^HTTP/1\.1 (202|503) ")
        while data := stream.recv(65536):
            received += data
        # Broken off without the last chunk, so that the client comes back.
        self.assertFalse(received.endswith(b"0\r\n\r\n"), received)

    def test_a_full_disk_is_told_for_as_long_as_it_is_full(self):
        """The disk is played by a limit on the size of files."""
        server = Server()
        self.addCleanup(server.close)
        server.deploy("approval", "return await Signal.when('ok')")
        server.deploy("nap", "await Timer.delay('500ms'); return 'rested'")
        for run_id, workflow in (("waits", "approval"), ("naps", "nap")):
            server.post("/v1/runs", {"workflow": workflow, "id": run_id})
            server.wait_for(run_id, "suspended")
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        seen, until = set(), time.monotonic() + 5  # longer than a store has to be away to be called so
        while time.monotonic() < until or (507, "STORE_FULL") not in seen:
            answer = server.post("/v1/runs", {"workflow": "approval"})
            seen.add((answer.status, answer.json["code"]))
            time.sleep(0.1)
        self.assertEqual(seen, {(507, "STORE_FULL")})

        def check_ready():
            ready = server.get("/readyz")
            self.assertEqual((ready.status, ready.json["code"]), (507, "STORE_FULL"))
        eventually(check_ready)
        for run_id in ("waits", "naps"):  # the timer of the second cannot be written
            answer = in_time(lambda: server.get("/v1/runs/%s/result?wait=1s" % run_id))
            self.assertEqual(answer.status, 202)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                         (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        wait_until(lambda: server.get("/readyz").status == 200)
        self.assertEqual(server.post("/v1/runs/waits/signals/ok", 1).status, 202)
        self.assertEqual(server.wait_for("waits", "completed")["result"], 1)
        self.assertEqual(server.wait_for("naps", "completed")["result"], "rested")

    def test_a_second_server_on_the_same_file_is_refused(self):
        server = Server()
        self.addCleanup(server.close)
        with self.assertRaisesRegex(RuntimeError, "STORE_LOCKED"):
            Server(folder=server.folder)

    def test_outside_of_loopback_needs_to_be_said(self):
        with self.assertRaisesRegex(RuntimeError, "NOT_LOOPBACK"):
            Server("--listen", "0.0.0.0:0")


class RudenessTest(ServerTest):
    """Clients that do not behave: the server stays up and answers the others."""

    def send(self, data, read=True):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)  # what is no request is waited for to become one
            return connection.recv(65536) if read else b""

    def test_malformed_requests(self):
        for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 100 + b"\r\n\r\n",
                     b"GET /livez HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 5000 + b"\r\n",
                     b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
                     b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
                     b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"):
            try:
                self.send(data)
            except OSError:
                pass
            self.assertEqual(self.server.get("/livez").status, 200)

    def test_clients_that_stop_halfway(self):
        halves = []
        for _ in range(200):
            connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
            connection.sendall(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
            halves.append(connection)
        self.assertEqual(self.server.get("/readyz").status, 200)
        for connection in halves:
            connection.close()
        self.assertEqual(self.server.get("/readyz").status, 200)

    def test_a_client_that_reads_nothing(self):
        self.server.deploy("talker", "for (let i = 0; i < 300; i++) Stream.write('x'.repeat(9999))")
        run = self.server.run("talker")
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE) as connection:
            request = "GET /v1/runs/%s/events HTTP/1.1\r\nHost: localhost\r\n\r\n" % run["id"]
            connection.sendall(request.encode())
            time.sleep(0.2)
            self.assertEqual(self.server.run("talker")["status"], "completed")

    def test_waiters_that_hang_up(self):
        for _ in range(50):
            connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=PATIENCE)
            body = b'{"worker":"w","queues":["gone"],"wait":"60s"}'
            connection.sendall(b"POST /v1/tasks/claim HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                               % (len(body), body))
            connection.close()
        self.assertEqual(self.server.get("/readyz").status, 200)


if __name__ == "__main__":
    tap.main()
