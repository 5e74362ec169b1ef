"""What is loaded with the library, with the program, and with each module: no more than is needed."""

import os
import re
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402

BUILD = os.environ["ABIDE_BUILD_DIR"]

C_LIBRARY = {"libc", "libm", "libdl", "libpthread", "librt", "ld-linux", "ld-linux-x86-64",
             "ld-linux-aarch64", "libgcc_s"}
LIBRARY = C_LIBRARY | {"libsqlite3", "libpcre2-8", "libpcre2-16", "libzstd"}
# Of clients for servers, and what comes with them.
HEAVY = {"libpq", "libhiredis", "libldap", "libldap-2", "libkrb5", "libgssapi_krb5", "libsasl2",
         "libcurl"}


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


def stem(name):
    return re.sub(r"[-.]?\d*(\.so.*)?$", "", name) if name.startswith("libldap") \
        else re.sub(r"\.so.*$", "", name)


def needed(product):
    """What the file itself asks for."""
    text = run("readelf", "-d", os.path.join(BUILD, product))
    return {stem(name) for name in re.findall(r"\(NEEDED\).*\[(.*)\]", text)}


def loaded(product):
    """What that comes to, with everything that those ask for."""
    text = run("ldd", os.path.join(BUILD, product))
    return {stem(os.path.basename(name)) for name in re.findall(r"(?m)^\s+(\S+)", text)}


def symbols(product, *options):
    text = run("nm", "--defined-only", "--format=posix", *options, os.path.join(BUILD, product))
    return {line.split()[0] for line in text.splitlines()}


class LinkageTest(unittest.TestCase):
    def test_the_library_needs_four_others(self):
        self.assertEqual(needed("libabide.so") - LIBRARY, set())

    def test_the_library_loads_no_client_of_a_server(self):
        self.assertEqual(loaded("libabide.so") & (HEAVY | {"libgnutls", "libmicrohttpd"}), set())

    def test_the_program_needs_its_server_besides(self):
        self.assertEqual(needed("abide") - LIBRARY, {"libmicrohttpd", "libgnutls"})
        self.assertEqual(loaded("abide") & HEAVY, set())

    def test_a_module_needs_the_client_of_its_server_and_nothing_of_ours(self):
        self.assertEqual(needed("abide-postgres.so") - C_LIBRARY, {"libpq"})
        self.assertEqual(needed("abide-redis.so") - C_LIBRARY, {"libhiredis"})
        for name in ("postgres", "redis"):
            wanted = run("nm", "-D", "--undefined-only", os.path.join(BUILD, "abide-%s.so" % name))
            ours = symbols("libabide.a")
            self.assertEqual({line.split()[-1].split("@")[0] for line in wanted.splitlines()}
                             & ours, set())

    def test_a_module_exports_its_description_alone(self):
        for name in ("postgres", "redis"):
            self.assertEqual(symbols("abide-%s.so" % name, "-D"), {"store_module_" + name})

    def test_nothing_of_the_kernel_is_in_a_module(self):
        for name in ("postgres", "redis"):
            inside = symbols("abide-%s.so" % name)
            self.assertIn("buf_printf", inside)  # else this test would see nothing
            strange = [symbol for symbol in inside
                       if re.match(r"kernel_|reads_|row_cache_|remote_rows_new|sqlite_|flow_|abide_",
                                   symbol)]
            self.assertEqual(strange, [])


if __name__ == "__main__":
    tap.main()
