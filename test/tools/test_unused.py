"""Every function and table of the products is used by another file of them.

One that only its own file uses is static. One that nobody uses, or tests alone, goes; those that are
there for tests and tools by design are named below, each with its reason.
"""

import os
import re
import subprocess
import unittest

import tap

BUILD = os.environ["ABIDE_BUILD_DIR"]
SOURCE = os.environ["ABIDE_SOURCE_DIR"]

ALLOWED = {
    "fault_store_new": "the decorator that tests let fail",
    "fault_store_call_count": "the decorator that tests let fail",
    "fault_store_is_crashed": "the decorator that tests let fail",
    "trace_store_new": "the decorator that tests listen with",
    "timezone_parse": "the seam at which tests hand in damaged zone files",
    "flow_ast_print": "how golden tests see what was parsed",
    "flow_disassemble_routine": "how golden tests see what was compiled",
    "flow_verify_routine": "the seam at which tests hand in damaged code",
    "flow_unicode_has_property": "tests compare the tables with those of the standard",
    "flow_intrinsic_is_typed": "tests compare the table with the functions",
    "flow_object_put_cstr": "how tests of the machine make objects",
    "flow_vm_park": "how tests of the machine stop it between two steps",
    "read_kind_name": "tests hold the table to the kinds",
    "store_load_run": "the question about one run, of which the engine asks many at a time",
    "awaits_forget": "tests take an await back without the coordinator",
    "sqlite_rows": "the seam at which tests read rows without the kernel",
    "redis_pieces": "tests look at how batches are cut",
}


def objects():
    """The object files of the products: the layers, the modules and the mains."""
    for folder, folders, names in os.walk(BUILD):
        if folder == BUILD:
            folders[:] = [name for name in folders if name == "src" or name.endswith(".p")]
        yield from (os.path.join(folder, name) for name in names if name.endswith(".o"))


def read_symbols():
    """Names with the objects that define them, and with those that ask for them."""
    defined, wanted = {}, {}
    text = subprocess.check_output(["nm", "-A", "-g", *sorted(objects())], text=True,
                                   stderr=subprocess.DEVNULL)
    for line in text.splitlines():
        row = re.match(r"(.*\.o):[0-9a-f ]* (\w) (\w+)$", line)
        if row and row.group(2) in "TDBRVW":
            defined.setdefault(row.group(3), set()).add(row.group(1))
        elif row and row.group(2) == "U":
            wanted.setdefault(row.group(3), set()).add(row.group(1))
    return defined, wanted


class UnusedTest(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(SOURCE, "include/abide.h"), encoding="utf-8") as file:
            self.public = set(re.findall(r"\b(abide_\w+)\s*\(", file.read())) | {"main"}
        self.defined, self.wanted = read_symbols()

    def unused(self):
        return {name for name, places in self.defined.items()
                if name not in self.public and not name.startswith(("__", "abide_store_module"))
                and not self.wanted.get(name, set()) - places}

    def test_there_is_something_to_look_at(self):
        self.assertGreater(len(self.defined), 1000)
        self.assertIn("driver_request", self.defined)

    def test_nothing_is_unused(self):
        found = ["%s (%s)" % (name, os.path.basename(min(self.defined[name])))
                 for name in sorted(self.unused() - set(ALLOWED))]
        self.assertEqual(found, [], "make it static, remove it, or say in ALLOWED why it is there")

    def test_every_exception_is_needed(self):
        self.assertEqual(sorted(set(ALLOWED) - self.unused()), [])


if __name__ == "__main__":
    tap.main()
