"""The checker must find each kind of fault: logs and states that are right, then doctored one fault at a time."""
import copy
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import checker  # noqa: E402
import tap  # noqa: E402


class Story:
    """A small cluster's life in which everything went well."""

    def __init__(self):
        self.lines = []
        self.runs = {}
        self.count = 0
        self.schedules = [{"name": "every", "started": 3, "skipped": 0, "missed": 0, "failed": 0}]

    def say(self, op, phase, **fields):
        self.lines.append({"op": op, "phase": phase, **fields})

    def operation(self, kind, answer=None, **fields):
        self.count += 1
        self.say(self.count, "sent", kind=kind, **fields)
        self.say(self.count, "acknowledged", answer=answer)
        return self.count

    def run(self, run_id, workflow, result, status="completed", parent=None, tags=()):
        kinds = ["started", "waiting", "finished"]
        self.runs[run_id] = {
            "id": run_id, "workflow": workflow, "status": status, "result": result, "error": None, "waits": [],
            "parent_id": parent, "tags": list(tags),
            "history": [{"seq": i + 1, "kind": kind} for i, kind in enumerate(kinds)]}

    def start(self, run_id, workflow, body, result, status="completed", key=None):
        op = self.operation("start", {"id": run_id}, workflow=workflow, input=body,
                            run=None if key else run_id, key=key)
        self.run(run_id, workflow, result, status, tags=["op:%d" % op])
        return op

    def work(self, run_id, i, token=1, answer="accepted"):
        nonce = "%s.%d.%d" % (run_id, i, token)
        task = {"id": "task-%s-%d" % (run_id, i), "token": token, "run": run_id, "i": i}
        self.operation("claim", [task], worker="w")
        self.operation("complete", answer, nonce=nonce, task=task["id"], run=run_id, i=i)
        return nonce

    def faults(self):
        operations = checker.read_log(json.dumps(line) for line in self.lines)
        runs = list(self.runs.values())
        return checker.Checker(operations, {"runs": runs, "schedules": self.schedules}).check()

    def find(self, phase, **fields):
        """The first line of that phase whose operation has these fields."""
        for sent in self.lines:
            if sent["phase"] == "sent" and all(sent.get(key) == value for key, value in fields.items()):
                return next(line for line in self.lines if line["op"] == sent["op"] and line["phase"] == phase)
        raise KeyError(fields)


def good_story():
    story = Story()
    taken = [{"sender": "a", "seq": 1, "last": False}, {"sender": "b", "seq": 1, "last": True},
             {"sender": "a", "seq": 2, "last": True}]
    story.start("ledger-1", "ledger", {"senders": 2}, taken)
    for message in taken:
        story.operation("signal", {}, run="ledger-1", **message)
    story.start("job-1", "job", {"n": 1, "wide": 1}, None)
    story.work("job-1", 0)
    story.work("job-1", 1, token=1, answer="fenced")
    story.work("job-1", 1, token=2)
    story.runs["job-1"]["result"] = [{"i": 0, "nonce": "job-1.0.1"}, {"i": 1, "nonce": "job-1.1.2"}]
    story.start("eater-1", "eater", {"topic": "t", "n": 2}, [{"seq": 1}, {"seq": 3}])
    story.start("eater-2", "eater", {"topic": "t", "n": 1}, [{"seq": 2}], key="eat")
    for seq in (1, 2, 3):
        story.operation("emit", {}, topic="t", seq=seq)
    story.start("family-1", "family", {"n": 2}, [{"i": 0, "id": "kid-0"}, {"i": 1, "id": "kid-1"}])
    for i in range(2):
        story.run("kid-%d" % i, "kid", {"i": i, "id": "kid-%d" % i}, parent="family-1")
    story.start("sleeper-1", "sleeper", {"naps": [5]}, [{"ms": 5, "before": 100, "after": 105}])
    story.start("victim-1", "victim", {}, None, status="cancelled")
    story.operation("cancel", {"changed": True}, run="victim-1")
    story.operation("read", {"status": "completed", "result": taken}, run="ledger-1")
    for second in (1, 2, 3):
        run_id = "sched:every:2026-11-16T07:00:0%dZ" % second
        story.run(run_id, "tick", [{"i": 0, "nonce": story.work(run_id, 0)}])
    return story


