"""config.secret: what it names is in no answer, stream or log, and whoever asks for it cannot tell what it is."""
import glob
import json
import os
import subprocess
import sys
import unittest
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Server, wait_until  # noqa: E402

CANARY = "canary-4711-\"é"
NUMBER = 8127364509
PIECES = ("canary-4711", str(NUMBER))
MASK = "[secret card.number]"
COPY = r"\[secret (card.number|password)\]"  # a text that stands at both

SCRIPT = """
export const config = { secret: ["card.number", "card.pin", "password", "Inputs.whole", "approval.code"], keepSnapshots: 20 }
const card = Inputs.card
const copy = card.number
const wallet = { cards: [card], byName: new Map([["password", Inputs.card.number]]), text: `paid with ${copy}` }
const check = value => value === card.number
class Vault { #number = copy; is(value) { return value === this.#number } }
const vault = new Vault()
console.log("card", card, "of", Inputs, `number ${card.number}`, JSON.stringify(wallet), wallet)
State.set("card", card)
State.set("password", copy)
Stream.write({ card }, "cards")
Event.emit("cards", { card, password: copy })
Promise.reject(new Error("nobody hears of " + copy))
const first = await Task.run("charge", { card, password: copy })
const child = await Workflow.run("child", { card })
const approval = await Signal.when("approval")
card.number = card.number + "-2"
const second = await Signal.when("second")
if (second.fail) throw Object.assign(new Error("declined " + card.number, { cause: new Error("cause " + copy) }), { card })
return { card, first, child, approval, password: copy }
"""
CHILD = """
export const config = { secret: ["card.number", "card.pin", "password", "whole"] }
await Signal.when("never", { timeout: "20ms" }).catch(() => null)
return Inputs
"""
INPUT = {"card": {"number": CANARY, "pin": NUMBER, "name": "Ann"}, "password": CANARY, "whole": {"deep": [CANARY]}}


