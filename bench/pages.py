#!/usr/bin/env python3
"""What the dashboard asks of a server: lists over very many runs, a run with a long log, open pages.

A store with many runs is made from a few that a server has made: their rows are copied in SQLite
with new keys and ids, which takes a minute instead of hours. `abide verify` checks what came out.
A time is the least of several rounds, by the clock of the client, on one connection.

  {"bench":"pages.list.status","value":ms,"unit":"ms","limit":300,"ratio":how far below the limit}
  {"bench":"pages.run.log10000","value":ms of all requests of a run's page, …}
  {"bench":"pages.open50","value":percent of a processor that 50 open pages take at rest, …}

usage: bench/pages.py [--abide PATH] [--runs N] [--rounds N] [--pages N] [--rest SECONDS]
"""
import argparse
import atexit
import http.client
import json
import os
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("ABIDE_BUILD_DIR", HERE.parent / "build"))
LOG_ENTRIES = 10000
# Counters of the store (src/model/counter.h).
NEXT_KEY, RUNS_FIRST, STARTED, COMPLETED, FAILED = 0, 1, 36, 37, 38
STATES = {"suspended": 3, "completed": 5, "failed": 6}

ORDER = """State.set("customer", Inputs.customer)
if (Inputs.fails) throw new RangeError("the bank is away")
if (Inputs.waits) await Signal.when("approval")
return { total: Inputs.customer * 2 }"""
LONG = """for (let i = 0; i < %d; i++) console.log("line " + i)
await Signal.when("go")""" % LOG_ENTRIES
LISTS = {
    "all": {},
    "status": {"q": "status:failed"},
    "workflow": {"q": "workflow:order"},
    "workflow_status": {"q": "workflow:order status:suspended"},
    "tag": {"q": "tag:eu"},
    "tag_rare": {"q": "tag:rare"},
    "error": {"q": "error~bank"},
    "error_none": {"q": "error~nothing"},
    "age": {"q": "age>1h"},
    "waiting": {"q": "waiting:approval"},
    "line": {"q": "workflow:order line:3"},
    "line_none": {"q": "workflow:order line:1"},
    "state": {"q": "state.customer=1"},
    "id": {"q": "id:copy-1000"},
    "text": {"q": "copy-1000"},
    "where": {"q": "status:suspended where(Inputs.customer > 100)"},
    "absent": {"q": "workflow:absent"},
}


class Server:
    def __init__(self, abide, store):
        atexit.register(self.stop)
        self.process = subprocess.Popen([abide, "serve", "--store", "sqlite:" + store, "--listen", "127.0.0.1:0"],
                                        stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            found = re.search(r"listening on http://127\.0\.0\.1:(\d+)", line)
            if found:
                break
        else:
            sys.exit("the server did not start")
        self.port = int(found.group(1))
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)

    def call(self, method, path, body=None, kind="application/json"):
        self.connection.request(method, path, body, {"Content-Type": kind} if body is not None else {})
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            sys.exit("%s %s: %d %s" % (method, path, answer.status, text.decode()))
        return json.loads(text)

    def wait_for(self, run_id, status):
        while (run := self.call("GET", "/v1/runs/" + run_id))["status"] != status:
            if run["status"] in ("failed", "completed", "cancelled"):
                sys.exit("%s: %s" % (run_id, json.dumps(run)))
            time.sleep(0.01)

    def processor_seconds(self):
        fields = pathlib.Path("/proc/%d/stat" % self.process.pid).read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        atexit.unregister(self.stop)
        self.connection.close()
        self.process.terminate()
        self.process.stderr.read()
        self.process.wait()


def make_templates(abide, store):
    """One run of each kind, and one with a long log."""
    server = Server(abide, store)
    for name, source in (("order", ORDER), ("long", LONG)):
        server.call("PUT", "/v1/workflows/" + name, source, "text/plain")
    kinds = {"suspended": {"waits": True}, "failed": {"fails": True}, "completed": {}}
    for status, inputs in kinds.items():
        server.call("POST", "/v1/runs", json.dumps({"workflow": "order", "id": status, "tags": ["eu"],
                                                    "input": {"customer": 1, **inputs}}))
        server.wait_for(status, status)
    server.call("POST", "/v1/runs", json.dumps({"workflow": "long", "id": "long"}))
    server.wait_for("long", "suspended")
    server.stop()


def columns(database, table):
    return [row[1] for row in database.execute("PRAGMA table_info(abide_%s)" % table)]


def copy_rows(database, table, changed):
    """Copies the rows of a table that belong to the run :run, once per number; changed: column -> SQL."""
    names = columns(database, table)
    values = ", ".join(changed.get(name, 't."%s"' % name) for name in names)
    owner = "key" if table == "runs" else "run"
    return 'INSERT INTO abide_%s (%s) SELECT %s FROM numbers CROSS JOIN abide_%s t WHERE t."%s" = :run' % (
        table, ", ".join('"%s"' % name for name in names), values, table, owner)


