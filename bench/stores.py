#!/usr/bin/env python3
"""The stores beside each other and beside what PostgreSQL and Redis themselves can do, in one run.

A PostgreSQL of our own, durable (fsync on), on the file system of the build. First its own limits, by
pgbench: small transactions from eight clients, and rows of a checkpoint's size inserted 250 per
transaction by one client. Then the 10-step workload (bench/stores_load.c) on SQLite and on PostgreSQL.
A step is one row inserted durably, so the inserted rows are the limit that steps are held against; an
engine with a transaction per step has the small transactions as its limit.

The same for a Redis that flushes its log before it answers (appendfsync always): redis-benchmark's HSET of
a row of that size, from 50 clients one at a time, and from one client with 250 in a pipeline.

usage: bench/stores.py [--runs N] [--seconds N]
"""
import argparse
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("ABIDE_BUILD_DIR", HERE.parent / "build"))
sys.path.insert(0, str(HERE.parent / "test" / "servers"))
import postgres  # noqa: E402
import redis  # noqa: E402

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


def measure_redis(runs, home):
    """What was flushed counts: the log goes to the file system of the build, as the other stores do."""
    with redis.Redis(folder=home) as server:
        small = redis_benchmark(server, "-n", "50000", "-c", "50")
        report("stores.redis.redis_benchmark", small, "commands/s")
        rows = redis_benchmark(server, "-n", "500000", "-c", "1", "-P", str(BATCH_ROWS))
        report("stores.redis.pipelined_hset", rows, "rows/s")
        server.command("FLUSHALL")
        measure_store(server.url, "redis", runs, rows)


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
    given = options.parse_args()
    folder = tempfile.mkdtemp(prefix="bench-stores-", dir=BUILD)
    try:
        measure_store(f"sqlite:{folder}/store.db", "sqlite", given.runs, 0)
        # The server's user must be able to reach its folder, which that of the build may not allow.
        home = tempfile.mkdtemp(prefix="abide-bench-", dir="/var/tmp")
        settings = {"fsync": "on", "shared_buffers": "256MB", "max_wal_size": "4GB"}
        server = postgres.Postgres(settings, folder=home)
        try:
            with server:
                rows = measure_server(server, given.seconds)
                measure_store(server.url, "postgres", given.runs, rows)
        finally:
            shutil.rmtree(home, ignore_errors=True)
        home = tempfile.mkdtemp(prefix="abide-bench-", dir="/var/tmp")
        try:
            measure_redis(given.runs, home)
        finally:
            shutil.rmtree(home, ignore_errors=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
