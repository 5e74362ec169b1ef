"""The programs under examples/, and the header. Examples of the documentation: test_book.py."""
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402


class Examples(unittest.TestCase):
    def test_the_order_survives_kill_9_and_charges_once(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([os.path.join(BUILD, "examples", "order-approval"),
                                   os.path.join(folder, "orders.db")],
                                  capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count("[step charge"), 1)
        self.assertIn("1 run resumed", done.stdout)
        self.assertIn('ABIDE_OK {"charge":{"receipt":"R-1001"},"parcel":"parcel 7"}', done.stdout)

    def test_the_header_compiles_as_cpp(self):
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                        "-x", "c++", os.path.join(SOURCE, "include", "abide.h")],
                       check=True, timeout=60)


if __name__ == "__main__":
    tap.main()
