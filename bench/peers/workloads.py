"""The seven workloads of bench/peers.py: what each system is asked, and which figures come of it.

Sizes are those of a full pass at a scale of 100 percent; no size falls below what still measures anything.
"""
import time

from figures import Figure
from processes import PeerFailed, disk_of, memory_of

FIGURES = [
    Figure("chain", "10-step chains, all callers busy", "durable steps/s", is_rate=True),
    Figure("run1", "one run of 1 step, p50", "ms"),
    Figure("run10", "one run of 10 steps, p50", "ms"),
    Figure("event", "event → completed, p50", "ms"),
    Figure("ram_small", "waiting runs, few: memory each", "bytes"),
    Figure("disk_small", "waiting runs, few: disk each", "bytes"),
    Figure("ram_large", "waiting runs, many: memory each", "bytes"),
    Figure("disk_large", "waiting runs, many: disk each", "bytes"),
    Figure("timers", "timers at one moment: the last is late by", "ms"),
    Figure("fan", "fan-out of 100 and join, p50", "ms"),
    Figure("resume_first", "kill -9 → first run goes on", "ms"),
    Figure("resume_all", "kill -9 → all runs go on", "ms"),
]

LOOPS = 20
WARM_UP = 3


class Sizes:
    def __init__(self, percent):
        def scaled(full, least):
            return max(least, full * percent // 100)

        self.percent = percent
        self.chains = scaled(5000, 20)
        self.rounds = scaled(200, 5)
        self.fans = scaled(50, 3)
        self.few, self.many = scaled(10000, 50), scaled(100000, 200)
        self.timers = scaled(10000, 50)
        self.lead_ms = max(2000, 20000 * percent // 100)
        self.limit_s = max(60, 300 * percent // 100)  # for one workload; then it has failed

    def text(self):
        return (f"{self.chains:,} chains per level of concurrency, {self.rounds} runs alone, {self.few:,} and "
                f"{self.many:,} waiting runs, {self.timers:,} timers, {self.fans} fan-outs, {LOOPS} runs at the kill")


def measure_chain(system, sizes):
    """The best of the levels of concurrency, each measured by itself."""
    rates = []
    for callers in system.callers:
        seconds = system.ask("chain", sizes.chains, callers or sizes.chains, seconds=sizes.limit_s)["seconds"]
        rates.append(sizes.chains * 10 / seconds)
    return {"chain": max(rates)}


def measure_alone(system, sizes):
    return {"run1": system.ask("one", 1, sizes.rounds, seconds=sizes.limit_s)["p50"],
            "run10": system.ask("one", 10, sizes.rounds, seconds=sizes.limit_s)["p50"]}


def measure_event(system, sizes):
    return {"event": system.ask("event", sizes.rounds, seconds=sizes.limit_s)["p50"]}


def measure_fan(system, sizes):
    return {"fan": system.ask("fan", 100, sizes.fans, seconds=sizes.limit_s)["p50"]}


def measure_timers(system, sizes):
    """The moment must be after the last start; when it was not, it is put off."""
    lead_ms = sizes.lead_ms
    for _ in range(3):
        answer = system.ask("timers", sizes.timers, lead_ms, seconds=sizes.limit_s + lead_ms / 1000)
        if answer["started_late"] == 0:
            return {"timers": answer["last_late"]}
        lead_ms *= 3
    raise PeerFailed(f"timers: {answer['started_late']} runs began after the moment, {lead_ms // 3} ms ahead")


def measure_crash(system, sizes):
    """Runs that execute steps without a pause; everything is killed, and started again at once."""
    system.ask("loop", LOOPS, seconds=sizes.limit_s)
    system.kill()
    killed_ms = time.time() * 1000
    system.start()
    answer = system.ask("resumed", LOOPS, 60, seconds=90)
    if not answer["first"]:
        raise PeerFailed("crash: no run went on within 60 s")
    found = {"resume_first": answer["first"] - killed_ms}
    if answer["all"] is not None:
        found["resume_all"] = answer["all"] - killed_ms
    return found


def measure_parked(system, sizes):
    """What one more waiting run costs, against the same processes before there was any."""
    system.ask("one", 1, WARM_UP, seconds=sizes.limit_s)
    memory, disk = memory_of(system.processes()), disk_of(system.data)
    found = {}
    for name, total in (("small", sizes.few), ("large", sizes.many)):
        answer = system.ask("park", total, sizes.limit_s, seconds=2 * sizes.limit_s)
        if answer["waiting"] < total:
            return found, f"park: only {answer['waiting']} of {total} runs waited after {sizes.limit_s} s"
        found[f"ram_{name}"] = (memory_of(system.processes()) - memory) / total
        found[f"disk_{name}"] = (disk_of(system.data) - disk) / total
    return found, None


# Those before the last two share one instance; a kill and many waiting runs have one each.
SHARED = {"chain": measure_chain, "alone": measure_alone, "event": measure_event, "fan": measure_fan,
          "timers": measure_timers}
KEYS = {"chain": ["chain"], "alone": ["run1", "run10"], "event": ["event"], "fan": ["fan"], "timers": ["timers"],
        "crash": ["resume_first", "resume_all"],
        "parked": ["ram_small", "disk_small", "ram_large", "disk_large"]}
