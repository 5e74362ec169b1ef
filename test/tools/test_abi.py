"""Programs that were compiled with an older abide.h go on working; and everything says the same
version. The rule is at the head of abide.h and in docs/guide-c.md."""

import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

LOADER = importlib.machinery.SourceFileLoader("abi", os.path.join(SOURCE, "tools", "abi"))
abi = importlib.util.module_from_spec(importlib.util.spec_from_loader("abi", LOADER))
LOADER.exec_module(abi)

HEADER = os.path.join(SOURCE, "include", "abide.h")


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def breaks(record, lines, is_released):
    """What a program that was compiled as `record` says would not find in `lines`.

    Before the first release a struct may grow at its end; after it, structs stay as they are."""
    now = {tuple(line.split(" ")[:2]): line for line in lines}
    for line in record:
        kind, name = line.split(" ")[:2]
        found = now.get((kind, name))
        grows = kind == "struct" and found and int(found.split()[2]) > int(line.split()[2])
        if found != line and (is_released or not grows):
            yield "%s: is now: %s" % (line, found)


class CompatibilityTest(unittest.TestCase):
    def record(self):
        with open(abi.record_path(), encoding="utf-8") as file:
            return file.read().splitlines()

    def changed(self, old, new):
        """The record of a header in which `old` is `new`, whatever columns its comments begin in."""
        text = re.sub(r" +/\*", " /*", read("include", "abide.h"))
        self.assertEqual(text.count(old), 1, old)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "abide.h")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text.replace(old, new))
            return abi.present(path)

    @unittest.skipUnless(sys.maxsize > 2**32, "the record is of 64 bit machines")
    def test_the_header_keeps_what_is_recorded(self):
        is_released = re.search(r"(?m)^## \d", read("CHANGELOG.md")) is not None
        found = list(breaks(self.record(), abi.present(), is_released))
        advice = ("programs that are compiled already would break. Add a struct and a function whose "
                  "names end in _v2" if is_released else
                  "nothing is released yet: append to structs, or run tools/abi --write")
        self.assertEqual(found, [], advice)

    def test_a_release_is_recorded_in_full(self):
        if re.search(r"(?m)^## \d", read("CHANGELOG.md")):
            self.assertEqual(self.record(), abi.present(), "run tools/abi --write")

    def test_a_member_in_the_middle_is_noticed(self):
        lines = self.changed("const char *id; /* yours;",
                             "const char *new;\n    const char *id; /* yours;")
        found = list(breaks(abi.present(), lines, False))
        self.assertIn("abide_start_options.id", found[0])

    def test_a_member_at_the_end_is_noticed_once_there_was_a_release(self):
        lines = self.changed("} abide_emit_options;", "    int is_new;\n} abide_emit_options;")
        self.assertEqual(list(breaks(abi.present(), lines, False)), [])
        self.assertIn("abide_emit_options", list(breaks(abi.present(), lines, True))[0])

    def test_other_constants_and_arguments_are_noticed(self):
        lines = self.changed("ABIDE_TIMEOUT = 2,", "ABIDE_TIMEOUT = 20,")
        self.assertIn("ABIDE_TIMEOUT", list(breaks(abi.present(), lines, False))[0])
        lines = self.changed("abide_free(void *memory);", "abide_free(void *memory, int how);")
        self.assertIn("abide_free", list(breaks(abi.present(), lines, False))[0])

    def test_every_exported_function_and_struct_is_looked_at(self):
        text = subprocess.check_output(["nm", "-D", "--defined-only", "--format=posix",
                                        os.path.join(BUILD, "libabide.so")], text=True)
        exported = {line.split()[0] for line in text.splitlines()}
        lines = [line.split(" ") for line in abi.present()]
        self.assertEqual({line[1] for line in lines if line[0] == "function"}, exported)
        structs = set(re.findall(r"(?m)^typedef struct (\w+) \{", read("include", "abide.h")))
        self.assertEqual({line[1] for line in lines if line[0] == "struct"}, structs)
        self.assertGreater(len(structs), 20)


class VersionTest(unittest.TestCase):
    def test_header_build_and_binaries_say_the_same(self):
        version = re.search(r"(?m)^  version: '(.*)',$", read("meson.build")).group(1)
        program = r"""
            #include <abide.h>
            #include <stdio.h>
            #if ABIDE_VERSION_NUMBER < ABIDE_VERSION_OF(0, 1, 0)
            #error "numbers can be compared by the preprocessor"
            #endif
            int main(void) {
                printf("%s\n%d.%d.%d\n%d\n%s\n", ABIDE_VERSION, ABIDE_VERSION_MAJOR,
                       ABIDE_VERSION_MINOR, ABIDE_VERSION_PATCH, ABIDE_VERSION_NUMBER,
                       abide_version());
                return 0;
            }
        """
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "version.c"), "w", encoding="utf-8") as file:
                file.write(program)
            subprocess.run(["cc", "-I", os.path.join(SOURCE, "include"), "version.c", "-o",
                            "version", "-L", BUILD, "-labide", "-Wl,-rpath," + BUILD],
                           cwd=folder, check=True, timeout=120)
            text, parts, number, library = subprocess.run(
                ["./version"], cwd=folder, capture_output=True, text=True, check=True,
                timeout=60).stdout.splitlines()
        self.assertEqual((text, parts, library), (version, version, version))
        major, minor, patch = (int(part) for part in version.split("."))
        self.assertEqual(int(number), major * 1000000 + minor * 1000 + patch)
        said = subprocess.check_output([os.path.join(BUILD, "abide"), "version"], text=True)
        self.assertEqual(said.split()[1], version)
        self.assertTrue(os.path.exists(os.path.join(BUILD, "libabide.so." + version)))


if __name__ == "__main__":
    tap.main()
