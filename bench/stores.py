#!/usr/bin/env python3
"""The stores beside each other and beside what PostgreSQL and Redis themselves can do, in one run.

A PostgreSQL of our own, durable (fsync on), on the file system of the build. First its own limits, by
pgbench: small transactions from eight clients, and rows of a checkpoint's size inserted 250 per
transaction by one client. Then the 10-step workload (bench/stores_load.c) on SQLite and on PostgreSQL.
A step is one row inserted durably, so the inserted rows are the limit that steps are held against; an
engine with a transaction per step has the small transactions as its limit.

The same for a Redis that flushes its log before it answers (appendfsync always): redis-benchmark's HSET of
a row of that size, from 50 clients one at a time, and from one client with 250 in a pipeline.

On both the workload is also shared by three nodes (chain10.nodes3), each a process of its own. And three idle
servers on a store with many suspended runs: how many statements or commands they send in a second, by the
database's own count, BEGIN and COMMIT and the like included; what functions call on the server is not sent.

usage: bench/stores.py [--runs N] [--seconds N] [--suspended N]
"""
import argparse
import csv
import http.client
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("ABIDE_BUILD_DIR", HERE.parent / "build"))
os.environ.setdefault("ABIDE_BUILD_DIR", str(BUILD))
os.environ.setdefault("ABIDE_SOURCE_DIR", str(HERE.parent))
os.environ.setdefault("ABIDE_MODULE_PATH", str(BUILD.absolute()))  # stores-load is elsewhere
for folder in ("", "servers", "e2e/support"):
    sys.path.insert(0, str(HERE.parent / "test" / folder))
import postgres  # noqa: E402
import redis  # noqa: E402
import server as abide  # noqa: E402

NODES = 3

# What abide sends to Redis; all else that Redis counts is called by its functions.
SENT = ("fcall", "fcall_ro", "function", "blpop", "subscribe", "auth", "select", "client", "config")

BATCH_ROWS = 250
BATCH_SQL = f"""
INSERT INTO batch_rows SELECT :client_id, nextval('batch_seq'), n, 2, n, 0, 1, 0, 0,
  convert_to('step', 'UTF8'), convert_to('{{"ok":true}}', 'UTF8') FROM generate_series(1, {BATCH_ROWS}) n;
"""


def report(name, value, unit, limit=0):
    line = {"bench": name, "value": round(value, 2), "unit": unit}
    if limit:
        line.update(limit=round(limit, 2), ratio=round(value / limit, 3))
    print(json.dumps(line), flush=True)


def pgbench(server, *arguments):
    program = postgres.find_program("pgbench")
    command = [program, "-h", server.folder, "-U", "abide", *arguments, "postgres"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"tps = ([0-9.]+)", text)
    return float(found.group(1)) if found else 0.0


def measure_server(server, seconds):
    pgbench(server, "-i", "-q", "-s", "5")
    small = pgbench(server, "-N", "-c", "8", "-j", "2", "-T", str(seconds))
    report("stores.postgres.pgbench", small, "transactions/s")
    server.query("CREATE TABLE batch_rows (run bigint, seq bigint, at_ms bigint, kind bigint, position bigint, "
                 "iteration bigint, attempt bigint, outcome bigint, slot bigint, name bytea, data bytea, "
                 "PRIMARY KEY (run, seq)); CREATE SEQUENCE batch_seq CACHE 1000")
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as script:
        script.write(BATCH_SQL)
        script.flush()
        rows = BATCH_ROWS * pgbench(server, "-n", "-c", "1", "-T", str(seconds), "-f", script.name)
    report("stores.postgres.batch_insert", rows, "rows/s")
    return rows


def redis_benchmark(server, *arguments):
    command = [redis.find_program("redis-benchmark"), "-s", server.socket, "--csv", "-r", "1000000", *arguments,
               "HSET", "rows", "__rand_int__", "x" * 90]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(next(csv.DictReader(io.StringIO(text)))["rps"])


