"""The client commands against a real server: what they do, print and answer with."""
import json
import os
import pty
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cli import ORDER, CommandTest  # noqa: E402
from server import ABIDE, wait_until  # noqa: E402


class StartTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.deploy("double", "return Inputs.n * 2")
        self.deploy("fails", "throw new RangeError('too far')")
        self.deploy("order", ORDER)

    def test_input_comes_as_an_argument_a_file_or_stdin(self):
        path = self.file("input.json", '{"n": 4}\n')
        self.assertEqual(self.ok("wf", "start", "double", '{"n": 3}', "--wait").out, "6\n")
        self.assertEqual(self.ok("wf", "start", "double", "@" + path, "--wait").out, "8\n")
        answer = self.ok("wf", "start", "double", "-", "--wait", text='{"n": 5}')
        self.assertEqual(answer.out, "10\n")

    def test_forms_of_output(self):
        self.assertRegex(self.ok("wf", "start", "double", '{"n":1}').out, r"^run_\w+: started\n$")
        self.assertRegex(self.ok("wf", "start", "double", '{"n":1}', "-o", "ids").out,
                         r"^run_\w+\n$")
        run = self.ok("wf", "start", "double", '{"n":1}', "-o", "json").json
        self.assertEqual(run["workflow"], "double")
        ended = self.ok("wf", "start", "double", '{"n":1}', "-o", "json", "--wait").json
        self.assertEqual((ended["status"], ended["result"]), ("completed", 2))

    def test_an_id_or_a_key_starts_once(self):
        first = self.ok("wf", "start", "double", '{"n":1}', "--id", "same")
        again = self.ok("wf", "start", "double", '{"n":1}', "--id", "same")
        self.assertEqual((first.out, again.out), ("same: started\n", "same: exists already\n"))
        one = self.ok("wf", "start", "double", '{"n":1}', "--key", "k1", "-o", "ids").out
        two = self.ok("wf", "start", "double", '{"n":1}', "--key", "k1", "-o", "ids").out
        self.assertEqual(one, two)
        self.refused(1, "DUPLICATE_KEY", "wf", "start", "double", '{"n":2}', "--key", "k1")

    def test_options_reach_the_run(self):
        self.ok("wf", "start", "double", '{"n":1}', "--id", "later", "--tag", "a", "--tag", "b",
                "--delay", "1h", "--priority", "-5", "--timeout", "2h", "--ttl", "1d")
        run = self.server.get("/v1/runs/later").json
        self.assertEqual((run["status"], run["tags"], run["priority"]), ("pending", ["a", "b"], -5))
        self.ok("wf", "start", "double", "--id", "at", "--at", "2199-01-01T00:00:00Z")
        self.assertEqual(self.server.get("/v1/runs/at").json["next_wake_at"],
                         "2199-01-01T00:00:00.000Z")

    def test_a_failed_run_is_exit_code_1_and_says_why(self):
        answer = self.refused(1, "RUN_FAILED", "wf", "start", "fails", "--wait")
        self.assertEqual(answer.out, "")
        self.assertIn("RangeError: too far", answer.err)
        answer = self.abide("wf", "start", "fails", "--wait", "-o", "json")
        self.assertEqual((answer.code, answer.json["status"]), (1, "failed"))

    def test_waiting_may_have_a_limit(self):
        answer = self.refused(1, "RUN_NOT_ENDED", "wf", "start", "order", '{"amount":1}',
                              "--wait-limit", "50ms")
        self.assertIn("suspended", answer.err)

    def test_what_is_refused(self):
        self.refused(4, "WORKFLOW_NOT_FOUND", "wf", "start", "nothing")
        self.refused(2, "BAD_JSON", "wf", "start", "double", "{n: 1}")
        self.refused(2, "FILE_NOT_READ", "wf", "start", "double", "@/nowhere/at/all")
        self.refused(2, "BAD_ARGUMENT", "wf", "start", "double", "--priority", "high")
        self.refused(2, "BAD_ARGUMENT", "wf", "start", "double", "--wait-limit", "soon")
        self.refused(2, "BAD_DURATION", "wf", "start", "double", "--delay", "soon")
        self.assertEqual(self.abide("wf", "start").code, 2)
        self.assertEqual(self.abide("wf", "start", "a", "1", "too many").code, 2)
        self.assertEqual(self.abide("wf", "start", "--colour").code, 2)


