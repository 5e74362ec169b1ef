"""Lets a unittest file report each of its tests to tools/test.

Ends a test script with

    if __name__ == "__main__":
        tap.main()

so that it prints TAP, the protocol tools/test counts, instead of unittest's own summary.

Whoever has more to say about a failure (a server's log) adds a function that answers lines of text to
`witnesses`; they are heard after each failure.
"""

import sys
import time
import traceback
import unittest

WITNESS_LINES_MAX = 60

witnesses = []


class TapResult(unittest.TestResult):
    def __init__(self, total):
        super().__init__()
        self.number = 0
        self.started = time.monotonic()  # a fixture that fails is reported without a start
        self.failed_subtests = []
        print("1..%d" % total, flush=True)

    def point(self, verdict, test, note=""):
        self.number += 1
        print("%s %d - %s%s # %.2f s" % (verdict, self.number, test.id().replace("__main__.", ""),
                                         note, time.monotonic() - self.started), flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.started = time.monotonic()

    def explain(self, error):
        for line in "".join(traceback.format_exception(*error)).splitlines():
            print("# " + line, flush=True)
        for witness in witnesses:
            lines = witness()
            left_out = len(lines) - WITNESS_LINES_MAX
            if left_out > 0:
                lines = [lines[0], "[%d lines left out]" % left_out, *lines[1 - WITNESS_LINES_MAX:]]
            for line in lines:
                print("#   " + line, flush=True)

    def addSuccess(self, test):
        # unittest reports success even if a subtest failed before.
        if not any(failed is test for failed in self.failed_subtests):
            self.point("ok", test)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            if not any(failed is test for failed in self.failed_subtests):
                self.failed_subtests.append(test)
                self.point("not ok", test)
            print("# in " + subtest.id())
            self.explain(error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.point("not ok", test)
        self.explain(error)

    def addError(self, test, error):
        super().addError(test, error)
        self.point("not ok", test)
        self.explain(error)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.point("ok", test, " # SKIP " + reason)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    if len(sys.argv) > 1:
        suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:], sys.modules["__main__"])
    result = TapResult(suite.countTestCases())
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
