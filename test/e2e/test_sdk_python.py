"""The library for Python; the tests are in sdk/cases.py."""
import ast
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "sdk"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cases import SOURCE, SdkTest  # noqa: E402


class PythonTest(SdkTest, unittest.TestCase):
    def command(self, *arguments):
        return [sys.executable, os.path.join(SOURCE, "test", "e2e", "sdk", "probe.py"), *arguments]

    def file_command(self, path):
        return [sys.executable, path]

    readme = os.path.join(SOURCE, "sdk", "python", "README.md")
    names = ("worker.py", "client.py")
    result_line = "{'receipt': 'r-7-1', 'by': 'Ada'}"

    def test_the_library_is_python_3_9(self):
        folder = os.path.join(SOURCE, "sdk", "python", "abide")
        for name in sorted(os.listdir(folder)):
            if name.endswith(".py"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    ast.parse(file.read(), name, feature_version=(3, 9))


if __name__ == "__main__":
    tap.main()
