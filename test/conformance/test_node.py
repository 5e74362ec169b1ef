"""The conformance suite on the library for Node."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "conformance"))
import suite  # noqa: E402
import tap  # noqa: E402


class Node(suite.Suite, unittest.TestCase):
    pending = dict.fromkeys(("rewind_takes_a_step_again", "rewind_goes_back_to_a_round_of_a_loop"),
                            "the server does not forget at a rewind who has the run in memory")
    pending |= dict.fromkeys(("race_of_a_long_step_and_a_timer_is_won_by_the_timer",
                              "race_of_a_long_step_and_a_signal_is_won_by_the_signal"),
                             "the library asks for what comes only when no step is executed")
    pending["a_request_that_is_too_large_fails_the_run"] = "the library tries the request again"
    pending["answers_lost"] = "the server takes the entries of a commit again that it has taken"
    pending["another_signal_is_noticed"] = "the library does not compare the name of a signal"
    command = suite.program("worker_node.mjs")


suite.fill(Node)

if __name__ == "__main__":
    tap.main()
