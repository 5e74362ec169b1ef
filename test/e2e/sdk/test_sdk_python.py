"""The library for Python; the tests are in cases.py."""
import ast
import glob
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "sdk", "python"))
import tap  # noqa: E402
from api_cases import ApiTest  # noqa: E402
from cases import PATIENCE, SOURCE, Probe, SdkTest  # noqa: E402


class PythonTest(SdkTest, ApiTest, unittest.TestCase):
    def command(self, *arguments):
        return [sys.executable, os.path.join(SOURCE, "test", "e2e", "sdk", "probe.py"), *arguments]

    def file_command(self, path):
        return [sys.executable, path]

    readme = os.path.join(SOURCE, "sdk", "python", "README.md")
    names = ("worker.py", "client.py", "operate.py")
    option_name = staticmethod(lambda text: text)
    result_line = "{'receipt': 'r-7-1', 'by': 'Ada'}"

    def test_the_library_is_python_3_9(self):
        folder = os.path.join(SOURCE, "sdk", "python", "abide")
        for path in glob.glob(os.path.join(folder, "**", "*.py"), recursive=True):
            with open(path, encoding="utf-8") as file:
                ast.parse(file.read(), path, feature_version=(3, 9))

    def worker_program(self, logging_lines):
        """A worker whose program has these lines about logging; does one task that fails, and stops."""
        path = os.path.join(self.folder, "quiet.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import logging, sys, threading\nfrom abide import Worker\n%s\n"
                       "worker = Worker()\n"
                       "@worker.task\n"
                       "def unlucky(value):\n"
                       "    worker.stop()\n"
                       "    raise RuntimeError('no luck')\n"
                       "worker.run()\n"
                       "tree = logging.getLogger('abide')\n"
                       "print('tree', tree.handlers, tree.level, tree.propagate, file=sys.stderr)\n"
                       % logging_lines)
        self.task("unlucky")
        probe = Probe(self.file_command(path), self.url)
        self.addCleanup(probe.close)
        self.assertEqual(probe.ended(), 0)
        self.assertIn("tree [] 0 True\n", probe.complaints)
        return [line for line in probe.complaints if not line.startswith("tree")]

    def test_logging_that_is_configured_is_left_alone(self):
        lines = self.worker_program("logging.basicConfig(level=logging.WARNING, format='MINE %(levelname)s %(name)s "
                                    "%(task_name)s')")
        self.assertEqual(lines[0], "MINE ERROR abide unlucky\n")
        self.assertEqual(len([line for line in lines if "MINE" in line or "ERROR" in line]), 1, lines)
        self.assertEqual(lines[-1], "RuntimeError: no luck\n")

    def test_logging_that_is_switched_off_stays_off(self):
        lines = self.worker_program("logging.disable(logging.CRITICAL)")
        self.assertEqual(lines, [])

    def test_mypy_has_nothing_to_say(self):
        found = subprocess.run(
            ["mypy", "--strict", "--python-version", "3.9", "--cache-dir", os.path.join(self.folder, "mypy"),
             os.path.join(SOURCE, "sdk", "python", "abide")], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((found.returncode, found.stderr), (0, ""), found.stdout)


if __name__ == "__main__":
    tap.main()
