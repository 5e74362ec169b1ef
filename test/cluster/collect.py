"""What the API says when all is over: every run with its history, every schedule; for checker.py."""
import json
import random
import time
import urllib.parse

from workload import Caller, NoAnswer

PAGE = 500


class Reader:
    def __init__(self, ports, seconds):
        self.caller = Caller(ports, random.Random(0))
        self.patience = seconds

    def get(self, path, method="GET"):
        """Asks until somebody answers, or time is up."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                return self.caller.call(method, path, seconds=20)
            except NoAnswer:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def pages(self, path):
        cursor = ""
        while True:
            page = self.get(path + cursor)
            yield from page["items"]
            if page["next"] is None:
                return
            cursor = "&cursor=" + urllib.parse.quote(str(page["next"]))

    def count_alive(self):
        """How many runs have not ended."""
        return sum(1 for _ in self.pages("/v1/runs?status=pending,running,suspended,paused&limit=%d" % PAGE))

    def wait_until_quiet(self):
        """Until every run has ended, or time is up; then the checker has something to say."""
        deadline = time.monotonic() + self.patience
        while self.count_alive() > 0 and time.monotonic() < deadline:
            time.sleep(0.5)

    def pause_schedules(self):
        for schedule in self.pages("/v1/schedules?limit=%d" % PAGE):
            self.get("/v1/schedules/%s/pause" % urllib.parse.quote(schedule["name"]), "POST")

    def history(self, run):
        entries, after = [], 0
        while True:
            page = self.get("/v1/runs/%s/log?limit=%d&after=%d" % (run, PAGE, after))
            entries += [{"seq": entry["seq"], "kind": entry["kind"]} for entry in page["items"]]
            if page["next"] is None:
                return entries
            after = entries[-1]["seq"]

    def state(self):
        runs = []
        for listed in self.pages("/v1/runs?limit=%d" % PAGE):
            name = urllib.parse.quote(listed["id"], safe="")
            run = self.get("/v1/runs/" + name)
            run["history"] = self.history(name)
            runs.append(run)
        return {"runs": runs, "schedules": list(self.pages("/v1/schedules?limit=%d" % PAGE))}


def write_state(ports, path, seconds):
    """Lets the cluster come to rest, at most so long, and writes down what is there."""
    reader = Reader(ports, seconds)
    reader.pause_schedules()
    reader.wait_until_quiet()
    with open(path, "w", encoding="utf-8") as file:
        json.dump(reader.state(), file)
