"""Secrets: whoever does the task gets the text, and it is nowhere else."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Server, wait_until  # noqa: E402

TEXT = 'sesame "open\\ é 4711-do-not-tell'
CREDENTIAL = "credential-do-not-tell-0815"
MASK = "[secret API_KEY]"

EVERYWHERE = """
const key = Secret.get("API_KEY")
const bearer = Secret.get("API_KEY", { prefix: "Bearer " })
const holder = { key, list: [key, `${key}`], map: new Map([["k", key]]) }
let done = false
console.log("key", key, holder, String(key))
State.set("key", { key })
Stream.write({ key }, "key")
Event.emit("keys", { key })
const first = await Task.run("use", { a: key, b: [1, { c: bearer }], fake: "[secret API_KEY]", "é\\"": key, text: `${key}` })
const child = await Workflow.run("child", { key })
const go = await Signal.when("go")
done = true
return { key, holder, json: JSON.stringify(holder), first, child, type: typeof key, keys: Object.keys(key), go, frozen: Object.isFrozen(key) }
"""


class Secrets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.credentials = tempfile.TemporaryDirectory()
        with open(os.path.join(cls.credentials.name, "FROM_FILE"), "w", encoding="utf-8") as file:
            file.write(CREDENTIAL + "\n")
        os.environ["ABIDE_SECRET_API_KEY"] = TEXT
        os.environ["CREDENTIALS_DIRECTORY"] = cls.credentials.name
        cls.server = Server()
        cls.server.deploy("everywhere", EVERYWHERE)
        cls.server.deploy("child", "return Inputs.key")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()
        cls.credentials.cleanup()
        del os.environ["ABIDE_SECRET_API_KEY"], os.environ["CREDENTIALS_DIRECTORY"]

    def get(self, path):
        answer = self.server.get(path)
        self.assertEqual(answer.status, 200, path)
        self.assert_clean(answer.body, path)
        return answer.json

    def assert_clean(self, text, where):
        for secret in (TEXT, json.dumps(TEXT)[1:-1], json.dumps(TEXT, ensure_ascii=False)[1:-1], CREDENTIAL, "do-not-tell"):
            self.assertNotIn(secret, text, where)

    def assert_stored_nowhere(self):
        paths = glob.glob(self.server.store[len("sqlite:"):] + "*")
        self.assertTrue(paths)
        for path in paths:
            with open(path, "rb") as file:
                self.assertNotIn(b"do-not-tell", file.read(), path)
        self.assert_clean("\n".join(self.server.lines), "the log of the server")

    def look_everywhere(self, run):
        parts = ("", "/log?limit=1000", "/snapshot?depth=16", "/snapshot?path=holder&depth=5", "/turns", "/diff?from=1",
                 "/steps", "/state", "/stream", "/result")
        others = ("/v1/runs", "/v1/tasks", "/v1/topics/keys/events", "/v1/attention", "/metrics",
                  "/v1/runs?where=String(holder.key).length>0", "/v1/runs?where=holder.key.text.length>0")
        for path in [*("/v1/runs/" + run + part for part in parts), *others]:
            self.assert_clean(self.server.get(path).body, path)
        body = {"signals": [{"name": "go", "payload": 1}], "tasks": [{"name": "use", "result": 1}]}
        self.assert_clean(self.server.post("/v1/runs/%s/try" % run, body).body, "try")

    def test_only_the_worker_gets_the_text(self):
        self.server.post("/v1/runs", {"workflow": "everywhere", "id": "all"})
        task, = self.server.claim(names=["use"])
        mask_and_text = {"a": TEXT, "b": [1, {"c": "Bearer " + TEXT}], "fake": MASK, "é\"": TEXT, "text": MASK}
        self.assertEqual(task["input"], mask_and_text)
        listed = self.get("/v1/tasks?run=all")["items"][0]
        self.assertEqual(listed["input"], {"a": MASK, "b": [1, {"c": MASK}], "fake": MASK, "é\"": MASK, "text": MASK})
        self.look_everywhere("all")
        self.server.complete(task, "done")
        self.server.wait_for("all", "suspended", is_so=lambda run: run["waits"] and run["waits"][0]["on"] == "signal")
        self.look_everywhere("all")
        frame = self.get("/v1/runs/all/snapshot?depth=3")["frames"][0]
        self.assertEqual([(item["type"], item["text"]) for item in frame["variables"] if item["name"] == "bearer"],
                         [("secret", MASK)])
        self.assertEqual(self.get("/v1/runs/all/snapshot?path=holder.key")["value"]["text"], MASK)
        self.server.kill()
        self.server.restart_on_its_port()
        self.server.post("/v1/runs/all/signals/go", 1)
        result = self.server.wait_for("all", "completed")["result"]
        self.assertEqual(result, {
            "key": MASK, "holder": {"key": MASK, "list": [MASK, MASK], "map": {}}, "first": "done", "child": MASK,
            "json": json.dumps({"key": MASK, "list": [MASK, MASK], "map": {}}, separators=(",", ":")),
            "type": "object", "keys": [], "go": 1, "frozen": True})
        lines = [entry["data"] for entry in self.get("/v1/runs/all/log?limit=1000")["items"] if entry["kind"] == "line"]
        self.assertTrue(lines and MASK in json.dumps(lines), lines)
        self.look_everywhere("all")
        self.assert_stored_nowhere()

    def test_a_secret_can_be_the_whole_input_and_come_from_a_credential(self):
        self.server.deploy("whole", "return await Task.run('whole', Secret.get('FROM_FILE'))")
        self.server.post("/v1/runs", {"workflow": "whole", "id": "whole"})
        task, = self.server.claim(names=["whole"])
        self.assertEqual(task["input"], CREDENTIAL)
        self.server.complete(task, 1)
        self.server.wait_for("whole", "completed")
        self.assert_stored_nowhere()

    def test_a_secret_waits_in_a_snapshot_for_a_later_task(self):
        self.server.deploy("later", "const s = Secret.get('API_KEY', { prefix: 'x ' })\nawait Signal.when('go')\n"
                                    "return await Task.run('later', { s, n: null, u: undefined })")
        self.server.post("/v1/runs", {"workflow": "later", "id": "later"})
        self.server.wait_for("later", "suspended")
        self.server.kill()
        self.server.restart_on_its_port()
        self.server.post("/v1/runs/later/signals/go", 1)
        task, = self.server.claim(names=["later"])
        self.assertEqual(task["input"], {"s": "x " + TEXT, "n": None})
        self.server.complete(task, 1)
        self.assert_stored_nowhere()

    def test_each_attempt_gets_it_and_so_does_the_task_of_a_retried_run(self):
        self.server.deploy("again", "return await Task.run('again', { s: Secret.get('API_KEY') }, { retry: { attempts: 2, delay: '1ms' } })")
        self.server.post("/v1/runs", {"workflow": "again", "id": "again"})
        for _ in range(2):
            task, = self.server.claim(names=["again"])
            self.assertEqual(task["input"], {"s": TEXT})
            self.server.post("/v1/tasks/complete", {"results": [
                {"id": task["id"], "token": task["token"], "error": {"message": "no"}}]})
        self.server.wait_for("again", "failed")
        self.server.post("/v1/runs/again/retry", {})
        task, = self.server.claim(names=["again"])
        self.assertEqual(task["input"], {"s": TEXT})
        self.server.complete(task, 1)
        self.server.wait_for("again~2", "completed")

    def test_a_secret_that_is_not_set_fails_the_attempt_for_good(self):
        self.server.deploy("missing", "return await Task.run('missing', { s: Secret.get('NOT_SET') }, { retry: { attempts: 5 } })")
        self.server.post("/v1/runs", {"workflow": "missing", "id": "missing"})
        answer = wait_until(lambda: self.server.get("/v1/tasks?run=missing").json["items"])
        self.assertEqual(self.server.post("/v1/tasks/claim", {"worker": "w", "names": ["missing"], "wait": "0s"}).json["tasks"], [])
        run = self.server.wait_for("missing", "failed")
        self.assertIn("ABIDE_SECRET_NOT_SET", json.dumps(run["error"]))
        task, = self.server.get("/v1/tasks?run=missing").json["items"]
        self.assertEqual((task["attempt"], task["error"]["type"], task["error"]["code"]), (1, "SecretError", "SECRET_NOT_SET"))
        self.assertTrue(answer)

    def test_tasks_in_the_server_itself_get_it(self):
        got = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                got.append(self.headers["Authorization"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        web = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=web.serve_forever, daemon=True).start()
        source = ("return (await Task.run('http', { url: 'http://127.0.0.1:%d/', "
                  "headers: { Authorization: Secret.get('FROM_FILE', { prefix: 'Bearer ' }) } })).status") % web.server_port
        try:
            with tempfile.NamedTemporaryFile("w", suffix=".flow") as file:
                file.write(source)
                file.flush()
                done = subprocess.run([ABIDE, "run", file.name, "--allow-private"], capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stdout.strip()), (0, "204"), done.stderr)
                self.assertEqual(got, ["Bearer " + CREDENTIAL])
        finally:
            web.shutdown()
            web.server_close()

    def test_inputs_that_cannot_be_filled_are_refused(self):
        for extra, reason in (("d: new Date(0)", "toJSON"), ("get x() { return 1 }", "getter")):
            self.server.deploy("odd", "try { await Task.run('odd', { s: Secret.get('API_KEY'), %s }) } catch (e) { return e.message }" % extra)
            self.assertIn(reason, self.server.run("odd")["result"])
        self.server.deploy("odd", "const a = []; a.push(a, Secret.get('API_KEY')); try { await Task.run('odd', a) } catch (e) { return e.name }")
        self.assertEqual(self.server.run("odd")["result"], "TypeError")

    def test_names_are_held_to_the_rule_before_anything_runs(self):
        for source in ("Secret.get('no-name')", "Secret.get('')", "const n = 'A'; Secret.get(n)", "Secret.get()", "Secret.get('A', { suffix: '' })", "Secret.read('A')"):
            answer = self.server.call("PUT", "/v1/workflows/bad", raw=(source + "\n").encode())
            self.assertEqual(answer.status, 422, source)


if __name__ == "__main__":
    tap.main()
