#!/usr/bin/env python3
"""Whether things stay as cheap as they are when there are many: rows in the file, tasks in one fan-out.

growth-load measures a step, an event, a timer and a purge in a file of 1,000, 100,000 and 1,000,000 runs, and
tasks, children and timers that a script waits for together. Here the tasks go through a server and a worker in
Node. Each figure stands beside the same one at the first size, so its ratio says how it grew. Last, on standard
error, everything that costs more than 1.3 times as much as at first.

Set in the environment:
  BENCH_GROWTH_ROWS  sizes of the file, ascending ("1000 100000 1000000"; add 10000000 on a machine with the room)
  BENCH_GROWTH_LOAD  runs that a figure of the file is made of (5000)
  BENCH_GROWTH_ONLY  rows, width or worker (all)
"""
import http.client
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
os.environ["ABIDE_BUILD_DIR"] = str(pathlib.Path(os.environ.get("ABIDE_BUILD_DIR", HERE.parent / "build")).absolute())
BUILD = pathlib.Path(os.environ["ABIDE_BUILD_DIR"])
sys.path[:0] = [str(HERE / "peers"), str(HERE.parent / "test" / "servers")]
from processes import end_on_signals, guarded  # noqa: E402
from systems import AbideNode  # noqa: E402

FLAT = 1.3
ROUNDS = 5
WIDTHS = (100, 10, 1000, 9900)  # the first is what the others are held against
KINDS = ("rows", "width", "worker")


def grown(figures):
    """Sentences: the costs that are more than FLAT times what they were at first. Sizes and waits are no costs."""
    return [f"{figure['bench']}: {figure['ratio']:.2f} times {figure['limit']:g} {figure['unit']}"
            for figure in figures if figure.get("unit") == "us" and figure.get("ratio", 0) > FLAT]


def load(*arguments):
    """What growth-load prints, as it comes; answers its figures."""
    found = []
    with subprocess.Popen(guarded([BUILD / "bench" / "growth-load", *arguments]), stdout=subprocess.PIPE,
                          text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            found.append(json.loads(line))
    if process.returncode != 0:
        sys.exit(f"growth-load ended with {process.returncode}")
    return found


class Probe(threading.Thread):
    """Somebody else, who starts a run every now and then, and how long the longest of these requests took."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.longest, self.is_over = port, 0.0, threading.Event()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        while not self.is_over.wait(0.001):
            began = time.monotonic()
            connection.request("POST", "/v1/runs", '{"workflow":"chain","input":0}')
            connection.getresponse().read()
            self.longest = max(self.longest, time.monotonic() - began)
        connection.close()

    def stop(self):
        self.is_over.set()
        self.join()
        return self.longest


def report(width, name, value, unit, first):
    figure = {"bench": f"growth.worker{width}.{name}", "value": round(value, 3), "unit": unit}
    if first:
        figure.update(limit=round(first, 3), ratio=round(value / first, 3))
    print(json.dumps(figure), flush=True)
    return figure


def measure_worker(folder, widths=WIDTHS, rounds=ROUNDS):
    """Task.all of so many tasks on a server, done by a worker in Node: p50 per task, and what others wait."""
    system, found, first = AbideNode(folder), [], None
    try:
        system.start()
        for width in widths:
            each = system.ask("fan", width, rounds)["p50"] * 1000 / width
            first = first or each
            found.append(report(width, "each", each, "us", first))
            probe = Probe(int(system.port))
            probe.start()
            system.ask("fan", width, 1)
            found.append(report(width, "longest_wait", probe.stop() * 1000, "ms", 0))
    finally:
        system.stop()
    return found


def main():
    end_on_signals()
    only = os.environ.get("BENCH_GROWTH_ONLY", "").replace(",", " ").split() or KINDS
    for kind in only:
        if kind not in KINDS:
            sys.exit(f"BENCH_GROWTH_ONLY: '{kind}' is none of {', '.join(KINDS)}")
    sizes = (os.environ.get("BENCH_GROWTH_ROWS") or "1000 100000 1000000").replace(",", " ").split()
    folder, found = tempfile.mkdtemp(prefix="bench-growth-", dir=BUILD), []
    try:
        for kind in only:
            inner = os.path.join(folder, kind)
            os.mkdir(inner)
            if kind == "rows":
                found += load("rows", f"{inner}/store.db", *sizes)
            elif kind == "width":
                found += load("width", f"{inner}/store.db")
            else:
                found += measure_worker(inner)
            shutil.rmtree(inner)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lines = grown(found)
    print("\n".join([f"more than {FLAT} times:", *lines]) if lines else f"nothing grew to more than {FLAT} times",
          file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt as reason:
        sys.exit(f"bench-growth: interrupted {reason}".rstrip())
