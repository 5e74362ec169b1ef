"""What make bench-peers is made of: its figures and its table, and our own side of it at a tiny size.

The packages of the other systems are large and not needed here.
"""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
for folder in ("test", "test/e2e/support", "test/servers", "bench", "bench/peers"):
    sys.path.insert(0, os.path.join(SOURCE, folder))
import figures  # noqa: E402
import growth  # noqa: E402
import peers  # noqa: E402
import processes  # noqa: E402
import systems  # noqa: E402
import tap  # noqa: E402
import workloads  # noqa: E402
from server import wait_until  # noqa: E402

RATE = figures.Figure("rate", "steps", "steps/s", is_rate=True)
TIME = figures.Figure("time", "one run", "ms")


def results(**values):
    made = figures.Results()
    for name, rounds in values.items():
        key, system = name.split("_")
        for value in rounds:
            made.add(key, system, value)
    return made


class Figures(unittest.TestCase):
    def test_the_median_of_three_rounds_is_the_middle_one(self):
        self.assertEqual(results(rate_us=[30, 10, 20]).median("rate", "us"), 20)

    def test_the_spread_is_a_part_of_the_median(self):
        self.assertEqual(results(rate_us=[30, 10, 20]).spread("rate", "us"), 1.0)
        self.assertEqual(results(rate_us=[20]).spread("rate", "us"), 0.0)

    def test_above_one_the_other_is_better_whatever_is_measured(self):
        self.assertEqual(figures.ratio(RATE, 10, 20), 2)
        self.assertEqual(figures.ratio(TIME, 10, 20), 0.5)
        self.assertIsNone(figures.ratio(TIME, 10, None))
        self.assertIsNone(figures.ratio(RATE, 0, 10))

    def test_a_row_has_the_value_the_spread_and_the_ratio(self):
        made = results(rate_us=[1000, 2000, 3000], rate_peer=[500])
        self.assertEqual(figures.table(made, [RATE], ["us", "peer"], "us").splitlines()[2],
                         "| steps, steps/s | 2,000 ±50 % | 500 ±0 % (0.25×) |")

    def test_what_failed_and_what_was_not_measured_are_told_apart(self):
        made = results(rate_us=[1])
        made.fail("rate", "peer", "too slow")
        line = figures.table(made, [RATE], ["us", "peer", "other"], "us").splitlines()[2]
        self.assertEqual(line, "| steps, steps/s | 1.00 ±0 % | failed | – |")

    def test_a_peer_is_named_only_where_it_beats_the_best_of_ours(self):
        made = results(rate_a=[10], rate_b=[30], rate_peer=[20], time_a=[5], time_b=[4], time_peer=[2])
        self.assertEqual(figures.better_than_us(made, [RATE, TIME], ["a", "b"], ["peer"]),
                         ["- peer is better than the best of ours at “one run”: 2.00×."])

    def test_the_table_goes_between_the_marks_and_nowhere_else(self):
        text = f"before\n{figures.BEGIN}\nold\n{figures.END}\nafter\n"
        self.assertEqual(figures.place(text, r"new \1"), text.replace("old", r"new \1"))
        self.assertEqual(figures.place("a file of something else", "new"), "new\n")

    def test_the_documentation_has_a_place_for_the_table(self):
        with open(os.path.join(SOURCE, "docs", "benchmarks.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertLess(text.index(figures.BEGIN), text.index(figures.END))

    def test_every_figure_belongs_to_one_workload(self):
        keys = [key for group in workloads.KEYS.values() for key in group]
        self.assertEqual(sorted(keys), sorted(figure.key for figure in workloads.FIGURES))


class Processes(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def driver(self, script):
        return processes.Driver(["bash", "-c", script], os.path.join(self.folder, "log"))

    def test_what_a_library_prints_is_no_answer(self):
        driver = self.driver("echo noise; echo '@{}'; read line; echo more; echo '@{\"got\":1}'; read line")
        self.addCleanup(driver.close)
        self.assertEqual(driver.ask("work", 1), {"got": 1})

    def test_a_program_that_ends_says_why(self):
        with self.assertRaisesRegex(processes.PeerFailed, "start: ended with 3\nno luck"):
            self.driver("echo no luck >&2; exit 3")

    def test_no_answer_in_time_is_a_failure(self):
        driver = self.driver("echo '@{}'; read line; read line")
        self.addCleanup(driver.close)
        with self.assertRaisesRegex(processes.PeerFailed, "work: no answer in"):
            driver.ask("work", seconds=0.01)

    def test_memory_counts_what_a_process_has_started(self):
        driver = self.driver("sleep 1000 & echo '@{}'; read line; kill $!")
        self.addCleanup(driver.close)
        self.assertEqual(len(processes.descendants([driver.process.pid])), 2)
        self.assertGreater(processes.memory_of([driver.process.pid]), 0)

    def test_disk_is_that_of_all_files_below(self):
        os.mkdir(os.path.join(self.folder, "inner"))
        with open(os.path.join(self.folder, "inner", "file"), "wb") as file:
            file.write(os.urandom(10000))
            file.flush()
            os.fsync(file.fileno())
        self.assertGreaterEqual(processes.disk_of(self.folder), 10000)


class Growth(unittest.TestCase):
    def test_only_costs_that_grew_are_named(self):
        def figure(name, ratio, unit="us"):
            return {"bench": name, "unit": unit, "limit": 2.5, "ratio": ratio}

        found = growth.grown([figure("flat", 1.3), figure("dear", 1.31), figure("wait", 9, "ms"),
                              {"bench": "alone", "unit": "us"}])
        self.assertEqual(found, ["dear: 1.31 times 2.5 us"])

    def test_the_file_is_measured_at_each_size(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([os.path.join(BUILD, "bench", "growth-load"), "rows", f"{folder}/store.db", "50", "100"],
                                  capture_output=True, text=True, timeout=120, check=True,
                                  env={**os.environ, "BENCH_GROWTH_LOAD": "20"})
        for size in (50, 100):
            for name in ("step", "event", "timer", "purge_and_10_steps", "commit.p999", "disk_per_run"):
                self.assertIn(f'"growth.rows{size}.{name}"', done.stdout)

    def test_a_fan_out_through_a_worker_is_measured_at_each_width(self):
        with tempfile.TemporaryDirectory() as folder:
            found = growth.measure_worker(folder, widths=(5, 10), rounds=1)
        self.assertEqual([figure["bench"] for figure in found],
                         ["growth.worker5.each", "growth.worker5.longest_wait", "growth.worker10.each",
                          "growth.worker10.longest_wait"])


class OwnSide(unittest.TestCase):
    def test_every_workload_has_a_figure_of_each_of_ours(self):
        names = [name for name, system in systems.SYSTEMS.items() if not system.is_peer]
        done = peers.Pass(names, list(workloads.KEYS), workloads.Sizes(1), None)
        done.round(1)
        self.assertEqual(done.results.failures, {})
        for name in names:
            for figure in workloads.FIGURES:
                with self.subTest(system=name, figure=figure.key):
                    self.assertIsNotNone(done.results.median(figure.key, systems.SYSTEMS[name].name))
        text = peers.markdown(done, dict.fromkeys(peers.LIMITS, 1.0), 1)
        self.assertIn("| 10-step chains, all callers busy, durable steps/s |", text)

    def test_an_unknown_name_is_refused(self):
        done = subprocess.run([sys.executable, os.path.join(SOURCE, "bench", "peers.py")], capture_output=True,
                              text=True, timeout=60, env={**os.environ, "BENCH_PEERS_SYSTEMS": "abide-c temporal"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("BENCH_PEERS_SYSTEMS: 'temporal' is none of abide-c,", done.stderr)

    def test_an_interrupted_pass_leaves_nothing_behind(self):
        environment = {**os.environ, "BENCH_PEERS_SYSTEMS": "abide-node", "BENCH_PEERS_ONLY": "parked"}
        with subprocess.Popen([sys.executable, os.path.join(SOURCE, "bench", "peers.py")], text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment) as process:
            line = ""
            while "abide (Node worker)" not in line:  # its processes are being started
                line = process.stderr.readline()
            below = set()
            while len(below) < 3:  # itself, and those of the system
                below = processes.descendants([process.pid])
            process.send_signal(signal.SIGTERM)
            process.stderr.read()
        self.assertNotEqual(process.returncode, 0)
        # One that was being started has its end from the kernel, a moment after its parent has gone.
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in below), what=f"one of {below} is left")


if __name__ == "__main__":
    tap.main()
