"""The library for Node; the tests are in sdk/cases.py."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "sdk"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from cases import PATIENCE, SOURCE, SdkTest  # noqa: E402


class NodeTest(SdkTest, unittest.TestCase):
    def prepare(self):
        os.mkdir(os.path.join(self.folder, "node_modules"))
        os.symlink(os.path.join(SOURCE, "sdk", "node"),
                   os.path.join(self.folder, "node_modules", "abide"))
        shutil.copy(os.path.join(SOURCE, "test", "e2e", "sdk", "probe.mjs"), self.folder)

    def command(self, *arguments):
        return ["node", os.path.join(self.folder, "probe.mjs"), *arguments]

    def file_command(self, path):
        return ["node", path]

    readme = os.path.join(SOURCE, "sdk", "node", "README.md")
    names = ("worker.mjs", "client.mjs")
    result_line = "{ receipt: 'r-7-1', by: 'Ada' }"

    def test_the_types_name_what_the_library_exports(self):
        with open(os.path.join(SOURCE, "sdk", "node", "src", "index.d.ts"), encoding="utf-8") as file:
            declared = set(re.findall(r"^export class (\w+)", file.read(), re.M))
        program = "import * as abide from 'abide'; console.log(JSON.stringify(Object.keys(abide)))"
        done = subprocess.run(["node", "--input-type=module", "-e", program], cwd=self.folder,
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.assertEqual(declared, set(json.loads(done.stdout)))


if __name__ == "__main__":
    tap.main()
