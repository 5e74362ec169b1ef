"""What `abide dev` says about runs: starts, ends, failures with their place, waits, console lines."""
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from server import PATIENCE  # noqa: E402
from test_dev import ABIDE, Dev, write  # noqa: E402

ORDER = """
console.log("charging", Inputs.n)
if (Inputs.n === 13) throw new TypeError("unlucky\\nnumber")
if (Inputs.n === 14) await Signal.when("approval")
console.warn("careful\\nnow")
console.error("\\u001b[31mpainted")
return { n: Inputs.n, long: "x".repeat(1000) }
"""
CLOCK = r"^\d\d:\d\d:\d\d "


class DevLogTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def dev(self, *arguments):
        write(os.path.join(self.folder, "order.flow"), ORDER)
        dev = Dev(self.folder, *arguments)
        self.addCleanup(dev.close)
        return dev

    def start(self, dev, number, id):
        dev.post("/v1/runs", {"workflow": "order", "id": id, "input": {"n": number}})

    def test_a_run_from_start_to_end(self):
        dev = self.dev()
        self.start(dev, 1, "o-1")
        at = dev.line("order o-1: started")
        self.assertRegex(dev.lines[at], CLOCK + "order o-1: started$")
        dev.line("order o-1: log: charging 1", at)
        warned = dev.line("order o-1: warn: careful", at)
        self.assertEqual(dev.line("    now", warned), warned + 1)
        painted = dev.line("order o-1: error: ", at)
        self.assertNotIn("\x1b", dev.lines[painted])  # no script steers the terminal
        ended = dev.lines[dev.line("order o-1: completed in ", at)]
        self.assertRegex(ended, r'completed in [\d.]+m?s: \{"n":1,"long":"x+…$')
        self.assertLess(len(ended), 300)

    def test_a_failure_has_its_place_and_a_wait_says_for_what(self):
        dev = self.dev()
        self.start(dev, 13, "o-13")
        failed = dev.line("order o-13: failed after ")
        self.assertRegex(dev.lines[failed], r"failed after [\d.]+m?s: TypeError: unlucky$")
        dev.line("    at order.flow:3:", failed)
        self.assertEqual(dev.lines[failed + 1], "    number")
        self.assertRegex(dev.lines[failed + 2], r"^    at order.flow:3:\d+$")
        self.start(dev, 14, "o-14")
        waits = dev.line("order o-14: waits for signal approval")
        dev.post("/v1/runs/o-14/cancel", {"reason": "enough"})
        dev.line("order o-14: cancelled after", waits)

    def test_a_herd_does_not_flood_it(self):
        write(os.path.join(self.folder, "noisy.flow"),
              "for (let i = 0; i < 1000; i++) console.log('line', i)\nthrow new Error('at last')")
        dev = self.dev()
        for number in range(60):
            self.start(dev, 1, "h-%d" % number)
        dev.post("/v1/runs", {"workflow": "noisy", "id": "noisy"})
        # A failure has lines of its own, however many others there are.
        dev.line("noisy noisy: failed")

        def told():
            return sum(int(count) for count in re.findall(r"… and .*?(\d+) console lines",
                                                          "\n".join(dev.lines)))
        at = 0
        while told() < 800:  # all thousand come at once
            at = dev.line("… and ", at) + 1
        per_second = {}
        for line in dev.lines:
            match = re.match(r"(\d\d:\d\d:\d\d) order \S+: (started|completed|cancelled|waits)", line)
            if match:
                per_second[match.group(1)] = per_second.get(match.group(1), 0) + 1
        self.assertLessEqual(max(per_second.values()), 20)

    def test_quiet_says_nothing_of_runs(self):
        dev = self.dev("--quiet")
        self.start(dev, 13, "o-13")
        dev.wait_for("o-13", "failed")
        self.assertEqual(dev.stop(), 0)
        self.assertNotIn("o-13", "\n".join(dev.lines))
        self.assertIn("workflow order", "\n".join(dev.lines))

    def test_what_is_left_is_written_before_it_ends(self):
        dev = self.dev()
        self.start(dev, 1, "last")
        dev.wait_for("last", "completed")
        self.assertEqual(dev.stop(), 0)
        dev.reader.join(PATIENCE)
        dev.line("order last: completed")

    def test_colours_on_a_terminal(self):
        write(os.path.join(self.folder, "order.flow"), "throw new Error('x')")
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        parent, child = pty.openpty()
        self.addCleanup(os.close, parent)
        process = subprocess.Popen([ABIDE, "dev", self.folder, "--listen", "127.0.0.1:0", "--start",
                                    "order"], stdin=child, stdout=child, stderr=child,
                                   env=environment | {"TERM": "xterm"})
        os.close(child)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        output, deadline = b"", time.monotonic() + PATIENCE
        while b"\x1b[31mfailed" not in output:
            self.assertLess(time.monotonic(), deadline, output)
            if select.select([parent], [], [], 0.1)[0]:
                output += os.read(parent, 65536)
        process.send_signal(signal.SIGINT)

    def test_no_colours_elsewhere(self):
        dev = self.dev()
        self.start(dev, 13, "o-13")
        dev.line("    at order.flow:3:")
        self.assertNotIn("\x1b", "\n".join(dev.lines))


if __name__ == "__main__":
    tap.main()
