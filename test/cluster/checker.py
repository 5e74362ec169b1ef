#!/usr/bin/env python3
"""Finds what a cluster lost, doubled or left lying about, from the outside.

It shares no code with the engine and knows nothing of it but its promises. It reads two files:

  the log     what clients and workers sent and what they were answered (workload.py writes it), one JSON
              line each, in this form:
                {"op": 7, "phase": "sent", "kind": "signal", ...what was asked...}
                {"op": 7, "phase": "unknown", "reason": "..."}           no answer; it may have happened
                {"op": 7, "phase": "acknowledged", "answer": {...}}
                {"op": 7, "phase": "refused", "status": 409, "code": "RUN_TERMINAL"}
              An operation that is sent again keeps its number, and the keys that make it the same.
  the state   what the API says when all is over (collect.py writes it): {"runs": [...], "schedules": [...]},
              each run with its history.

What it finds has a kind:
  lost        acknowledged, and not there
  doubled     one cause, two effects: two runs of one key, a signal, event, tick or task counted twice
  disorder    signals of one sender, or events of a topic, taken in another order than they were sent in
  fenced      a result that was refused has become the task's result
  invented    an effect without a cause
  early       a timer that fired before its time
  changed     an ended run is not what it was when somebody read it
  wrong       an answer or an end that the workload does not allow
  stuck       not ended, or not answered, although everything it waits for is there

usage: checker.py LOG STATE
"""
import collections
import json
import sys

Fault = collections.namedtuple("Fault", "kind subject text")
TERMINAL = ("completed", "failed", "cancelled")
MUST_BE_ANSWERED = ("start", "signal", "emit", "cancel")
SECOND = 1


class Operation:
    def __init__(self, number, fields):
        self.number = number
        self.kind = fields["kind"]
        self.fields = fields
        self.send_count = 0
        self.has_unknown = False
        self.outcome = "unknown"
        self.answer = None
        self.code = None

    def __getitem__(self, name):
        return self.fields.get(name)

    @property
    def may_have_happened(self):
        return self.outcome == "acknowledged" or self.has_unknown or self.outcome == "unknown"


def read_log(lines):
    """Operations in the order in which they were first sent."""
    operations = {}
    for line in lines:
        entry = json.loads(line)
        number, phase = entry["op"], entry["phase"]
        if phase == "sent":
            operation = operations.setdefault(number, Operation(number, entry))
            operation.send_count += 1
            continue
        operation = operations[number]
        if phase == "unknown":
            operation.has_unknown = True
        elif phase == "acknowledged":
            operation.outcome, operation.answer = "acknowledged", entry["answer"]
        else:
            operation.outcome, operation.code = "refused", entry["code"]
    return list(operations.values())