def measure_nodes(url, name, runs, limit):
    """The workload shared by several nodes: all steps, over the time until the last node saw the last run end."""
    load = BUILD / "bench" / "stores-load"
    subprocess.run([load, url, "make", str(runs)], check=True, stderr=subprocess.DEVNULL)
    nodes = [subprocess.Popen([load, url, "work", str(runs)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) for _ in range(NODES)]
    figures = [[json.loads(line)["value"] for line in node.communicate()[0].splitlines()] for node in nodes]
    if any(node.returncode != 0 for node in nodes):
        sys.exit("stores.py: a node failed")
    report(f"stores.{name}.chain10.nodes{NODES}", 10 * runs / max(seconds for seconds, _ in figures), "steps/s", limit)
    report(f"stores.{name}.chain10.nodes{NODES}.least_share", min(steps for _, steps in figures) / (10 * runs), "of 1")


class Node(abide.Server):
    """A server on the shared store."""

    def __init__(self, store):
        self.temporary = self.folder = self.document = None
        self.store = store
        self.arguments = ("--idle-release-timeout", "1s", "--max-resident-runs", "100")
        self.listen = "127.0.0.1:0"
        self.seen = set()
        self.start()


def suspend_many(node, count):
    """Runs that wait for a signal, started by many callers at once."""
    node.deploy("waiter", "await Signal.when('go', { timeout: '30d' })")
    callers = 16

    def start_some():
        caller = http.client.HTTPConnection("127.0.0.1", node.port)
        for _ in range(count // callers):
            caller.request("POST", "/v1/runs", '{"workflow":"waiter"}', {"Content-Type": "application/json"})
            caller.getresponse().read()
        caller.close()

    threads = [threading.Thread(target=start_some) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = count // callers * callers
    while node.get("/v1/stats").json["runs"]["suspended"] < wanted:
        time.sleep(0.5)
    return wanted


def measure_idle(url, name, suspended, count_calls, unit):
    enough = 30
    nodes = [Node(url) for _ in range(NODES)]
    try:
        found = suspend_many(nodes[0], suspended)
        time.sleep(10)  # what was resident is released, and each node has heard of it
        begun, before = time.monotonic(), count_calls()
        time.sleep(enough)
        said = (count_calls() - before) / (time.monotonic() - begun)
        report(f"stores.{name}.idle.runs", found, "suspended")
        report(f"stores.{name}.idle.nodes{NODES}", said, unit)
    finally:
        for node in nodes:
            node.close()


def measure_redis(given, folder):
    """What was flushed counts: the log goes to the file system of the build, as the other stores do."""
    with redis.Redis(folder=folder) as server:
        small = redis_benchmark(server, "-n", "50000", "-c", "50")
        report("stores.redis.redis_benchmark", small, "commands/s")
        rows = redis_benchmark(server, "-n", "500000", "-c", "1", "-P", str(BATCH_ROWS))
        report("stores.redis.pipelined_hset", rows, "rows/s")
        server.command("FLUSHALL")
        measure_store(server.url + "&prefix=alone", "redis", given.runs, rows)
        measure_nodes(server.url + "&prefix=nodes", "redis", given.runs, rows)

        def count_calls():
            calls = re.findall(r"cmdstat_([\w|]+):calls=(\d+)", server.command("INFO", "commandstats").decode())
            return sum(int(number) for command, number in calls if command.split("|")[0] in SENT)

        measure_idle(server.url + "&prefix=idle", "redis", given.suspended, count_calls, "commands/s")


def measure_store(url, name, runs, limit):
    text = subprocess.run([BUILD / "bench" / "stores-load", url, name, str(runs)], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    for line in text.splitlines():
        figure = json.loads(line)
        report(figure["bench"], figure["value"], figure["unit"],
               limit if figure["bench"].endswith(".chain10") else 0)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=10000)
    options.add_argument("--seconds", type=int, default=5)
    options.add_argument("--suspended", type=int, default=100000)
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix="bench-stores-", dir=BUILD)
    try:
        measure_store(f"sqlite:{folder}/store.db", "sqlite", given.runs, 0)
        # The server's user must be able to reach its folder, which that of the build may not allow.
        folder = tempfile.mkdtemp(prefix="abide-bench-", dir="/var/tmp")
        settings = {"fsync": "on", "shared_buffers": "256MB", "max_wal_size": "4GB",
                    "shared_preload_libraries": "pg_stat_statements"}
        server = postgres.Postgres(settings, folder=folder)
        try:
            with server:
                rows = measure_server(server, given.seconds)
                measure_store(server.url + "&schema=alone", "postgres", given.runs, rows)
                measure_nodes(server.url + "&schema=nodes", "postgres", given.runs, rows)
                server.query("CREATE EXTENSION pg_stat_statements")
                measure_idle(server.url + "&schema=idle", "postgres", given.suspended,
                             lambda: int(server.query("SELECT sum(calls) FROM pg_stat_statements WHERE query "
                                                      "NOT LIKE '%pg_stat_statements%'")[0][0]), "statements/s")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        folder = tempfile.mkdtemp(prefix="abide-bench-", dir="/var/tmp")
        try:
            measure_redis(given, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
