"""The conformance suite on the library for Python."""

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "conformance"))
import suite  # noqa: E402
import tap  # noqa: E402


class Python(suite.Suite, unittest.TestCase):
    command = suite.program("worker_python.py")


suite.fill(Python)

if __name__ == "__main__":
    tap.main()
