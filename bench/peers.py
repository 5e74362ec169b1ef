#!/usr/bin/env python3
"""abide beside Restate and DBOS: the same seven workloads, in one run, next to the machine's own limits.

docs/benchmarks.md says what is measured and how. The packages of the others are installed by npm, by exact
version (bench/peers/package.json), into a folder of the build, where they stay. Figures go to standard
output as JSON lines, progress to standard error, and the table, in Markdown, to a file.

Set in the environment:
  BENCH_PEERS_SCALE    sizes in percent of a full pass (100; 1 with one round is a look of about two minutes)
  BENCH_PEERS_ROUNDS   rounds (3)
  BENCH_PEERS_SYSTEMS  which of abide-c, abide-flow, abide-node, abide-code, restate, restate-tuned, dbos, dbos-tuned (all)
  BENCH_PEERS_ONLY     which of chain, alone, event, fan, timers, crash, parked (all)
  BENCH_PEERS_OUT      where the table goes ($ABIDE_BUILD_DIR/bench-peers.md); between the marks of that file
  BENCH_PEERS_CACHE    where the packages are installed ($ABIDE_BUILD_DIR/bench-peers-packages)
"""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
os.environ["ABIDE_BUILD_DIR"] = str(pathlib.Path(os.environ.get("ABIDE_BUILD_DIR", HERE.parent / "build")).absolute())
BUILD = pathlib.Path(os.environ["ABIDE_BUILD_DIR"])
sys.path[:0] = [str(HERE / "peers"), str(HERE.parent / "test" / "servers")]
import figures  # noqa: E402
import workloads  # noqa: E402
from processes import PeerFailed, end_on_signals  # noqa: E402
from systems import SYSTEMS  # noqa: E402

DISK = "/var/tmp"  # where all data goes: a PostgreSQL of ours runs as another user, who may not enter the build
LIMITS = {"limit.fdatasync.p50": "one append and fdatasync, p50, ms",
          "limit.sqlite.rows_per_commit_100": "bare SQLite, 100 rows per commit, rows/s"}


def say(text):
    print(text, file=sys.stderr, flush=True)


def chosen(variable, known):
    """The names that a variable gives, or all there are."""
    names = os.environ.get(variable, "").replace(",", " ").split() or list(known)
    for name in names:
        if name not in known:
            sys.exit(f"{variable}: '{name}' is none of {', '.join(known)}")
    return names


def positive(variable, otherwise):
    text = os.environ.get(variable) or str(otherwise)
    if not text.isdecimal() or int(text) < 1:
        sys.exit(f"{variable}: '{text}' is no whole number above 0")
    return int(text)


