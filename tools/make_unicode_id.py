#!/usr/bin/env python3
"""Writes src/flow/lexer/unicode_id_table.h: which characters identifiers are made of.

ID_Start and what ID_Continue adds to it, as ranges above ASCII, each packed into 32 bits:
first character << 11 | number of characters after it. Longer ranges are split.
Run it again when Python's Unicode version grows: tools/make_unicode_id.py > src/flow/...
"""
import unicodedata

OTHER_START = {0x1885, 0x1886, 0x2118, 0x212E, 0x309B, 0x309C}
OTHER_CONTINUE = {0x00B7, 0x0387, 0x19DA, 0x30FB, 0xFF65, 0x200C, 0x200D} | set(range(0x1369, 0x1372))
NOT_START = {0x2E2F}  # Pattern_Syntax


def is_start(c):
    category = unicodedata.category(chr(c))
    return c not in NOT_START and (
        category in ("Lu", "Ll", "Lt", "Lm", "Lo", "Nl") or c in OTHER_START
    )


def is_continue_only(c):
    category = unicodedata.category(chr(c))
    return not is_start(c) and (category in ("Mn", "Mc", "Nd", "Pc") or c in OTHER_CONTINUE)


def ranges(test):
    first = None
    for c in range(0x80, 0x110001):
        inside = c < 0x110000 and test(c)
        if inside and first is None:
            first = c
        if first is not None and (not inside or c - first == 2047):
            last = c if inside else c - 1
            yield first, last
            first = None


def table(name, test):
    words = ["0x%08X" % (first << 11 | (last - first)) for first, last in ranges(test)]
    print("static const uint32_t %s[] = {" % name)
    for i in range(0, len(words), 8):
        print("    " + ", ".join(words[i : i + 8]) + ",")
    print("};\n")


print("// Made by tools/make_unicode_id.py from Unicode %s; do not edit." % unicodedata.unidata_version)
print("// Each entry: first character << 11 | number of characters after it.")
print("#pragma once\n#include <stdint.h>\n")
table("id_start_ranges", is_start)
table("id_continue_ranges", is_continue_only)