class Checker:
    def __init__(self, operations, state):
        self.operations = operations
        self.runs = {}
        self.faults = []
        self.schedules = state["schedules"]
        self.by_kind = collections.defaultdict(list)
        for operation in operations:
            self.by_kind[operation.kind].append(operation)
        for run in state["runs"]:
            if run["id"] in self.runs:
                self.fault("doubled", run["id"], "the run is listed twice")
            self.runs[run["id"]] = run
        self.by_tag = collections.defaultdict(list)
        self.by_parent = collections.defaultdict(list)
        for run in self.runs.values():
            self.by_parent[run["parent_id"]].append(run)
            for tag in run["tags"]:
                self.by_tag[tag].append(run)
        self.starts = {}  # run id -> its start

    def fault(self, kind, subject, text):
        self.faults.append(Fault(kind, subject, text))

    def check(self):
        self.check_starts()
        self.check_answers()
        self.check_ends()
        self.check_reads()
        self.check_histories()
        self.check_ledgers()
        self.check_topics()
        self.check_families()
        self.check_sleepers()
        self.check_tasks()
        self.check_ticks()
        return self.faults

    # ---- runs ----

    def check_starts(self):
        for start in self.by_kind["start"]:
            found = self.by_tag["op:%d" % start.number]
            subject = start["run"] or start["key"]
            if len(found) > 1:
                self.fault("doubled", subject, "started %d runs: %s" % (len(found), [r["id"] for r in found]))
            if start.outcome == "acknowledged":
                answered = start.answer["id"]
                if answered not in self.runs:
                    self.fault("lost", answered, "the start was acknowledged and the run is not there")
                elif found and found[0]["id"] != answered:
                    self.fault("doubled", subject, "%s was acknowledged, %s is there" % (answered, found[0]["id"]))
            elif start.outcome == "refused":
                self.fault("wrong", subject, "the start was refused: %s" % start.code)
            for run in found:
                self.starts[run["id"]] = start

    def check_answers(self):
        for operation in self.operations:
            if operation.kind not in MUST_BE_ANSWERED:
                continue
            subject = "op %d (%s)" % (operation.number, operation.kind)
            if operation.outcome == "unknown":
                self.fault("stuck", subject, "never answered, sent %d times" % operation.send_count)
            elif operation.outcome == "refused" and operation.kind in ("emit", "cancel"):
                self.fault("wrong", subject, "refused: %s" % operation.code)
            elif operation.outcome == "refused" and operation.kind == "signal":
                # Sent again after it ended the run: the run is over, and has the signal (check_ledgers).
                if operation.code == "RUN_NOT_FOUND":
                    self.fault("lost", operation["run"], "a signal finds no run, and its start was acknowledged")
                elif not (operation.code == "RUN_TERMINAL" and operation.has_unknown):
                    self.fault("wrong", operation["run"], "%s refused: %s" % (subject, operation.code))

    def check_ends(self):
        cancelled = {o["run"] for o in self.by_kind["cancel"]}
        for run in self.runs.values():
            if run["status"] not in TERMINAL:
                self.fault("stuck", run["id"], "%s %s, waits for %s" %
                           (run["workflow"], run["status"], run.get("waits")))
                continue
            expected = "cancelled" if run["id"] in cancelled else "completed"
            if run["status"] != expected:
                self.fault("wrong", run["id"], "%s is %s instead of %s: %s" %
                           (run["workflow"], run["status"], expected, run["error"]))
        for operation in self.by_kind["cancel"]:
            run = self.runs.get(operation["run"])
            if run and operation.outcome == "acknowledged" and run["status"] != "cancelled":
                self.fault("lost", run["id"], "the cancel was acknowledged, the run is " + run["status"])

    def check_reads(self):
        for read in self.by_kind["read"]:
            if read.outcome != "acknowledged" or read.answer["status"] not in TERMINAL:
                continue
            run = self.runs.get(read["run"])
            if run is None:
                self.fault("lost", read["run"], "somebody read it as %s, and it is not there" % read.answer["status"])
                continue
            seen = (read.answer["status"], read.answer.get("result"))
            present = (run["status"], run["result"])
            if seen != present:
                self.fault("changed", run["id"], "was read as %s, is %s" % (seen, present))

    def check_histories(self):
        for run in self.runs.values():
            history = run.get("history")
            if history is None:
                continue
            numbers = [entry["seq"] for entry in history]
            if any(later <= earlier for earlier, later in zip(numbers, numbers[1:])):
                self.fault("disorder", run["id"], "its history is not in order: %s" % numbers)
            kinds = collections.Counter(entry["kind"] for entry in history)
            if kinds["started"] > 1 or kinds["finished"] > 1:
                self.fault("doubled", run["id"], "began %d and ended %d times" %
                           (kinds["started"], kinds["finished"]))
            if run["status"] in TERMINAL and (kinds["started"] == 0 or kinds["finished"] == 0):
                self.fault("lost", run["id"], "its history lacks its beginning or its end: %s" % dict(kinds))

    def completed(self, workflow):
        """Runs that have a result to look at; check_ends speaks of the others."""
        return [r for r in self.runs.values() if r["workflow"] == workflow and r["status"] == "completed"]

    # ---- signals and events ----

    def check_sequence(self, subject, what, found, acknowledged, possible):
        """`found` are numbers in the order in which they were taken."""
        for number, count in collections.Counter(found).items():
            if count > 1:
                self.fault("doubled", subject, "%s %d was taken %d times" % (what, number, count))
            if number not in possible:
                self.fault("invented", subject, "%s %d was never sent" % (what, number))
        missing = sorted(set(acknowledged) - set(found))
        if missing:
            self.fault("lost", subject, "%s %s acknowledged and not taken" % (what, missing))

    def check_ledgers(self):
        sent = collections.defaultdict(lambda: collections.defaultdict(dict))
        for signal in self.by_kind["signal"]:
            sent[signal["run"]][signal["sender"]][signal["seq"]] = signal
        for run in self.completed("ledger"):
            taken = collections.defaultdict(list)
            for message in run["result"]:
                taken[message["sender"]].append(message["seq"])
            for sender in set(taken) | set(sent[run["id"]]):
                signals = sent[run["id"]][sender]
                subject = "%s/%s" % (run["id"], sender)
                acknowledged = [n for n, s in signals.items() if s.outcome == "acknowledged"]
                possible = {n for n, s in signals.items() if s.may_have_happened}
                self.check_sequence(subject, "signal", taken[sender], acknowledged, possible)
                if taken[sender] != sorted(taken[sender]):
                    self.fault("disorder", subject, "signals were taken in the order %s" % taken[sender])
                last = [n for n, s in signals.items() if s["last"]]
                if last and sorted(set(taken[sender])) != list(range(1, last[0] + 1)):
                    self.fault("lost", subject, "ended with %s of %d signals" % (taken[sender], last[0]))

    def check_topics(self):
        emitted = collections.defaultdict(dict)
        for emit in self.by_kind["emit"]:
            emitted[emit["topic"]][emit["seq"]] = emit
        eaters = collections.defaultdict(list)
        hungry = set()
        for run in self.runs.values():
            start = self.starts.get(run["id"])
            if run["workflow"] != "eater" or start is None:
                continue
            eaters[start["input"]["topic"]].append(run)
            if run["status"] != "completed":
                hungry.add(start["input"]["topic"])
        for topic in set(emitted) | set(eaters):
            taken = []
            for run in eaters[topic]:
                own = [payload["seq"] for payload in run["result"] or []]
                if own != sorted(own):
                    self.fault("disorder", run["id"], "events of %s were taken in the order %s" % (topic, own))
                taken += own
            events = emitted[topic]
            # Where an eater has not ended its share is not known; check_ends says so.
            acknowledged = [] if topic in hungry else [n for n, e in events.items() if e.outcome == "acknowledged"]
            possible = {n for n, e in events.items() if e.may_have_happened}
            self.check_sequence(topic, "event", taken, acknowledged, possible)

    # ---- children and timers ----

    def check_families(self):
        for run in self.completed("family"):
            start = self.starts.get(run["id"])
            if start is None:
                continue
            numbers = [kid["i"] for kid in run["result"]]
            if numbers != list(range(start["input"]["n"])):
                self.fault("lost", run["id"], "its children answered %s" % numbers)
            named = [kid["id"] for kid in run["result"]]
            present = [kid["id"] for kid in self.by_parent[run["id"]]]
            if len(set(named)) != len(named) or len(present) > len(set(named)):
                self.fault("doubled", run["id"], "%d children are there, %d were awaited: %s, %s" %
                           (len(present), len(named), present, named))
            elif sorted(present) != sorted(named):
                self.fault("lost", run["id"], "children %s answered, %s are there" % (named, present))

    def check_sleepers(self):
        for run in self.completed("sleeper"):
            for nap in run["result"]:
                if nap["after"] - nap["before"] < nap["ms"]:
                    self.fault("early", run["id"], "slept %d ms of %d" % (nap["after"] - nap["before"], nap["ms"]))

    # ---- tasks ----

    def check_tasks(self):
        task_ids = collections.defaultdict(set)  # (run, i) -> tasks made for it
        leases = collections.Counter()
        for claim in self.by_kind["claim"]:
            for task in claim.answer or []:
                task_ids[task["run"], task["i"]].add(task["id"])
                leases[task["id"], task["token"]] += 1
        for place, found in task_ids.items():
            if len(found) > 1:
                self.fault("doubled", place[0], "task %d was queued %d times: %s" % (place[1], len(found), found))
        for (task, token), count in leases.items():
            if count > 1:
                self.fault("doubled", task, "handed out %d times under the token %s" % (count, token))
        results = {}  # (run, i) -> {nonce: operation}
        for operation in self.by_kind["complete"]:
            results.setdefault((operation["run"], operation["i"]), {})[operation["nonce"]] = operation
        for workflow in ("job", "tick"):
            for run in self.completed(workflow):
                self.check_results(run, results)

    def check_results(self, run, results):
        start = self.starts.get(run["id"])
        expected = start["input"]["n"] + start["input"]["wide"] if start else 1
        if [item["i"] for item in run["result"]] != list(range(expected)):
            self.fault("wrong", run["id"], "has results %s of %d tasks" % (run["result"], expected))
        for item in run["result"]:
            subject = "%s task %d" % (run["id"], item["i"])
            attempts = results.get((run["id"], item["i"]), {})
            accepted = {nonce for nonce, o in attempts.items()
                        if o.outcome == "acknowledged" and o.answer == "accepted"}
            if len(accepted) > 1:
                self.fault("doubled", subject, "the results %s were all accepted" % sorted(accepted))
            winner = attempts.get(item["nonce"])
            if winner is None:
                self.fault("invented", subject, "nobody gave the result %s" % item["nonce"])
            elif winner.outcome == "acknowledged" and winner.answer != "accepted" and not winner.has_unknown:
                self.fault("fenced", subject, "the result %s was answered %s, and counts" %
                           (item["nonce"], winner.answer))
            if accepted and item["nonce"] not in accepted:
                self.fault("lost", subject, "%s was accepted, %s counts" % (sorted(accepted), item["nonce"]))

    # ---- schedules ----

    def check_ticks(self):
        for schedule in self.schedules:
            prefix = "sched:%s:" % schedule["name"]
            ticks = sorted(seconds_of(run_id[len(prefix):]) for run_id in self.runs if run_id.startswith(prefix))
            if schedule["started"] < len(ticks):
                self.fault("doubled", schedule["name"], "%d ticks, %d runs" % (schedule["started"], len(ticks)))
            elif schedule["started"] > len(ticks):
                self.fault("lost", schedule["name"], "%d ticks, %d runs" % (schedule["started"], len(ticks)))
            if schedule["skipped"] or schedule["missed"] or schedule["failed"]:
                self.fault("lost", schedule["name"], "%d ticks skipped, %d missed, %d failed" %
                           (schedule["skipped"], schedule["missed"], schedule["failed"]))
            for earlier, later in zip(ticks, ticks[1:]):
                if later - earlier != SECOND:
                    self.fault("lost" if later - earlier > SECOND else "doubled", schedule["name"],
                               "a tick at %d, the next at %d" % (earlier, later))
            if not ticks:
                self.fault("lost", schedule["name"], "not one tick")


def seconds_of(text):
    """Of 2026-11-16T07:04:05Z, counted from the year 1970."""
    import calendar
    import time
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def check_files(log_path, state_path):
    with open(log_path, encoding="utf-8") as log:
        operations = read_log(log)
    with open(state_path, encoding="utf-8") as state:
        return operations, Checker(operations, json.load(state)).check()


def summary(operations):
    """How much was asked, for people who wonder whether anything happened."""
    counts = collections.Counter()
    for operation in operations:
        counts[operation.kind] += 1
        counts["retried"] += operation.send_count > 1
        counts["answer_lost"] += operation.has_unknown
    return dict(counts)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    operations, faults = check_files(sys.argv[1], sys.argv[2])
    for fault in faults:
        print("%-9s %s: %s" % fault)
    print(json.dumps({"operations": summary(operations), "faults": len(faults)}))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
