#!/usr/bin/env python3
"""Disturbs a cluster at random while workload.py works with it, then asks checker.py what became of it.

    nemesis.py SCENARIO [--seconds N | --minutes N] [--seed N] [--nodes N] [--folder DIR]

Scenarios, each on a store of its own that is thrown away afterwards:

  nodes      PostgreSQL; nodes are killed (-9), ended in order, and stopped beyond their lease and continued
  database   PostgreSQL itself is killed (-9) and started again; a node dies now and then
  cuts       connections to PostgreSQL are cut after COMMIT was sent, all at once, or refused for a while
  standby    the primary is killed and its synchronous standby promoted; nodes know both by one URL
  redis      as nodes, on Redis with appendfsync always
  redis-server  as database, on Redis
  all        one after the other

The seed decides what is done to whom, and what the clients do; when that meets what is decided by the machine.
Answers with one JSON line per scenario on stdout; ends with 1 if the checker found something, a node ended that
nobody had ended, or `abide verify` is not content. The log, the state and the nodes' logs are kept in the folder
in that case (or when one was named).
"""
import argparse
import heapq
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import checker  # noqa: E402
from collect import write_state  # noqa: E402
from nodes import Node  # noqa: E402
from stores import STORES  # noqa: E402
from workload import Load  # noqa: E402

BUILD = os.environ.get("ABIDE_BUILD_DIR", os.path.join(os.path.dirname(os.path.dirname(HERE)), "build"))
FAULTS_SHOWN = 40


class Nemesis:
    """Faults begin at random moments and have ends that are due later; several may overlap."""

    def __init__(self, nodes, store, options):
        self.nodes = nodes
        self.store = store
        self.rng = random.Random("nemesis/%s" % options.seed)
        self.lease = options.lease
        self.pace = options.pace
        self.repairs = []  # (when, number, function)
        self.count = 0
        self.done = {}

    def later(self, seconds, function):
        self.count += 1
        heapq.heappush(self.repairs, (time.monotonic() + seconds, self.count, function))

    def repair_due(self, is_all=False):
        while self.repairs and (is_all or self.repairs[0][0] <= time.monotonic()):
            heapq.heappop(self.repairs)[2]()

    # ---- nodes ----

    def victim(self):
        """A node that is well; one is always left alone, unless a fault is about all of them."""
        well = [node for node in self.nodes if node.is_up and not node.is_stopped]
        return self.rng.choice(well) if len(well) > 1 else None

    def kill_node(self):
        node = self.victim()
        if node is None:
            return False
        node.kill()
        self.later(self.rng.uniform(0.1, 0.8 * self.lease), lambda: node.start(False))
        return True

    def kill_node_for_long(self):
        """Until its runs are taken over."""
        node = self.victim()
        if node is None:
            return False
        node.kill()
        self.later(self.lease * self.rng.uniform(1.2, 2), lambda: node.start(False))
        return True

    def end_node(self):
        node = self.victim()
        if node is None:
            return False
        node.terminate()
        self.later(self.rng.uniform(0, 2), lambda: node.start(False))
        return True

    def stop_node(self):
        """SIGSTOP beyond the lease; its runs are elsewhere when it goes on as if nothing had happened."""
        node = self.victim()
        if node is None:
            return False
        node.freeze()
        self.later(self.lease * self.rng.uniform(1.2, 2), node.thaw)
        return True

    def stop_node_shortly(self):
        node = self.victim()
        if node is None:
            return False
        node.freeze()
        self.later(self.rng.uniform(0.1, 0.9 * self.lease), node.thaw)
        return True

    def kill_all_nodes(self):
        for node in self.nodes:
            node.kill()
        for node in self.nodes:
            self.later(self.rng.uniform(0.1, 2), lambda node=node: node.start(False))
        return True

    # ---- the store ----

    def kill_store(self):
        self.store.kill()
        time.sleep(self.rng.uniform(0, 1.5))
        self.store.start()
        return True

    def cut_commit(self):
        self.rng.choice(self.store.proxies).cut_after = b"COMMIT"
        return True

    def cut_everything(self):
        for proxy in self.store.proxies:
            proxy.cut_all()
        return True

    def cut_off_node(self):
        """It cannot reach the store, and its clients can reach it."""
        proxy = self.rng.choice(self.store.proxies)
        proxy.is_down = True
        proxy.cut_all()

        def repair():
            proxy.is_down = False

        self.later(self.rng.uniform(0.2, 1.5 * self.lease), repair)
        return True

    def promote(self):
        self.store.promote()
        return True

    # ---- all of it ----

    def act(self, weights):
        """False: there was nobody to do it to."""
        name = self.rng.choices(list(weights), list(weights.values()))[0]
        has_happened = getattr(self, name)()
        if has_happened:
            self.done[name] = self.done.get(name, 0) + 1
        return has_happened

    def play(self, weights, seconds):
        """Every kind of fault happens once at least; what follows is chance."""
        end = time.monotonic() + seconds
        first = list(weights)
        self.rng.shuffle(first)
        next_at = time.monotonic() + 1
        while time.monotonic() < end or first:
            self.repair_due()
            if time.monotonic() >= next_at:
                if self.act({first[-1]: 1} if first else weights) and first:
                    first.pop()
                next_at = time.monotonic() + self.rng.expovariate(1 / self.pace)
            for node in self.nodes:
                if node.note_end():
                    self.later(0.5, lambda node=node: node.start(False))
            time.sleep(0.02)

    def heal(self):
        self.repair_due(is_all=True)
        for node in self.nodes:
            node.note_end()
            if not node.is_up:
                node.start()


