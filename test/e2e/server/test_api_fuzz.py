"""The API fuzzer on a fixed set of seeds; `make fuzz-api` goes on with others until interrupted."""
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import api_fuzz  # noqa: E402
import tap  # noqa: E402

SCALE = int(os.environ.get("ABIDE_TEST_SCALE", "100"))


class ApiFuzz(unittest.TestCase):
    """Each seed is a server of its own. With several threads requests meet each other."""

    def fuzz(self, seed, threads):
        counts = api_fuzz.fuzz(seed, 400 * SCALE // 100, threads)
        good = sum(count for name, count in counts.items() if int(name.split()[1]) < 400)
        self.assertGreater(good, sum(counts.values()) // 5)  # it does not only bounce off
        self.assertGreater(len(counts), 20)                  # and comes around

    def test_seed_1_alone(self):
        self.fuzz(1, 1)

    def test_seed_2_alone(self):
        self.fuzz(2, 1)

    def test_seed_3_with_four_threads(self):
        self.fuzz(3, 4)

    def test_seed_4_with_eight_threads(self):
        self.fuzz(4, 8)


if __name__ == "__main__":
    tap.main()
