#!/usr/bin/env python3
"""How long a plan takes for a million parked runs at twenty places.

Twenty runs come to their places by themselves; the rows of the store are then multiplied, with what it counts. A plan
opens one run of each place, so it should take as long as for twenty runs. RUNS in the environment is another number.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request

ABIDE = os.path.join(os.environ.get("BUILD", "build"), "abide")
RUNS, PLACES = int(os.environ.get("RUNS", "1000000")), 20
ADDRESS = "127.0.0.1:%d" % (20000 + os.getpid() % 20000)
SOURCE = "".join("if (Inputs === %d) await Signal.when('go%d')\n" % (i, i) for i in range(PLACES)) + "return %s\n"


def call(method, path, body=None):
    request = urllib.request.Request("http://" + ADDRESS + path, method=method, data=body and body.encode())
    if method == "POST":
        request.add_header("Content-Type", "application/json")
    return json.load(urllib.request.urlopen(request))


def serve(store):
    server = subprocess.Popen([ABIDE, "serve", "--store", "sqlite:" + store, "--listen", ADDRESS],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while True:
        try:
            call("GET", "/healthz")
            return server
        except OSError:
            if server.poll() is not None:
                sys.exit("bench: the server has ended")
            time.sleep(0.05)


def stop(server):
    server.terminate()
    server.wait()


def multiply(store):
    """Copies of the parked runs under other keys and ids; the places count them."""
    database = sqlite3.connect(store)
    columns = [row[1] for row in database.execute("PRAGMA table_info(abide_runs)") if row[1] not in ("key", "id")]
    names = ", ".join('"%s"' % name for name in columns)
    copies = RUNS // PLACES - 1
    database.execute("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
                     "INSERT INTO abide_runs (key, id, %s) SELECT key + i * 100000, id || '-' || i, %s "
                     "FROM abide_runs, n WHERE state = 3" % (names, names), (copies,))
    database.execute("UPDATE abide_places SET waiting_count = waiting_count * ?", (copies + 1,))
    database.execute("UPDATE abide_counters SET value = value * ? WHERE number = 4", (copies + 1,))
    database.execute("UPDATE abide_counters SET value = (SELECT max(key) FROM abide_runs) WHERE number = 0")
    database.commit()
    database.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        store = os.path.join(folder, "bench.db")
        server = serve(store)
        call("PUT", "/v1/workflows/many", SOURCE % "1")
        for i in range(PLACES):
            call("POST", "/v1/runs", json.dumps({"workflow": "many", "input": i, "id": "run-%d" % i}))
        while len(call("GET", "/v1/runs?status=suspended&limit=100")["items"]) < PLACES:
            time.sleep(0.05)
        stop(server)
        multiply(store)
        server = serve(store)
        start = time.monotonic()
        plan = call("PUT", "/v1/workflows/many?plan=true", SOURCE % "2")
        took = time.monotonic() - start
        stop(server)
    if (plan["moves"], len(plan["groups"])) != (RUNS // PLACES * PLACES, PLACES):
        sys.exit("bench: the plan is about %d runs at %d places" % (plan["moves"], len(plan["groups"])))
    print(json.dumps({"bench": "plan.parked%d" % RUNS, "value": round(took * 1000, 1), "unit": "ms", "limit": 1000,
                      "ratio": round(took, 3)}))
    print("a plan for %d parked runs at %d places: %.0f ms" % (RUNS, PLACES, took * 1000), file=sys.stderr)


main()