class SecretData(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--log-level", "debug")
        cls.server.deploy("order", SCRIPT)
        cls.server.deploy("child", CHILD)

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def assert_clean(self, text, where):
        for piece in PIECES:
            self.assertNotIn(piece, text, where)

    def get(self, path, status=200):
        answer = self.server.get(path)
        self.assertEqual(answer.status, status, (path, answer.body))
        self.assert_clean(answer.body, path)
        return answer.json

    def all_routes(self, run):
        """Every route that reads, with all that is there to be named, by the description of the API itself."""
        tasks = [task["id"] for task in self.server.get("/v1/tasks?run=" + run).json["items"]]
        known = {"/v1/runs/{id}": [run], "/v1/tasks/{id}": tasks, "{topic}": ["cards"], "/v1/schedules/{name}": ["nightly"],
                 "/v1/workflows/{name}": ["order"], "/v1/queues/{name}": ["default"], "/workflows/{name}": ["order"],
                 "/handlers/{id}": [run], "/results/{id}": [run]}
        found = 0
        for path, methods in self.server.get("/openapi.json").json["paths"].items():
            if "get" not in methods or path in ("/v1/runs/{id}/copy", "/v1/changes", "/v1/runs/{id}/events", "/events/{id}"):
                continue  # those of a run and of its handler are streams: see below; that of changes has ids only
            wholes = [path]
            for place, names in known.items():
                if place in path and "{" in path:
                    wholes = [path.replace(place, place[:place.index("{")] + name) for name in names]
            for whole in wholes:
                self.assertNotIn("{", whole, "nobody has said what stands for it")
                self.assert_clean(self.server.get(whole).body, whole)
                found += 1
        self.assertGreater(found, 30)

    def look_everywhere(self, run):
        self.all_routes(run)
        for path in ("/log?limit=1000", "/steps", "/snapshot?depth=16", "/snapshot?path=wallet&depth=9", "/snapshot?path=card.number",
                     "/snapshot?path=copy", "/turns", "/result", "/state", "/signals"):
            self.assert_clean(self.server.get("/v1/runs/%s%s" % (run, path)).body, path)
        turns = self.server.get("/v1/runs/%s/turns" % run).json["items"]
        for turn in turns:
            self.assert_clean(self.server.get("/v1/runs/%s/snapshot?depth=9&turn=%d" % (run, turn["turn"])).body, "turn")
            self.assert_clean(self.server.get("/v1/runs/%s/diff?from=%d" % (run, turn["turn"])).body, "diff")
        self.assert_clean(self.stream("/v1/runs/%s/events" % run), "stream")
        if self.server.get("/v1/runs/" + run).json["finished_at"]:
            connection = self.server.connect()
            connection.request("GET", "/events/%s?sse=true&include_internal=true&after_sequence=-1" % run)
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            self.assert_clean(answer.read().decode(), "stream of the handler")
            connection.close()
        self.assert_clean("\n".join(self.server.lines), "the log of the server")

    def stream(self, path):
        """What a stream says at once: up to the last entry that there is."""
        last = self.server.get(path.replace("/events", "/log?limit=1000")).json["items"][-1]["seq"]
        connection = self.server.connect()
        connection.request("GET", path)
        lines, text = connection.getresponse(), ""
        while "id: %d\n" % last not in text or not text.endswith("\n\n"):
            line = lines.readline().decode()
            self.assertTrue(line)
            text += line
        connection.close()
        return text

    def start(self, run):
        self.server.post("/v1/runs", {"workflow": "order", "id": run, "input": INPUT})
        task, = wait_until(lambda: self.server.claim(names=["charge"]))
        self.assertEqual(task["input"], {"card": INPUT["card"], "password": CANARY}, "who does the task gets the data")
        return task

    def test_it_is_shown_nowhere_while_the_run_goes_on_and_when_it_has_ended(self):
        self.server.call("PUT", "/v1/schedules/nightly", {"workflow": "order", "cron": "0 3 * * *", "input": INPUT})
        task = self.start("all")
        self.look_everywhere("all")
        self.server.complete(task, {"card": {"number": CANARY}, "id": 7})
        self.server.wait_for("all", "suspended", is_so=lambda run: run["waits"] and run["waits"][0]["name"] == "approval")
        self.server.post("/v1/runs/all/signals/other", {"password": CANARY})
        self.look_everywhere("all")
        frame = self.get("/v1/runs/all/snapshot?depth=1")["frames"][0]
        shown = {item["name"]: item for item in frame["variables"]}
        self.assertEqual(shown["copy"]["type"], "string")
        self.assertRegex(shown["copy"]["text"], COPY)
        items = {item["key"]: (item["type"], item["text"]) for item in shown["card"]["items"]}
        self.assertEqual(items["number"], ("secret", MASK))
        self.assertEqual(items["name"], ("string", '"Ann"'))
        self.server.post("/v1/runs/all/signals/approval", {"code": CANARY, "by": "Bob"})
        self.server.wait_for("all", "suspended", is_so=lambda run: run["waits"] and run["waits"][0]["name"] == "second")
        self.look_everywhere("all")
        self.server.post("/v1/runs/all/signals/second", {})
        result = self.server.wait_for("all", "completed")["result"]
        self.look_everywhere("all")
        self.assertEqual(result["card"], {"number": MASK, "pin": "[secret card.pin]", "name": "Ann"})
        self.assertEqual(result["first"], {"card": {"number": MASK}, "id": 7})
        self.assertEqual(result["approval"], {"code": "[secret approval.code]", "by": "Bob"})
        log = json.dumps(self.get("/v1/runs/all/log?limit=1000")["items"])
        self.assertIn("[secret Inputs.whole]", log)
        self.assertRegex(log, "nobody hears of " + COPY)

    def test_the_data_itself_stays(self):
        task = self.start("stays")
        self.server.complete(task, 1)
        self.server.wait_for("stays", "suspended", is_so=lambda run: run["waits"] and run["waits"][0]["name"] == "approval")
        self.server.post("/v1/runs/stays/signals/approval", {})
        self.server.wait_for("stays", "suspended", is_so=lambda run: run["waits"] and run["waits"][0]["name"] == "second")
        self.server.post("/v1/runs/stays/signals/second", {})
        self.server.wait_for("stays", "completed")
        stored = b"".join(open(path, "rb").read() for path in glob.glob(self.server.store[len("sqlite:"):] + "*"))
        self.assertIn(PIECES[0].encode(), stored)

    def test_a_failure_keeps_its_shape_without_it(self):
        task = self.start("failed")
        self.server.complete(task, 1)
        self.server.wait_for("failed", "suspended", is_so=lambda run: run["waits"] and run["waits"][0]["name"] == "approval")
        self.server.post("/v1/runs/failed/signals/approval", {})
        self.server.wait_for("failed", "suspended", is_so=lambda run: run["waits"] and run["waits"][0]["name"] == "second")
        self.server.post("/v1/runs/failed/signals/second", {"fail": True})
        error = self.server.wait_for("failed", "failed")["error"]
        self.assertEqual(error["message"], "declined " + MASK)
        self.look_everywhere("failed")
        failure = self.get("/v1/runs/failed/snapshot")["failure"]
        self.assertRegex(failure["causes"][0]["message"], "cause " + COPY)
        self.assertIn(MASK, json.dumps(failure["frames"]))
        self.assert_clean(self.server.get("/v1/attention").body, "attention")
        done = subprocess.run([ABIDE, "wf", "show", "failed", "--server", "http://127.0.0.1:%d" % self.server.port], capture_output=True, text=True, check=False)
        self.assertIn("declined " + MASK, done.stdout, done.stderr)
        self.assert_clean(done.stdout + done.stderr, "wf show")

    def test_whoever_asks_for_it_cannot_tell_what_it_is(self):
        task = self.start("asked")
        for expression in ("card.number === %s" % json.dumps(CANARY), "card.number.startsWith('canary')", "copy.startsWith('canary')",
                           "check(%s)" % json.dumps(CANARY), "vault.is(%s)" % json.dumps(CANARY), "card.pin > 1000",
                           "wallet.byName.get('password') === %s" % json.dumps(CANARY), "wallet.text.includes('canary')",
                           "Inputs.whole.deep[0].includes('canary')", "String(card.number).includes('canary')",
                           "JSON.stringify(Inputs).includes('canary')", "Object.values(card).includes(%s)" % json.dumps(CANARY)):
            found = self.server.get("/v1/runs?workflow=order&where=" + quote(expression))
            self.assertEqual(found.status, 200, found.body)
            self.assertEqual(found.json["items"], [], expression)
            self.assert_clean(found.body, expression)
        for path in ("state=password=%s" % json.dumps(CANARY), "q=state.password=%s" % json.dumps(CANARY),
                     "state=card=%s" % json.dumps(INPUT["card"]), "q=-state.password=%s" % json.dumps(CANARY)):
            key, value = path.split("=", 1)
            answer = self.server.get("/v1/runs?%s=%s" % (key, quote(value)))
            self.assertEqual((answer.status, answer.json["code"]), (400, "BAD_QUERY" if key == "state" else "BAD_FILTER"), path)
        self.server.complete(task, 1)

    def test_trying_and_setting_do_not_show_it(self):
        task = self.start("tried")
        body = {"tasks": [{"name": "charge", "result": {"password": "x"}}], "children": [{"name": "child", "result": {"card": {"number": "x"}}}],
                "signals": [{"name": "approval", "payload": {"code": CANARY}}, {"name": "second", "payload": {}}]}
        tried = self.server.post("/v1/runs/tried/try", body)
        self.assertEqual(tried.status, 200, tried.body)
        self.assert_clean(tried.body, "try")
        self.assertEqual((tried.json["status"], tried.json["result"]["card"]["number"]), ("completed", MASK))
        for signal in ({"fail": True}, {}):
            body["signals"][1]["payload"] = signal
            self.assert_clean(self.server.post("/v1/runs/tried/try", body).body, "try")
        self.assert_clean(self.server.post("/v1/runs/tried/try", {}).body, "try")
        open_source = SCRIPT.replace('"card.number", ', "")
        refused = self.server.post("/v1/runs/tried/try", {"source": open_source})
        self.assertEqual((refused.status, refused.json["code"]), (409, "MOVE_REFUSED"), refused.body)
        self.assertIn("card.number", refused.json["detail"])
        for path, value in (("card.number", CANARY + "-new"), ("card", {"number": CANARY, "name": "Bob"}), ("wallet.text", CANARY + "!"),
                            ("copy", 1)):
            answer = self.server.post("/v1/runs/tried/set", {"values": [{"path": path, "value": value}], "dry_run": True})
            self.assert_clean(answer.body.replace(json.dumps(value)[1:-1], ""), path)
        done = self.server.post("/v1/runs/tried/set", {"values": [{"path": "card.number", "value": "other"}]})
        self.assertEqual(done.json["values"], [{"path": "card.number", "old": MASK, "new": MASK}], done.body)
        self.assert_clean(self.server.get("/v1/runs/tried/log?limit=1000").body, "log")
        self.server.complete(task, 1)

    def test_a_copy_is_for_admins_who_say_so(self):
        task = self.start("copied")
        answer = self.server.get("/v1/runs/copied/copy")
        self.assertEqual((answer.status, answer.json["code"]), (403, "DATA_HIDDEN"))
        self.assertEqual(self.server.get("/v1/runs/copied/copy?secrets=maybe").status, 400)
        whole = self.server.get("/v1/runs/copied/copy?secrets=true")
        self.assertEqual(whole.status, 200)
        self.assertIn("canary-4711", whole.body)
        wait_until(lambda: any("copied: a copy with its secret data" in line for line in self.server.lines))
        self.server.complete(task, 1)

    def test_bad_paths_are_refused_with_their_place(self):
        for path in ('"a..b"', '""', '"a[0]"', '"*.x"', '"items.0"', "7", '"%s"' % ("x" * 600)):
            answer = self.server.call("PUT", "/v1/workflows/bad", raw=("export const config = { secret: [%s] }\nreturn 1\n" % path).encode())
            self.assertEqual(answer.status, 422, path)
        many = ",".join('"a%d"' % i for i in range(65))
        answer = self.server.call("PUT", "/v1/workflows/bad", raw=("export const config = { secret: [%s] }\nreturn 1\n" % many).encode())
        self.assertEqual(answer.status, 422)


if __name__ == "__main__":
    tap.main()
