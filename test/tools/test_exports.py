"""The libraries hand out the public functions, all of them, and nothing else."""

import os
import subprocess
import unittest

import tap

BUILD = os.environ["ABIDE_BUILD_DIR"]


def symbols(*arguments):
    text = subprocess.check_output(["nm", "--defined-only", "--format=posix", *arguments], text=True,
                                   stderr=subprocess.DEVNULL)
    rows = [line.split() for line in text.splitlines()]
    return {row[0] for row in rows if len(row) >= 2 and row[1] in "TDBRVW"}


class ExportsTest(unittest.TestCase):
    def setUp(self):
        self.shared = symbols("-D", os.path.join(BUILD, "libabide.so"))

    def test_shared_library_exports_only_public_names(self):
        self.assertEqual([name for name in self.shared if not name.startswith("abide_")], [])

    def test_shared_library_exports_every_public_function_of_the_archive(self):
        archive = symbols(os.path.join(BUILD, "libabide.a"))
        public = {name for name in archive if name.startswith("abide_")}
        self.assertEqual(public, self.shared)


if __name__ == "__main__":
    tap.main()
