"""The conformance suite on the worker program that the variable WORKER names: make conformance WORKER='…'."""

import os
import shlex
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "conformance"))
import suite  # noqa: E402
import tap  # noqa: E402


class Worker(suite.Suite, unittest.TestCase):
    command = shlex.split(os.environ["WORKER"])


suite.fill(Worker)

if __name__ == "__main__":
    tap.main()
