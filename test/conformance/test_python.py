"""The conformance suite on the library for Python."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "conformance"))
import suite  # noqa: E402
import tap  # noqa: E402


class Python(suite.Suite, unittest.TestCase):
    pending = dict.fromkeys(("rewind_takes_a_step_again", "rewind_goes_back_to_a_round_of_a_loop"),
                            "the server does not forget at a rewind who has the run in memory")
    pending |= dict.fromkeys(("race_of_a_long_step_and_a_timer_is_won_by_the_timer",
                              "race_of_a_long_step_and_a_signal_is_won_by_the_signal"),
                             "the library asks for what comes only when no step is executed")
    command = suite.program("worker_python.py")


suite.fill(Python)

if __name__ == "__main__":
    tap.main()
