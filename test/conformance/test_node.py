"""The conformance suite on the library for Node."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "conformance"))
import suite  # noqa: E402
import tap  # noqa: E402


class Node(suite.Suite, unittest.TestCase):
    pending = {
        "a_request_that_is_too_large_fails_the_run": "the library tries the request again",
        "another_signal_is_noticed": "the library does not compare the name of a signal",
    }
    command = suite.program("worker_node.mjs")


suite.fill(Node)

if __name__ == "__main__":
    tap.main()