NODE_FAULTS = {"kill_node": 4, "kill_node_for_long": 2, "end_node": 2, "stop_node": 3, "stop_node_shortly": 2,
               "kill_all_nodes": 1}
# name -> its store, its faults with weights, seconds between two of them in a long run
SCENARIOS = {
    "nodes": ("postgres", NODE_FAULTS, 4),
    "database": ("postgres", {"kill_store": 4, "kill_node": 2, "stop_node_shortly": 1}, 4),
    "cuts": ("cut", {"cut_commit": 12, "cut_everything": 3, "cut_off_node": 2, "kill_node": 1}, 0.5),
    "redis": ("redis", NODE_FAULTS, 4),
    "redis-server": ("redis", {"kill_store": 4, "kill_node": 2, "stop_node_shortly": 1}, 4),
    "standby": ("pair", {"promote": 1, "kill_node": 1, "stop_node_shortly": 1}, 15),
}


class Trial:
    """Nodes on a store with a workload; conclude() says what is to be said against them."""

    def __init__(self, store, options, folder):
        self.store = store
        self.options = options
        self.log_path, self.state_path = (os.path.join(folder, name) for name in ("log.jsonl", "state.json"))
        self.folder = folder
        self.nodes = []
        self.load = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.store.save_log(os.path.join(self.folder, "store.log"))
        for node in self.nodes:
            node.thaw()
            node.kill()

    def begin(self):
        arguments = ["--node-lease", "%dms" % (self.options.lease * 1000), "--log-format", "json"]
        for i in range(self.options.nodes):
            # One has little room, so that its runs leave memory and come back all the time.
            small = ["--max-resident-runs", "20", "--idle-release-timeout", "500ms"] if i == 0 else []
            program = os.path.join(BUILD, "abide")
            self.nodes.append(Node(i, program, self.store.url(i), self.folder, arguments + small))
            self.nodes[-1].start()
        self.load = Load([node.port for node in self.nodes], self.log_path, self.options.seed)
        self.load.begin()

    def conclude(self):
        """When everything is well again. Answers findings and a summary of what was asked."""
        findings = []
        patience = self.options.patience
        if not self.load.stop(patience):
            findings.append("some clients got no answer in %d s after everything was well" % patience)
        write_state(self.load.ports, self.state_path, patience)
        self.load.finish()
        findings += self.load.problems
        for node in self.nodes:
            node.note_end()
            findings += ["node %d ended with %s" % (node.number, status) for status in node.ends]
            findings += ["node %d: %s" % (node.number, line) for line in node.complaints()]
            node.terminate()
        findings += self.verify()
        operations, faults = checker.check_files(self.log_path, self.state_path)
        findings += ["%s: %s: %s" % fault for fault in faults]
        return findings, checker.summary(operations)

    def verify(self):
        done = subprocess.run([self.nodes[0].program, "verify", self.store.url(0)], capture_output=True, text=True)
        return [] if done.returncode == 0 else ["verify: " + (done.stdout + done.stderr).strip()[-2000:]]

    def count_runs(self):
        with open(self.state_path, encoding="utf-8") as state:
            return len(json.load(state)["runs"])


def patience_of(lease):
    """Seconds in which a cluster that nobody disturbs any more has to come to rest."""
    return 60 + 6 * lease


def play(name, options, folder):
    """One scenario; answers its report."""
    kind, weights, pace = SCENARIOS[name]
    options.pace = pace if options.seconds > 120 else min(pace, options.seconds / (3 * len(weights)))
    begun = time.monotonic()
    with STORES[kind](options.nodes) as store, Trial(store, options, folder) as trial:
        trial.begin()
        nemesis = Nemesis(trial.nodes, store, options)
        nemesis.play(weights, options.seconds)
        nemesis.heal()
        findings, operations = trial.conclude()
    return {"scenario": name, "seed": options.seed, "seconds": round(time.monotonic() - begun),
            "runs": trial.count_runs(), "disturbances": nemesis.done, "cuts": store.cut_count,
            "failed_starts": sum(node.failed_starts for node in trial.nodes), "operations": operations,
            "findings": findings}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", choices=[*SCENARIOS, "all"])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, default=3)
    parser.add_argument("--lease", type=float, help="of a node, in seconds")
    parser.add_argument("--folder", help="keeps the logs there")
    options = parser.parse_args()
    if options.minutes:
        options.seconds = options.minutes * 60
    options.lease = options.lease or (10 if options.seconds > 120 else 3)
    options.patience = patience_of(options.lease)
    is_clean = True
    for name in SCENARIOS if options.scenario == "all" else [options.scenario]:
        parent = options.folder or tempfile.mkdtemp(prefix="abide-chaos-")
        folder = os.path.join(parent, name)
        os.makedirs(folder)
        report = play(name, options, folder)
        findings = report["findings"]
        report["findings"] = findings[:FAULTS_SHOWN]
        report["finding_count"] = len(findings)
        print(json.dumps(report), flush=True)
        if findings:
            is_clean = False
            print("nemesis.py: %d findings; everything is in %s" % (len(findings), folder), file=sys.stderr)
        elif not options.folder:
            shutil.rmtree(parent)
    sys.exit(0 if is_clean else 1)


if __name__ == "__main__":
    main()