class RunTest(CommandTest):
    def setUp(self):
        super().setUp()
        self.deploy("order", ORDER)
        self.run_id = self.id().rsplit(".")[-1]
        self.ok("wf", "start", "order", '{"amount": 7}', "--id", self.run_id, "--tag", self.run_id)
        self.addCleanup(self.abide, "wf", "cancel", self.run_id)
        self.server.wait_for(self.run_id, "suspended")

    def test_ls_filters_and_shows_what_is_waited_for(self):
        lines = self.ok("wf", "ls", "--tag", self.run_id).lines
        self.assertRegex(lines[0], r"^RUN +WORKFLOW +STATUS +WAITING ON +CREATED +NEXT WAKE$")
        self.assertRegex(lines[1], r"^%s +order +suspended +task charge " % self.run_id)
        self.assertEqual(len(lines), 2)
        by = ["--status", "suspended,paused", "--workflow", "order", "--tag", self.run_id]
        self.assertEqual(self.ok("wf", "ls", *by, "-o", "ids").out, self.run_id + "\n")
        by = ["--status", "paused", "--status", "suspended", "--workflow", "none,order"]
        self.assertIn(self.run_id, self.ok("wf", "ls", *by, "-o", "ids").lines)
        by = ["--workflow", "none", "--workflow", "other", "--tag", self.run_id, "-o", "ids"]
        self.assertEqual(self.ok("wf", "ls", *by).out, "")
        old = self.ok("wf", "ls", "--tag", self.run_id, "--created-before", "1h")
        self.assertEqual(old.lines, ["RUN  WORKFLOW  STATUS  WAITING ON  CREATED  NEXT WAKE"])
        recent = self.ok("wf", "ls", "--tag", self.run_id, "--created-after", "1h", "-o", "json")
        self.assertEqual(recent.json["items"][0]["id"], self.run_id)
        self.refused(2, "BAD_ARGUMENT", "wf", "ls", "--idle-before", "yesterday")
        self.refused(2, "BAD_QUERY", "wf", "ls", "--status", "asleep")
        self.refused(2, "BAD_ARGUMENT", "wf", "ls", "--limit", "0")

    def test_ls_waiting_on_a_signal(self):
        self.server.complete(self.task_of(self.run_id), "paid")
        self.server.wait_for(self.run_id, "suspended")
        wait_until(lambda: self.run_id in self.ok("wf", "ls", "--waiting-on", "approval", "-o",
                                                  "ids").lines)

    def test_show_tells_where_it_stands(self):
        shown = self.ok("wf", "show", self.run_id).out
        self.assertRegex(shown, r"(?m)^status +suspended$")
        self.assertRegex(shown, r"(?m)^waits for +task charge \(task_\w+\), since ")
        self.assertRegex(shown, r"(?m)^stands at +order\.flow:2:\d+ in order$")
        self.assertRegex(shown, r"(?m)^attempts +0$")
        self.assertRegex(shown, r"(?m)^1 +task +charge +ok ")
        whole = self.ok("wf", "show", self.run_id, "-o", "json").json
        self.assertEqual((whole["id"], whole["steps"][0]["name"]), (self.run_id, "charge"))
        self.assertEqual(whole["snapshot"]["frames"][0]["line"], 2)
        self.assertEqual(self.ok("wf", "show", self.run_id, "-o", "ids").out, self.run_id + "\n")
        self.refused(4, "RUN_NOT_FOUND", "wf", "show", "nobody")

    def test_all_steps_are_shown(self):
        self.deploy("steps", 'for (let i = 0; i < 1005; i++) await Timer.delay("0ms")\nreturn 1')
        self.ok("wf", "start", "steps", "--id", "stepper", "--wait")
        steps = self.ok("wf", "show", "stepper", "-o", "json").json["steps"]
        self.assertGreaterEqual(len(steps), 1005)
        self.assertEqual([step["seq"] for step in steps], sorted({step["seq"] for step in steps}))
        shown = self.ok("wf", "show", "stepper").out
        self.assertIn("earlier steps are left out", shown)
        self.assertLess(len(shown.splitlines()), 130)

    def test_signal_result_and_follow(self):
        self.refused(1, "RUN_NOT_ENDED", "wf", "result", self.run_id)
        self.server.complete(self.task_of(self.run_id), {"paid": 7})
        follower = subprocess.Popen(
            [ABIDE, "wf", "show", self.run_id, "--follow", *self.where], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(self.ok("signal", self.run_id, "approval", '{"ok": true}').out,
                         self.run_id + ": signalled\n")
        result = self.ok("wf", "result", self.run_id, "--wait").out
        self.assertEqual(result, '{"receipt":{"paid":7},"approval":{"ok":true}}\n')
        out, err = follower.communicate(timeout=60)
        self.assertEqual((follower.returncode, err), (0, ""))
        self.assertRegex(out, r"(?m)^\d\d:\d\d:\d\d\.\d{3}  finished ")
        lines = self.ok("wf", "watch", self.run_id, "-o", "json").lines
        kinds = [json.loads(line)["kind"] for line in lines]
        self.assertEqual((kinds[0], kinds[-1]), ("started", "finished"))
        whole = self.ok("wf", "result", self.run_id, "-o", "json").json
        self.assertEqual((whole["id"], whole["status"]), (self.run_id, "completed"))
        self.refused(1, "RUN_TERMINAL", "signal", self.run_id, "approval")
        self.refused(4, "RUN_NOT_FOUND", "wf", "watch", "nobody")
        self.refused(4, "RUN_NOT_FOUND", "wf", "result", "nobody")

    def test_a_stream_goes_on_when_the_server_restarts(self):
        follower = subprocess.Popen([ABIDE, "wf", "watch", self.run_id, "-o", "json", *self.where],
                                    text=True, stdout=subprocess.PIPE)
        first = json.loads(follower.stdout.readline())
        self.server.kill()
        self.server.restart_on_its_port()
        self.ok("wf", "cancel", self.run_id)
        rest, _ = follower.communicate(timeout=60)
        numbers = [first["seq"]] + [json.loads(line)["seq"] for line in rest.splitlines()]
        self.assertEqual(numbers, sorted(set(numbers)))
        self.assertEqual((follower.returncode, json.loads(rest.splitlines()[-1])["kind"]),
                         (1, "finished"))

    def test_waiting_goes_on_when_the_server_restarts(self):
        terminal, its_end = pty.openpty()
        waiter = subprocess.Popen([ABIDE, "wf", "result", self.run_id, "--wait", *self.where],
                                  text=True, stdout=subprocess.PIPE, stderr=its_end,
                                  env=self.environment())
        os.close(its_end)
        shown = b""
        while b"is suspended" not in shown:  # the progress line: it has had an answer
            shown += os.read(terminal, 4096)
        self.server.kill()
        self.server.restart_on_its_port()
        self.server.complete(self.task_of(self.run_id), 1)
        self.ok("signal", self.run_id, "approval", "2")
        out, _ = waiter.communicate(timeout=60)
        os.close(terminal)
        self.assertEqual((waiter.returncode, out), (0, '{"receipt":1,"approval":2}\n'))

    def test_pause_resume_cancel_and_rm(self):
        self.assertEqual(self.ok("wf", "pause", self.run_id).out, self.run_id + ": paused\n")
        self.assertEqual(self.ok("wf", "pause", self.run_id).out, self.run_id + ": unchanged\n")
        self.assertEqual(self.ok("wf", "resume", self.run_id).out, self.run_id + ": resumed\n")
        self.refused(1, "RUN_NOT_TERMINAL", "wf", "rm", self.run_id)
        self.ok("wf", "cancel", self.run_id, "--reason", "no longer needed", "--grace", "1s")
        self.server.wait_for(self.run_id, "cancelled")
        log = self.server.get("/v1/runs/%s/log" % self.run_id).json["items"]
        self.assertIn("no longer needed", [entry.get("data") for entry in log])
        self.refused(1, "RUN_CANCELLED", "wf", "result", self.run_id)
        again = self.ok("wf", "cancel", self.run_id, "-o", "json").json
        self.assertEqual(again["items"], [{"id": self.run_id, "changed": False}])
        self.assertEqual(self.ok("wf", "rm", self.run_id).out, self.run_id + ": removed\n")
        self.refused(4, "RUN_NOT_FOUND", "wf", "rm", self.run_id)

    def test_start_says_what_becomes_of_signals_nobody_took(self):
        run = self.ok("wf", "start", "order", "{}", "--leftover-signals", "dead_letter", "-o",
                      "ids").lines[0]
        self.ok("signal", run, "unwanted", '"%s"' % run)
        self.ok("wf", "cancel", run)
        self.server.wait_for(run, "cancelled")
        self.assertIn(run, self.server.get("/v1/dead-letters?limit=1000").body)
        self.refused(2, "BAD_OPTION", "wf", "start", "order", "--leftover-signals", "topic")

    def test_iterations_are_numbered_and_the_last_is_meant(self):
        self.deploy("rounds", "for (let i = 0; i < 3; i++) await Task.run('turn', i)\n"
                              "await Signal.next('go')")
        self.ok("wf", "start", "rounds", "--id", "rounds-1")
        for number in range(3):
            self.server.complete(self.server.claim(names=["turn"])[0], number)
        wait_until(lambda: "signal go" in self.ok("wf", "show", "rounds-1").out)
        shown = self.ok("wf", "show", "rounds-1").out
        for number in range(3):
            self.assertRegex(shown, r"(?m)^ *\d+ +wait +turn \[%d\] .* %d$" % (number, number))
        self.ok("wf", "rewind", "rounds-1", "turn")
        self.assertEqual(self.server.claim(names=["turn"])[0]["input"], 2)
        self.ok("wf", "fork", "rounds-1", "turn", "--id", "rounds-2")
        self.assertEqual(self.server.claim(names=["turn"])[0]["input"], 2)
        self.ok("wf", "cancel", "rounds-1", "rounds-2")

    def test_rewind_and_fork(self):
        self.server.complete(self.task_of(self.run_id), 1)
        self.server.wait_for(self.run_id, "suspended")
        self.ok("wf", "ls")
        wait_until(lambda: "approval" in self.ok("wf", "show", self.run_id).out)
        answer = self.ok("wf", "rewind", self.run_id, "charge")
        self.assertRegex(answer.out, r"^%s: set back to charge, \d+ checkpoints dropped\n$"
                         % self.run_id)
        self.assertEqual(self.ok("wf", "fork", self.run_id, "--id", self.run_id + "-b").out,
                         self.run_id + "-b\n")
        self.assertEqual(self.server.get("/v1/runs/%s-b" % self.run_id).status, 200)
        self.refused(4, "STEP_NOT_FOUND", "wf", "rewind", self.run_id, "nowhere")
        found = "id:%s,none" % self.run_id
        self.assertEqual(self.ok("wf", "rewind", "-q", found, "charge", "--dry-run").out,
                         "1 would be set back, 0 unchanged, 0 refused\n")
        self.assertIn("not begun a step \"nowhere\"", self.ok("wf", "rewind", "-q", found, "nowhere").out)
        self.assertEqual(self.ok("wf", "rewind", "-q", found, "charge", "-o", "ids").out, self.run_id + "\n")
        for words in (["charge"], ["-q", found, self.run_id, "charge"], [self.run_id, "charge", "--dry-run"]):
            self.refused(2, "BAD_ARGUMENT", "wf", "rewind", *words)
        self.refused(2, "BAD_ARGUMENT", "wf", "fork", self.run_id, "charge", "--iteration", "x")
        self.refused(1, "RUN_EXISTS", "wf", "fork", self.run_id, "--id", self.run_id + "-b")
        self.ok("wf", "cancel", self.run_id, self.run_id + "-b")


class BulkTest(CommandTest):
    def start_many(self, tag, count):
        self.deploy("order", ORDER)
        ids = ["%s-%d" % (tag, i) for i in range(count)]
        for run_id in ids:
            self.ok("wf", "start", "order", '{"amount": 1}', "--id", run_id, "--tag", tag)
        return ids

    def test_ids_are_read_from_stdin(self):
        ids = self.start_many("bulk", 3)
        listed = self.ok("wf", "ls", "--tag", "bulk", "-o", "ids").out
        self.assertEqual(sorted(listed.split()), ids)
        answer = self.ok("wf", "pause", "-", text=listed)
        self.assertEqual(sorted(answer.lines), [run_id + ": paused" for run_id in ids])
        self.assertEqual(sorted(self.ok("wf", "resume", "-", "-o", "ids", text=listed).lines), ids)
        answer = self.ok("signal", "-", "approval", "1", "-o", "json", text=listed)
        self.assertEqual([item["delivered"] for item in answer.json["items"]], [False] * 3)
        self.refused(2, "BAD_ARGUMENT", "signal", "-", "approval", "-", text="1")

    def test_tables_can_be_piped_in_and_empty_lines_are_nothing(self):
        ids = self.start_many("table", 2)
        table = self.ok("wf", "ls", "--tag", "table").lines[1:]
        answer = self.ok("wf", "cancel", "-", "-o", "ids", text="\n" + "\n\n".join(table) + "\n")
        self.assertEqual(sorted(answer.lines), ids)
        self.assertEqual(self.ok("wf", "cancel", "-", "-o", "json", text="").json, {"items": []})

    def test_one_that_fails_does_not_stop_the_others(self):
        ids = self.start_many("part", 2)
        answer = self.refused(4, "RUN_NOT_FOUND", "wf", "cancel", ids[0], "nobody", ids[1],
                              "-o", "json")
        items = answer.json["items"]
        self.assertEqual([item["id"] for item in items], [ids[0], "nobody", ids[1]])
        self.assertEqual([item.get("changed") for item in items], [True, None, True])
        self.assertEqual(items[1]["error"]["code"], "RUN_NOT_FOUND")

    def test_a_limit_above_a_page_takes_several(self):
        self.deploy("tiny", "return 1")
        for i in range(1100):
            self.server.post("/v1/runs", {"workflow": "tiny", "tags": ["lots"]})
        listed = self.ok("wf", "ls", "--tag", "lots", "--limit", "5000", "-o", "ids")
        self.assertEqual((len(set(listed.lines)), listed.err), (1100, ""))
        whole = self.ok("wf", "ls", "--tag", "lots", "--limit", "1050", "-o", "json").json
        self.assertEqual((len(whole["items"]), whole["next"] is None), (1050, False))

    def test_a_list_goes_on_at_its_cursor(self):
        self.deploy("tiny", "return 1")
        for i in range(7):
            self.ok("wf", "start", "tiny", "--tag", "many")
        page = self.abide("wf", "ls", "--tag", "many", "--limit", "3", "-o", "ids")
        self.assertEqual(len(page.lines), 3)
        cursor = page.err.split("--cursor ")[1].split()[0]
        rest = self.ok("wf", "ls", "--tag", "many", "--cursor", cursor, "-o", "ids")
        self.assertEqual(len(set(page.lines + rest.lines)), 7)
        self.assertEqual(rest.err, "")


class EventTest(CommandTest):
    def test_emit_and_topics(self):
        self.deploy("listener", 'return await Event.wait("prices")')
        self.assertEqual(self.ok("emit", "early", "1", "--id", "e1").out,
                         "early: published, kept until somebody waits\n")
        self.assertEqual(self.ok("emit", "early", "1", "--id", "e1").out,
                         "early: published before\n")
        self.ok("wf", "start", "listener", "--id", "ear")
        self.server.wait_for("ear", "suspended")
        self.assertEqual(self.ok("topic", "show", "prices", "-o", "json").json["waiters"], ["ear"])
        self.assertEqual(self.ok("emit", "prices", '{"eur": 7}').out,
                         "prices: published, 1 run resumed\n")
        self.assertEqual(self.ok("wf", "result", "ear", "--wait").out, '{"eur":7}\n')
        self.assertRegex(self.ok("emit", "x", "-o", "ids").out, r"^evt_\w+\n$")
        self.refused(2, "BAD_JSON", "emit", "prices", "{")

    def test_topic_set_keeps_what_is_not_named(self):
        self.ok("topic", "set", "box", "--consume", "all", "--cap", "5")
        topic = self.ok("topic", "set", "box", "--expire", "1h", "-o", "json").json
        self.assertEqual((topic["consume"], topic["cap"], topic["expire"]), ("all", 5, "1h"))
        self.assertIn("box", self.ok("topic", "ls", "-o", "ids").lines)
        self.assertRegex(self.ok("topic", "ls").out, r"(?m)^box +all +all +1h +5 +0$")
        self.refused(2, "BAD_FIELD", "topic", "set", "box", "--consume", "some")
        self.refused(2, "BAD_ARGUMENT", "topic", "set", "box", "--cap", "many")

    def test_pending_events_are_listed_and_removed(self):
        self.ok("topic", "set", "pile", "--cap", "3")
        for number in range(3):
            self.ok("emit", "pile", str(number))
        self.assertRegex(self.ok("doctor").out, r"(?m)^warning +topics: pile is full: 3 events")
        ids = self.ok("topic", "events", "pile", "-o", "ids").lines
        self.assertEqual(len(ids), 3)
        self.assertRegex(self.ok("topic", "events", "pile").out,
                         r"(?m)^ *%s +evt_\w+ .* no +0$" % ids[0])
        self.assertEqual(self.ok("topic", "rm-events", "pile", ids[0]).out, ids[0] + ": removed\n")
        self.refused(4, "EVENT_NOT_FOUND", "topic", "rm-events", "pile", ids[0])
        self.refused(2, "BAD_ARGUMENT", "topic", "rm-events", "pile")
        self.refused(2, "BAD_ARGUMENT", "topic", "rm-events", "pile", ids[1], "--all")
        self.assertEqual(self.ok("topic", "rm-events", "pile", "--all").out,
                         "pile: 2 events removed\n")
        self.assertRegex(self.ok("doctor").out, r"(?m)^ok +topics: none is full$")

    def test_pending_signals_are_listed_and_removed(self):
        self.deploy("deaf", 'return await Signal.next("go")')
        self.ok("wf", "start", "deaf", "--id", "post")
        for name in ("a", "b", "b", "c"):
            self.ok("signal", "post", name, "1")
        self.assertRegex(self.ok("wf", "signals", "post").out, r"(?m)^ *\d+ +a +.* 1$")
        ids = self.ok("wf", "signals", "post", "-o", "ids").lines
        self.assertEqual(self.ok("wf", "rm-signals", "post", "-", text=ids[0]).out,
                         ids[0] + ": removed\n")
        self.refused(4, "SIGNAL_NOT_FOUND", "wf", "rm-signals", "post", ids[0])
        self.assertEqual(self.ok("wf", "rm-signals", "post", "--name", "b").out,
                         "post: 2 signals removed\n")
        self.assertEqual(self.ok("wf", "rm-signals", "post", "--all", "-o", "json").json,
                         {"removed": 1})
        self.refused(4, "RUN_NOT_FOUND", "wf", "signals", "nobody")

    def test_dead_letters(self):
        self.assertEqual(self.ok("dead", "ls", "-o", "json").json, {"items": [], "next": None})
        self.ok("topic", "set", "full", "--cap", "1")
        self.deploy("talker", 'for (let i = 0; i < 3; i++) Event.emit("full", i)\nreturn 1')
        self.ok("wf", "start", "talker", "--wait")
        ids = self.ok("dead", "ls", "-o", "ids").lines
        self.assertEqual(len(ids), 2)
        self.assertRegex(self.ok("dead", "ls").out, r"(?m) full +- +topic full ")
        self.ok("topic", "set", "full", "--cap", "10")
        self.assertEqual(self.ok("dead", "replay", ids[0]).out, ids[0] + ": replayed\n")
        self.assertEqual(self.ok("dead", "rm", "-", text=ids[1]).out, ids[1] + ": removed\n")
        self.refused(4, "DEAD_LETTER_NOT_FOUND", "dead", "replay", ids[0])
        self.refused(4, "DEAD_LETTER_NOT_FOUND", "dead", "rm", "no-number")


class TaskTest(CommandTest):
    def test_run_show_and_list(self):
        self.assertEqual(self.ok("task", "run", "mail", '{"to": "a"}', "--id", "m1", "--queue",
                                 "mail", "--attempts", "2", "--priority", "3").out, "m1: queued\n")
        self.assertEqual(self.ok("task", "run", "mail", "--id", "m1").out, "m1: exists already\n")
        self.assertRegex(self.ok("task", "ls", "--queue", "mail").out,
                         r"(?m)^m1 +mail +mail +queued +0/2 ")
        self.assertEqual(self.ok("task", "ls", "--queue", "mail", "--status", "queued",
                                 "-o", "ids").lines, ["m1"])
        shown = self.ok("task", "show", "m1").out
        self.assertRegex(shown, r'(?m)^input +\{"to": "a"\}$')
        self.assertRegex(self.ok("queue", "ls").out, r"(?m)^mail +1 +0 +0 ")
        self.assertEqual(self.ok("queue", "pause", "mail").out, "mail: paused\n")
        self.assertRegex(self.ok("queue", "ls").out, r"(?m)^mail .* paused$")
        self.ok("queue", "resume", "mail")
        self.assertIn("mail", self.ok("queue", "ls", "-o", "ids").lines)
        self.ok("task", "run", "big", '{"n": 12345678901234567, "list": []}', "--id", "big")
        self.assertIn('"n": 12345678901234567', self.ok("task", "show", "big", "-o", "json").out)
        self.refused(4, "TASK_NOT_FOUND", "task", "show", "nothing")
        self.refused(2, "BAD_QUERY", "task", "ls", "--status", "lost")
        self.refused(2, "BAD_ARGUMENT", "task", "run", "x", "--attempts", "x")

    def test_wait_for_the_result(self):
        runner = subprocess.Popen([ABIDE, "task", "run", "add", "[1, 2]", "--wait", *self.where],
                                  text=True, stdout=subprocess.PIPE)
        task = self.server.claim(names=["add"])[0]
        self.server.complete(task, sum(task["input"]))
        self.assertEqual((runner.communicate(timeout=60)[0], runner.returncode), ("3\n", 0))
        self.refused(1, "TASK_NOT_ENDED", "task", "run", "nobody", "--wait-limit", "20ms")

    def test_retry_is_for_failed_ones(self):
        self.ok("task", "run", "bad", "--id", "b1")
        self.assertEqual(self.ok("task", "retry", "b1").out, "b1: unchanged: it is due already\n")
        task = self.server.claim(names=["bad"])[0]
        self.refused(1, "TASK_NOT_FAILED", "task", "retry", "b1")
        self.server.post("/v1/tasks/complete", {"results": [
            {"id": "b1", "token": task["token"], "error": {"type": "E", "message": "broken"}}]})
        self.assertRegex(self.ok("task", "show", "b1").out, r"(?m)^status +failed$")
        self.assertEqual(self.ok("task", "retry", "b1").out, "b1: due now\n")
        self.refused(4, "TASK_NOT_FOUND", "task", "retry", "nothing")


class ScheduleTest(CommandTest):
    def test_a_schedule_from_set_to_rm(self):
        self.deploy("report", "return Inputs")
        made = self.ok("schedule", "set", "nightly", "report", '{"full": true}', "--cron",
                       "0 3 * * *", "--timezone", "Europe/Berlin", "--overlap", "queue",
                       "--tag", "nights", "-o", "json").json
        self.assertEqual((made["cron"], made["timezone"], made["overlap"], made["tags"]),
                         ("0 3 * * *", "Europe/Berlin", "queue", ["nights"]))
        self.assertRegex(self.ok("schedule", "ls").out,
                         r"(?m)^nightly +report +0 3 \* \* \* Europe/Berlin +in ")
        self.assertRegex(self.ok("schedule", "show", "nightly").out, r"(?m)^next at +in \d+h \(")
        run = self.ok("schedule", "trigger", "nightly", "-o", "ids").out.strip()
        self.assertEqual(self.ok("wf", "result", run, "--wait").out, '{"full":true}\n')
        self.assertRegex(self.ok("schedule", "trigger", "nightly").out,
                         r"^nightly: started run_\w+\n$")
        self.assertEqual(self.ok("schedule", "pause", "nightly").out, "nightly: paused\n")
        self.assertRegex(self.ok("schedule", "ls").out, r"(?m)^nightly .* paused ")
        self.assertEqual(self.ok("schedule", "resume", "nightly").out, "nightly: resumed\n")
        self.assertEqual(self.ok("schedule", "backfill", "nightly", "--from", "3d").out,
                         "nightly: 3 started, 0 existed\n")
        again = self.ok("schedule", "backfill", "nightly", "--from", "3d", "-o", "json").json
        self.assertEqual(again["started"], 0)
        self.assertEqual(self.ok("schedule", "rm", "nightly").out, "nightly: removed\n")
        self.refused(4, "SCHEDULE_NOT_FOUND", "schedule", "show", "nightly")
        self.refused(4, "SCHEDULE_NOT_FOUND", "schedule", "trigger", "nightly")

    def test_what_is_refused(self):
        self.deploy("report", "return 1")
        self.refused(2, "BAD_SCHEDULE", "schedule", "set", "x", "report")
        self.refused(2, "BAD_CRON", "schedule", "set", "x", "report", "--cron", "61 * * * *")
        self.refused(4, "WORKFLOW_NOT_FOUND", "schedule", "set", "x", "none", "--every", "1h")
        self.refused(2, "BAD_ARGUMENT", "schedule", "backfill", "x")
        self.refused(2, "BAD_ARGUMENT", "schedule", "backfill", "x", "--from", "then")
        self.assertEqual(self.abide("schedule", "set", "x").code, 2)


class DeployTest(CommandTest):
    def test_deploy_list_and_show(self):
        one = self.file("one.flow", "return 1\n")
        two = self.file("two.flow", "workflow alpha() { return 1 }\nworkflow beta() { return 2 }\n")
        answer = self.ok("deploy", one, two)
        self.assertRegex(answer.out, r"(?m)^one: deployed, version [0-9a-f]{12}$")
        self.assertRegex(answer.out, r"(?m)^beta: deployed, ")
        self.assertRegex(self.ok("deploy", one).out, r"^one: unchanged, ")
        self.assertEqual(self.ok("deploy", two, "-o", "ids").lines, ["alpha", "beta"])
        self.assertRegex(self.ok("workflow", "ls").out, r"(?m)^one +[0-9a-f]{12} +yes +flow ")
        self.assertEqual(self.ok("workflow", "show", "one", "--source").out, "return 1\n")
        self.assertIn("return 1", self.ok("workflow", "show", "one").out)
        version = self.ok("workflow", "show", "one", "-o", "json").json["version"]
        self.file("one.flow", "return 3\n")
        self.ok("deploy", one)
        self.assertEqual(len(self.ok("workflow", "ls", "--name", "one").lines), 3)
        self.assertEqual(self.ok("workflow", "show", "one", "--source", "--version", version).out,
                         "return 1\n")
        self.refused(4, "WORKFLOW_NOT_FOUND", "workflow", "show", "none")

    def test_files_with_errors_are_shown_and_the_others_deployed(self):
        good, bad = self.file("good.flow", "return 1"), self.file("bad.flow", "let a = ;")
        answer = self.refused(2, "FLOW_SYNTAX", "deploy", bad, good, "-o", "json")
        self.assertIn("bad.flow:1:9", answer.err)
        items = answer.json["items"]
        self.assertEqual(items[0]["error"]["code"], "FLOW_SYNTAX")
        self.assertEqual(items[1]["workflows"], [{"name": "good", "new": True}])
        self.refused(2, "FILE_NOT_READ", "deploy", "/nowhere/at/all.flow")

    def test_what_cannot_work_is_not_deployed_and_warnings_are_shown(self):
        bad = self.file("undeclared.flow", "await Tasks.run('x')")
        answer = self.refused(1, "FLOW_CHECK", "deploy", bad, "-o", "json")
        self.assertIn("Did you mean `Task`?", answer.err)
        self.assertEqual(answer.json["items"][0]["error"]["code"], "FLOW_CHECK")
        hasty = self.file("hasty.flow", "Task.run('x')\nreturn 1")
        answer = self.ok("deploy", hasty, "-o", "json")
        self.assertIn("warning[FLOW_UNAWAITED]", answer.err)
        [warning] = answer.json["items"][0]["warnings"]
        self.assertEqual((warning["code"], warning["line"]), ("FLOW_UNAWAITED", 1))


class LookTest(CommandTest):
    def test_nodes(self):
        [node] = [node for node in self.ok("nodes", "-o", "json").json["items"] if node["alive"]]
        version = json.loads(subprocess.check_output([ABIDE, "version", "-o", "json"]))["version"]
        self.assertEqual(node["version"], version)
        self.assertRegex(self.ok("nodes").out, rf"(?m)^ *{node['id']} +{node['name']} +{re.escape(version)} +yes ")
        self.assertIn(str(node["id"]), self.ok("nodes", "-o", "ids").out.splitlines())

    def test_stats_and_doctor(self):
        self.assertRegex(self.ok("stats").out, r"(?m)^runs\.suspended +0$")
        self.assertEqual(self.ok("stats", "-o", "json").json["runs"]["failed"], 0)
        report = self.ok("doctor", "-o", "json").json
        self.assertTrue(report["ok"])
        found = {finding["check"]: finding for finding in report["findings"]}
        for check in ("server", "clock", "version", "store", "runs", "nodes", "timers", "queues"):
            self.assertEqual(found[check]["status"], "ok", found)
        self.assertRegex(self.ok("doctor").out, r"(?m)^ok +server: answers in \d+ ms$")

    def test_verify_works_beside_a_server(self):
        answer = self.bare("verify", self.server.store)
        self.assertEqual(answer.code, 0, answer.err)
        self.assertRegex(answer.out, r": \d+ rows, all in order\n$")
        self.assertTrue(self.bare("verify", self.server.store, "-o", "json").json["ok"])

    def test_verify_says_what_is_wrong(self):
        path = self.file("text.db", "this is no database at all, but a text")
        answer = self.bare("verify", path, "-o", "json")
        self.assertEqual((answer.code, answer.json["ok"]), (1, False))
        self.assertEqual(answer.json["error"]["code"], "STORE_NOT_OURS")
        self.assertEqual(self.bare("verify", "/nowhere/a.db").code, 4)
        self.assertEqual(self.bare("verify", path, "-o", "xml").code, 2)

    def test_version(self):
        self.assertRegex(self.bare("version").out, r"^abide \d+\.\d+\.\d+\n$")
        self.assertRegex(self.bare("version", "-o", "json").json["version"], r"^\d+\.")


class AdviceTest(CommandTest):
    def test_doctor_gives_advice(self):
        self.deploy("order", ORDER)
        self.ok("wf", "start", "order", '{"amount":1}', "--id", "held")
        self.ok("wf", "pause", "held")
        self.ok("queue", "pause", "default")
        report = self.ok("doctor").out
        self.assertRegex(report, r"(?m)^warning +runs: 1 paused.*\n +abide wf ls --status paused")
        self.assertRegex(report, r"(?m)^warning +queues: default is paused")


if __name__ == "__main__":
    tap.main()
