"""The conformance suite on the minimal worker, written from docs/protocol.md alone."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "conformance"))
import suite  # noqa: E402
import tap  # noqa: E402


class Minimal(suite.Suite, unittest.TestCase):
    command = suite.program("worker_minimal.py")


suite.fill(Minimal)

if __name__ == "__main__":
    tap.main()