def multiply(store, runs):
    """Nine of ten copies have completed, the others failed and wait."""
    database = sqlite3.connect(store)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA cache_size = -400000")
    first, = database.execute("SELECT value FROM abide_counters WHERE number = ?", (NEXT_KEY,)).fetchone()
    first += 1
    database.execute("CREATE TEMP TABLE numbers (n INTEGER PRIMARY KEY)")
    counts = {}
    for status, which in (("completed", "n % 10 > 1"), ("failed", "n % 10 = 1"), ("suspended", "n % 10 = 0")):
        run, = database.execute("SELECT key FROM abide_runs WHERE id = ?", (status,)).fetchone()
        database.execute("DELETE FROM numbers")
        database.execute("""WITH RECURSIVE all_of_them (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM all_of_them
                            WHERE n + 1 < ?) INSERT INTO numbers SELECT n FROM all_of_them WHERE """ + which, (runs,))
        counts[status], = database.execute("SELECT count(*) FROM numbers").fetchone()
        key = "%d + n" % first
        database.execute(copy_rows(database, "runs", {"key": key, "id": "'copy-' || n"}), {"run": run})
        for table in ("log", "tags", "states", "snapshots"):
            database.execute(copy_rows(database, table, {"run": key}), {"run": run})
    add = "INSERT INTO abide_counters VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET value = value + excluded.value"
    database.execute(add, (NEXT_KEY, runs))
    for status, count in counts.items():
        database.execute(add, (RUNS_FIRST + STATES[status], count))
    for number, count in ((STARTED, runs), (COMPLETED, counts["completed"]), (FAILED, counts["failed"])):
        database.execute(add, (number, count))
    database.execute("INSERT INTO abide_tags (tag, run) SELECT 'rare', key FROM abide_runs WHERE id = 'copy-1000'")
    database.commit()
    database.close()


def report(name, value, unit, limit):
    print(json.dumps({"bench": "pages." + name, "value": round(value, 2), "unit": unit, "limit": limit,
                      "ratio": round(value / limit, 3)}), flush=True)
    print("%-28s %10.2f %-4s of %g" % (name, value, unit, limit), file=sys.stderr)


def least(rounds, function):
    best = None
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        taken = (time.perf_counter() - begin) * 1000
        best = taken if best is None else min(best, taken)
    return best


def open_pages(server, count, seconds):
    """The share of a processor that the server takes while so many pages listen and nothing happens."""
    pages = []
    for _ in range(count):
        page = socket.create_connection(("127.0.0.1", server.port))
        page.sendall(b"GET /v1/changes HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n")
        page.recv(1)
        pages.append(page)
    before, begin = server.processor_seconds(), time.perf_counter()
    time.sleep(seconds)
    share = (server.processor_seconds() - before) / (time.perf_counter() - begin) * 100
    for page in pages:
        page.close()
    return share


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--abide", default=str(BUILD / "abide"))
    parser.add_argument("--runs", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=50)
    parser.add_argument("--rest", type=float, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "pages.db")
        make_templates(given.abide, store)
        multiply(store, given.runs)
        if given.runs <= 10000:
            subprocess.run([given.abide, "verify", "sqlite:" + store], check=True, stdout=subprocess.DEVNULL)
        server = Server(given.abide, store)
        for name, query in LISTS.items():
            path = "/v1/runs?" + urllib.parse.urlencode({"limit": 100, **query})
            report("list." + name, least(given.rounds, lambda: server.call("GET", path)), "ms", 300)
        page = ["/v1/runs/long", "/v1/runs/long/log?limit=1000", "/v1/runs/long/snapshot", "/v1/workflows/long",
                "/v1/tasks?run=long&limit=500", "/v1/runs?parent=long&limit=100", "/v1/runs/long/turns",
                "/v1/runs/long/signals"]
        report("run.log%d" % LOG_ENTRIES,
               least(given.rounds, lambda: [server.call("GET", path) for path in page]), "ms", 1000)

        def whole_log():
            cursor = ""
            while cursor is not None:
                answer = server.call("GET", "/v1/runs/long/log?limit=1000" + cursor)
                cursor = answer["next"] and "&after=" + answer["next"]
        report("run.whole_log", least(given.rounds, whole_log), "ms", 1000)
        for name, path in (("attention", "/v1/attention"), ("stats", "/v1/stats"), ("rates", "/v1/rates?since=24h")):
            report(name, least(given.rounds, lambda: server.call("GET", path)), "ms", 300)
        report("open%d" % given.pages, open_pages(server, given.pages, given.rest), "%", 5)
        server.stop()


if __name__ == "__main__":
    main()