def install(folder):
    """The packages by their lock file, and beside them the programs that import them."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ("package.json", "package-lock.json", ".npmrc")
    is_new = any(not (folder / name).exists() or (folder / name).read_bytes() != (HERE / "peers" / name).read_bytes()
                 for name in names) or not (folder / "node_modules").exists()
    if is_new:
        say("bench-peers: npm installs Restate and DBOS")
        for name in names:
            shutil.copy(HERE / "peers" / name, folder)
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            shutil.rmtree(folder / "node_modules", ignore_errors=True)
            sys.exit(f"bench-peers: npm could not install the packages of bench/peers:\n{done.stderr}")
    for name in ("driver.mjs", "dbos.mjs", "resolvers.mjs", "restate.mjs"):
        shutil.copy(HERE / "peers" / name, folder)
    return folder


def measure_machine():
    """The limits of the disk that all systems use, by bench-machine."""
    text = subprocess.run([BUILD / "bench" / "bench-machine"], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, env={**os.environ, "ABIDE_BUILD_DIR": DISK}).stdout
    return {figure["bench"]: figure["value"] for figure in map(json.loads, text.splitlines())}


class Pass:
    """All rounds of all systems."""

    def __init__(self, names, only, sizes, packages):
        self.names, self.only, self.sizes, self.packages = names, only, sizes, packages
        self.results = figures.Results()

    def note(self, name, found):
        for key, value in found.items():
            self.results.add(key, SYSTEMS[name].name, value)
            say(f"    {key:14} {figures.number(value)}")

    def fail(self, name, workload, missing, reason):
        say(f"    {workload}: {reason}")
        for key in missing:
            self.results.fail(key, SYSTEMS[name].name, str(reason).splitlines()[0])

    def measure(self, name, workload, function, system):
        try:
            self.note(name, function(system, self.sizes))
        except PeerFailed as failure:
            self.fail(name, workload, workloads.KEYS[workload], failure)
            return False
        return True

    def instance(self, name, work):
        """A fresh one: what the last one stored must not slow this one down."""
        folder = tempfile.mkdtemp(prefix="abide-peers-", dir=DISK)
        os.chmod(folder, 0o755)
        system = SYSTEMS[name](folder, self.packages)
        try:
            system.start()
            work(system)
        finally:
            try:
                system.stop()
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def shared(self, name, system):
        """A system that has failed one workload may be stuck in it: the rest is left out."""
        wanted = [workload for workload in workloads.SHARED if workload in self.only]
        for at, workload in enumerate(wanted):
            if not self.measure(name, workload, workloads.SHARED[workload], system):
                for other in wanted[at + 1:]:
                    self.fail(name, other, workloads.KEYS[other], f"not tried after {workload} failed")
                return

    def parked(self, name, system):
        found, reason = workloads.measure_parked(system, self.sizes)
        self.note(name, found)
        if reason:
            self.fail(name, "parked", [key for key in workloads.KEYS["parked"] if key not in found], reason)

    def one(self, name):
        parts = {"shared": lambda system: self.shared(name, system),
                 "crash": lambda system: self.measure(name, "crash", workloads.measure_crash, system),
                 "parked": lambda system: self.parked(name, system)}
        for part, work in parts.items():
            if not (set(workloads.SHARED) if part == "shared" else {part}) & set(self.only):
                continue
            try:
                self.instance(name, work)
            except PeerFailed as failure:
                keys = workloads.KEYS.get(part) or sum((workloads.KEYS[each] for each in workloads.SHARED), [])
                self.fail(name, part, keys, failure)

    def round(self, number):
        """Each round begins with another system, so that none always comes first."""
        at = number % len(self.names)
        for name in self.names[at:] + self.names[:at]:
            say(f"  {SYSTEMS[name].name}")
            self.one(name)


def markdown(done, machine, rounds):
    systems = [SYSTEMS[name] for name in done.names]
    ours = [system.name for system in systems if not system.is_peer]
    peers = [system.name for system in systems if system.is_peer]
    base = ours[-1] if ours else systems[0].name
    shown = [figure for figure in workloads.FIGURES
             if any(key == figure.key for key, _ in [*done.results.values, *done.results.failures])]
    lines = [f"Scale {done.sizes.percent} percent, {rounds} rounds: {done.sizes.text()}.",
             f"{os.cpu_count()} processors, {platform.system()} {platform.release()}. Medians of the rounds; ± is half "
             f"of the spread. In brackets: how many times better than {base} (below 1: worse).", "",
             figures.table(done.results, shown, [system.name for system in systems], base), "",
             "The machine by itself: " + "; ".join(f"{text}: {figures.number(machine[key])}"
                                                   for key, text in LIMITS.items()) + ".", ""]
    lines += [f"- {system.name}: {system.settings}." for system in systems]
    better = figures.better_than_us(done.results, shown, ours, peers)
    lines += ["", "Where the others are better:", "", *better] if better else []
    failed = [f"- {system}, {key}: {reason}" for (key, system), reason in done.results.failures.items()]
    lines += ["", "What did not end:", "", *failed] if failed else []
    return "\n".join(lines)


def report(done, machine):
    for key, value in machine.items():
        print(json.dumps({"bench": key, "value": value, "unit": "ms" if key.endswith("p50") else "rows/s"}))
    for figure in workloads.FIGURES:
        for name in done.names:
            value = done.results.median(figure.key, SYSTEMS[name].name)
            if value is not None:
                print(json.dumps({"bench": f"peers.{name}.{figure.key}", "value": round(value, 3), "unit": figure.unit,
                                  "spread": round(done.results.spread(figure.key, SYSTEMS[name].name), 3)}))


def main():
    end_on_signals()
    names = chosen("BENCH_PEERS_SYSTEMS", SYSTEMS)
    only = chosen("BENCH_PEERS_ONLY", workloads.KEYS)
    sizes = workloads.Sizes(positive("BENCH_PEERS_SCALE", 100))
    rounds = positive("BENCH_PEERS_ROUNDS", 3)
    out = pathlib.Path(os.environ.get("BENCH_PEERS_OUT") or BUILD / "bench-peers.md")
    cache = pathlib.Path(os.environ.get("BENCH_PEERS_CACHE") or BUILD / "bench-peers-packages").absolute()
    packages = install(cache) if any(SYSTEMS[name].is_peer for name in names) else None
    done = Pass(names, only, sizes, packages)
    for number in range(rounds):
        say(f"round {number + 1} of {rounds}")
        done.round(number)
    machine = measure_machine()
    report(done, machine)
    text = markdown(done, machine, rounds)
    out.write_text(figures.place(out.read_text("utf-8") if out.exists() else "", text), "utf-8")
    say(f"\n{text}\n\nwritten to {out}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt as reason:
        sys.exit(f"bench-peers: interrupted {reason}".rstrip())
