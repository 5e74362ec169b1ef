"""What the products are hardened with, read out of them: whatever the compiler is, and whatever its
own defaults are."""
import json
import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
PROGRAMS = ["abide", "abide-sim"]
PRODUCTS = PROGRAMS + ["libabide.so", "abide-postgres.so", "abide-redis.so"]


def readelf(product, *options):
    done = subprocess.run(["readelf", "-W", *options, os.path.join(BUILD, product)],
                          capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def build_options():
    with open(os.path.join(BUILD, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as file:
        return {option["name"]: option["value"] for option in json.load(file)}


def is_ours(entry):
    """Whether it compiles a file of src/, wherever the build is."""
    path = os.path.join(entry["directory"], entry["file"])
    return os.path.realpath(path).startswith(os.path.realpath(os.path.join(SOURCE, "src")) + os.sep)


class HardeningTest(unittest.TestCase):
    def each(self):
        for product in PRODUCTS:
            with self.subTest(product=product):
                yield product

    def test_the_address_of_a_program_is_not_fixed(self):
        for product in self.each():
            self.assertRegex(readelf(product, "-h"), r"Type: +DYN ")
        for program in PROGRAMS:
            self.assertRegex(readelf(program, "-d"), r"\(FLAGS_1\).*\bPIE\b")

    def test_what_the_linker_fills_in_is_read_only_afterwards(self):
        for product in self.each():
            self.assertIn("GNU_RELRO", readelf(product, "-l"))
            dynamic = readelf(product, "-d")
            self.assertRegex(dynamic, r"BIND_NOW|\(FLAGS_1\).*\bNOW\b")
            self.assertNotIn("TEXTREL", dynamic)

    def test_nothing_is_both_writable_and_executable(self):
        for product in self.each():
            segments = re.findall(r"(?m)^  (LOAD|GNU_STACK) .* ([R ][W ][E ]) +0x\w+$",
                                  readelf(product, "-l"))
            self.assertIn("GNU_STACK", [kind for kind, _ in segments])
            for kind, flags in segments:
                self.assertFalse("W" in flags and "E" in flags, (kind, flags))

    def test_overruns_are_noticed(self):
        optimized = build_options()["optimization"] in ("2", "3", "s")
        for product in self.each():
            wanted = set(re.findall(r"UND (\w+)", readelf(product, "--dyn-syms")))
            self.assertIn("__stack_chk_fail", wanted)
            if optimized:  # -D_FORTIFY_SOURCE
                self.assertTrue([name for name in wanted if re.fullmatch(r"__\w+_chk", name)
                                 and name != "__stack_chk_fail"], wanted)

    @unittest.skipUnless(os.uname().machine == "x86_64", "marks of other machines differ")
    def test_functions_begin_with_the_mark_for_indirect_calls(self):
        # The note in the file says it only if the C library's own objects say it too: so the code.
        library = os.path.join(BUILD, "libabide.so")
        symbols = re.findall(r"(?m)^ +\d+: (\w+) +\d+ FUNC +GLOBAL +DEFAULT +\d+ (abide_\w+)",
                             readelf("libabide.so", "--dyn-syms"))
        self.assertGreater(len(symbols), 50)
        with open(library, "rb") as file:
            image = file.read()
        text = [[int(number, 16) for number in found] for found in re.findall(
            r"(?m)^  LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R E", readelf("libabide.so", "-l"))]
        for address, name in symbols:
            place = [int(address, 16) - at + offset for offset, at, size in text
                     if at <= int(address, 16) < at + size]
            self.assertEqual(image[place[0]:place[0] + 4], b"\xf3\x0f\x1e\xfa", name)  # endbr64

    def test_every_file_is_compiled_with_the_flags_that_leave_no_trace(self):
        with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
            commands = [entry for entry in json.load(file) if is_ours(entry)]
        self.assertGreater(len(commands), 200)
        for entry in commands:
            words = entry["command"].split()
            for flag in ("-fstack-protector-strong", "-fstack-clash-protection"):
                self.assertIn(flag, words, entry["file"])


if __name__ == "__main__":
    tap.main()
