"""Each scenario of nemesis.py for a short while, all beside each other. `make chaos` takes its time."""
import json
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import tap  # noqa: E402
from nemesis import SCENARIOS  # noqa: E402

# Each kind of disturbance happens once at least, however short it is.
SECONDS = 20 * max(50, min(100, int(os.environ.get("ABIDE_TEST_SCALE", "100")))) // 100
SEED = 1


class ChaosTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        program = [sys.executable, os.path.join(HERE, "nemesis.py")]
        cls.processes = {
            name: subprocess.Popen([*program, name, "--seconds", str(SECONDS), "--seed", str(SEED)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for name in SCENARIOS}

    @classmethod
    def tearDownClass(cls):
        for process in cls.processes.values():
            process.kill()
            process.communicate()

    def check(self, name):
        out, err = self.processes[name].communicate()
        self.assertEqual(self.processes[name].returncode, 0, out + err)
        report = json.loads(out)
        self.assertEqual(report["findings"], [])
        # Something was done, and something was done to it.
        self.assertEqual(set(report["disturbances"]), set(SCENARIOS[name][1]))
        for kind in ("start", "signal", "emit", "claim", "complete"):
            self.assertGreater(report["operations"].get(kind, 0), 0, kind)
        self.assertGreater(report["operations"]["answer_lost"], 0)


for scenario in SCENARIOS:
    setattr(ChaosTest, "test_" + scenario.replace("-", "_"), lambda self, name=scenario: self.check(name))


if __name__ == "__main__":
    tap.main()
