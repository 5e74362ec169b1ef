"""Every error code the sources use is in docs/errors.md, and the other way round."""
import os
import re
import sys
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

LAYERS = ("base", "json", "model", "store", "engine", "api", "tasks")
CALL = re.compile(r"(?:diag_set|kernel_refuse|api_refuse|refuse|native_refuse|native_fail)"
                  r"\(((?:[^;\"]|\"(?:[^\"\\]|\\.)*\")*?)\"([A-Z][A-Z0-9_]+)\"", re.S)


def used_codes():
    codes = set()
    for layer in LAYERS:
        for folder, _, names in os.walk(os.path.join(SOURCE, "src", layer)):
            for name in names:
                if name.endswith(".c"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        codes.update(match.group(2) for match in CALL.finditer(file.read()))
    return codes


def documented_codes():
    with open(os.path.join(SOURCE, "docs", "errors.md"), encoding="utf-8") as file:
        return set(re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)`", file.read()))


class ErrorCodes(unittest.TestCase):
    def test_every_code_in_use_is_documented(self):
        self.assertEqual(sorted(used_codes() - documented_codes()), [])

    def test_the_search_finds_codes_at_all(self):
        self.assertGreater(len(used_codes()), 100)


if __name__ == "__main__":
    tap.main()