class CheckerTest(unittest.TestCase):
    def setUp(self):
        self.story = good_story()

    def assert_found(self, *kinds):
        """These kinds of fault, and no other."""
        found = self.story.faults()
        self.assertEqual(sorted({fault.kind for fault in found}), sorted(kinds), found)

    def test_a_good_story_has_no_fault(self):
        self.assert_found()

    def test_answers_that_were_lost_may_have_happened_or_not(self):
        story = self.story
        line = story.find("sent", kind="signal", sender="a", seq=1)
        at = story.lines.index(line) + 1
        story.lines[at:at] = [{"op": line["op"], "phase": "unknown", "reason": "timed out"}, copy.deepcopy(line)]
        self.assert_found()
        # The last signal ended the run, and when it was said again the run was over.
        line = story.find("acknowledged", kind="signal", sender="a", seq=2)
        line.update(phase="refused", status=409, code="RUN_TERMINAL")
        story.lines.insert(story.lines.index(line), {"op": line["op"], "phase": "unknown", "reason": "cut"})
        self.assert_found()

    # ---- lost ----

    def test_a_run_that_is_gone_is_lost(self):
        del self.story.runs["sleeper-1"]
        self.assert_found("lost")

    def test_a_signal_that_no_wait_took_is_lost(self):
        self.story.runs["ledger-1"]["result"].pop(1)
        self.assert_found("lost")

    def test_an_event_that_nobody_took_is_lost(self):
        self.story.runs["eater-2"]["result"] = []
        self.assert_found("lost")

    def test_a_signal_that_finds_no_run_means_a_lost_run(self):
        line = self.story.find("acknowledged", kind="signal", sender="a", seq=2)
        line.update(phase="refused", status=404, code="RUN_NOT_FOUND")
        self.assertIn("lost", {fault.kind for fault in self.story.faults()})

    def test_a_cancel_that_did_nothing_is_lost(self):
        self.story.runs["victim-1"]["status"] = "completed"
        self.assert_found("lost", "wrong")

    def test_a_child_that_is_gone_is_lost(self):
        del self.story.runs["kid-1"]
        self.assert_found("lost")

    def test_a_tick_that_started_nothing_is_lost(self):
        del self.story.runs["sched:every:2026-11-16T07:00:02Z"]
        self.assert_found("lost")
        self.story.schedules[0]["started"] = 2
        self.assert_found("lost")

    def test_a_tick_that_was_missed_is_lost(self):
        self.story.schedules[0]["missed"] = 1
        self.assert_found("lost")

    def test_a_result_that_was_accepted_and_does_not_count_is_lost(self):
        self.story.work("job-1", 0, token=7, answer="fenced")
        line = self.story.find("acknowledged", kind="complete", nonce="job-1.0.7")
        line["phase"] = "unknown"
        self.story.runs["job-1"]["result"][0]["nonce"] = "job-1.0.7"
        self.assert_found("lost")

    def test_a_history_without_its_end_is_lost(self):
        self.story.runs["job-1"]["history"].pop()
        self.assert_found("lost")

    # ---- doubled ----

    def test_two_runs_of_one_key_are_doubled(self):
        twin = copy.deepcopy(self.story.runs["sleeper-1"])
        twin["id"] = "sleeper-2"
        self.story.runs["sleeper-2"] = twin
        self.assert_found("doubled")

    def test_a_signal_taken_twice_is_doubled(self):
        taken = self.story.runs["ledger-1"]["result"]
        taken.insert(1, copy.deepcopy(taken[0]))
        self.story.find("acknowledged", kind="read")["answer"]["result"] = taken
        self.assert_found("doubled")

    def test_an_event_taken_by_two_is_doubled(self):
        self.story.runs["eater-2"]["result"] = [{"seq": 2}, {"seq": 3}]
        self.assert_found("doubled")

    def test_a_task_queued_twice_is_doubled(self):
        task = {"id": "task-other", "token": 1, "run": "job-1", "i": 0}
        self.story.operation("claim", [task], worker="w")
        self.assert_found("doubled")

    def test_one_lease_given_to_two_is_doubled(self):
        task = {"id": "task-job-1-0", "token": 1, "run": "job-1", "i": 0}
        self.story.operation("claim", [task], worker="v")
        self.assert_found("doubled")

    def test_two_accepted_results_of_a_task_are_doubled(self):
        self.story.work("job-1", 0, token=9)
        self.assert_found("doubled")

    def test_a_second_child_is_doubled(self):
        self.story.run("kid-twin", "kid", {"i": 1, "id": "kid-twin"}, parent="family-1")
        self.assert_found("doubled")

    def test_a_tick_that_started_two_is_doubled(self):
        self.story.schedules[0]["started"] = 2
        self.assert_found("doubled")

    def test_a_run_that_ended_twice_is_doubled(self):
        self.story.runs["job-1"]["history"].append({"seq": 4, "kind": "finished"})
        self.assert_found("doubled")

    def test_a_run_listed_twice_is_doubled(self):
        state = {"runs": [self.story.runs["kid-0"]] * 2, "schedules": []}
        self.assertEqual([fault.kind for fault in checker.Checker([], state).check()], ["doubled"])

    # ---- the others ----

    def test_signals_taken_in_another_order_are_disorder(self):
        taken = self.story.runs["ledger-1"]["result"]
        taken[0], taken[2] = taken[2], taken[0]
        self.story.find("acknowledged", kind="read")["answer"]["result"] = taken
        self.assert_found("disorder")

    def test_events_taken_in_another_order_are_disorder(self):
        self.story.runs["eater-1"]["result"].reverse()
        self.assert_found("disorder")

    def test_a_history_out_of_order_is_disorder(self):
        self.story.runs["job-1"]["history"].reverse()
        self.assert_found("disorder")

    def test_a_refused_result_that_counts_is_fenced(self):
        self.story.runs["job-1"]["result"][1]["nonce"] = "job-1.1.1"
        self.assert_found("fenced", "lost")

    def test_a_result_that_nobody_gave_is_invented(self):
        line = self.story.find("acknowledged", kind="complete", nonce="job-1.0.1")
        line["phase"] = "unknown"
        self.story.runs["job-1"]["result"][0]["nonce"] = "from nowhere"
        self.assert_found("invented")

    def test_a_signal_that_nobody_sent_is_invented(self):
        taken = self.story.runs["ledger-1"]["result"]
        taken.append({"sender": "c", "seq": 1, "last": False})
        self.story.find("acknowledged", kind="read")["answer"]["result"] = taken
        self.assert_found("invented")

    def test_a_timer_before_its_time_is_early(self):
        self.story.runs["sleeper-1"]["result"][0]["after"] = 104
        self.assert_found("early")

    def test_an_ended_run_that_became_another_is_changed(self):
        self.story.find("acknowledged", kind="read")["answer"]["result"] = []
        self.assert_found("changed")

    def test_a_run_that_waits_for_ever_is_stuck(self):
        self.story.runs["sleeper-1"]["status"] = "suspended"
        self.assert_found("stuck")

    def test_an_operation_without_an_answer_is_stuck(self):
        line = self.story.find("acknowledged", kind="cancel")
        line.update(phase="unknown", reason="timed out")
        self.assert_found("stuck")

    def test_a_run_that_failed_is_wrong(self):
        self.story.runs["sleeper-1"]["status"] = "failed"
        self.assert_found("wrong")

    def test_a_start_that_is_refused_is_wrong(self):
        line = self.story.find("acknowledged", kind="start", workflow="sleeper")
        line.update(phase="refused", status=404, code="WORKFLOW_NOT_FOUND")
        self.assert_found("wrong")

    def test_a_task_without_a_result_is_wrong(self):
        self.story.runs["job-1"]["result"].pop()
        self.assert_found("wrong")


if __name__ == "__main__":
    tap.main()
