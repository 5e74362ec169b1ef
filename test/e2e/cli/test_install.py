"""What `make install` puts where, into a folder of its own; and that it works from there: the program
with its modules, and the library as pkg-config describes it."""
import ctypes
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
import guide  # noqa: E402
import server  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from servers.redis import Redis  # noqa: E402

WITHOUT_SERVERS = "-Dpostgres=disabled -Dredis=disabled"


def run(*words, check=True, **more):
    done = subprocess.run(words, capture_output=True, text=True, timeout=240, **more)
    if check and done.returncode != 0:
        raise AssertionError("%s: %s%s" % (words, done.stdout, done.stderr))
    return done


def introspect(what, build=BUILD):
    """As `meson introspect` says it, which reads the same file."""
    with open(os.path.join(build, "meson-info", "intro-%s.json" % what), encoding="utf-8") as file:
        return json.load(file)


def options(build=BUILD):
    return {option["name"]: option["value"] for option in introspect("buildoptions", build)}


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("name", ctypes.c_char * 48),
                ("message", ctypes.c_char * 464)]


class InstalledTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.destination = os.path.join(cls.temporary.name, "destination")
        cls.install(cls.destination)
        cls.option = options()
        cls.prefix = cls.destination + cls.option["prefix"]
        cls.library = os.path.join(cls.prefix, cls.option["libdir"])
        cls.abide = os.path.join(cls.prefix, cls.option["bindir"], "abide")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @staticmethod
    def install(destination):  # as the Makefile does, without building anything
        run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet",
            env={**os.environ, "DESTDIR": destination})

    def files(self, root):
        return {os.path.relpath(os.path.join(folder, name), root)
                for folder, _, names in os.walk(root) for name in names}

    def test_everything_is_there_and_nothing_is_elsewhere(self):
        found = self.files(self.prefix)
        self.assertEqual({os.path.join(self.prefix, name) for name in found},
                         {os.path.join(self.destination, name)
                          for name in self.files(self.destination)})
        libdir = self.option["libdir"]
        for name in ("bin/abide", "include/abide.h", "lib/systemd/system/abide.service",
                     "lib/systemd/system/abide.socket", "share/man/man1/abide.1",
                     "share/man/man1/abide-wf.1", "share/man/man3/abide.3",
                     "share/man/man3/abide_open.3", "share/abide/abide.d.ts",
                     "share/bash-completion/completions/abide", "share/fish/vendor_completions.d/abide.fish",
                     "share/zsh/site-functions/_abide", libdir + "/libabide.a",
                     libdir + "/libabide.so", libdir + "/libabide.so.0",
                     libdir + "/abide/abide-postgres.so", libdir + "/abide/abide-redis.so",
                     libdir + "/pkgconfig/abide.pc"):
            self.assertIn(name, found)

    def test_the_unit_starts_the_program_that_is_installed(self):
        with open(os.path.join(self.prefix, "lib/systemd/system/abide.service"),
                  encoding="utf-8") as file:
            command = re.search(r"(?m)^ExecStart=(\S+) serve ", file.read()).group(1)
        self.assertEqual(command, self.option["prefix"] + "/bin/abide")

    def serve_and_run(self, url, module):
        """A run on a server of the installed program, whose module is the one beside it."""
        before, server.ABIDE = server.ABIDE, self.abide
        try:
            node = server.Server(store=url)
        finally:
            server.ABIDE = before
        try:
            with open("/proc/%d/maps" % node.process.pid, encoding="utf-8") as file:
                mapped = set(re.findall(r"/\S*/abide-\w+\.so", file.read()))
            self.assertEqual(mapped, {os.path.join(os.path.realpath(self.library), "abide", module)})
            answer = run(self.abide, "wf", "ls", "--server", "http://127.0.0.1:%d" % node.port)
            self.assertEqual(answer.stderr, "")
        finally:
            node.close()

    def test_the_program_opens_postgres_with_its_module(self):
        with Postgres() as database:
            self.serve_and_run(database.url, "abide-postgres.so")

    def test_the_program_opens_redis_with_its_module(self):
        with Redis() as database:
            self.serve_and_run(database.url, "abide-redis.so")

    def test_the_library_finds_its_modules_when_it_was_itself_loaded_by_name(self):
        # As other languages do it: nothing of it is visible to what it loads. Nobody is at that port.
        library = ctypes.CDLL(glob.glob(self.library + "/libabide.so.*.*")[0])
        for url in (b"postgres://127.0.0.1:1/none?connect_timeout=2", b"redis://127.0.0.1:1/0"):
            engine, error = ctypes.c_void_p(), Error()
            library.abide_open(url, None, ctypes.byref(engine), ctypes.byref(error))
            self.assertEqual(error.name, b"STORE_IO", error.message)
            self.assertRegex(error.message, rb"^(PostgreSQL|Redis): ")

    def test_the_program_knows_the_variable_for_modules(self):
        done = run(self.abide, "config", "check", env={**os.environ, "ABIDE_MODULE_PATH": "/nonexistent"})
        self.assertNotIn("ABIDE_MODULE_PATH", done.stderr)

    def compile(self, folder, code, library, kind):
        """Builds and runs a program by the command that docs/install.md has for it. What differs is
        where things are: they were not installed where they say they are."""
        with open(os.path.join(SOURCE, "docs", "install.md"), encoding="utf-8") as file:
            shared, static = re.findall(r"(?m)^cc .*pkg-config.*$", file.read())
        with open(os.path.join(folder, "program.c"), "w", encoding="utf-8") as file:
            file.write(code)
        with open(os.path.join(folder, "pkg-config"), "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o755)
            file.write("#!/bin/sh\nexec '%s' --define-variable='prefix=%s' "
                       "--define-variable='libdir=%s' \"$@\"\n"
                       % (shutil.which("pkg-config"), self.prefix, library))
        environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"],
                       "PKG_CONFIG_PATH": os.path.join(library, "pkgconfig"),
                       "LD_LIBRARY_PATH": library}
        run("sh", "-c", static if kind == "static" else shared, cwd=folder, env=environment)
        return run("./program", cwd=folder, check=False, env=environment)

    def programs(self):
        """Every program of the documentation: its text, what it prints, and a folder for it."""
        found = [block for page in ("README.md", "docs/guide-c.md") for block in guide.blocks(page)
                 if block.kind == "program"]
        self.assertGreaterEqual(len(found), 4)
        for block in found:
            with self.subTest(block.mark), tempfile.TemporaryDirectory() as folder:
                yield block.body, block.after.body, folder

    def test_examples_are_linked_with_the_shared_library(self):
        for code, expected, folder in self.programs():
            done = self.compile(folder, code, self.library, "shared")
            self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)
            needed = run("readelf", "-d", os.path.join(folder, "program")).stdout
            self.assertEqual(set(re.findall(r"NEEDED.*\[(\w+)", needed)), {"libabide", "libc"})

    def test_examples_are_linked_with_the_static_library(self):
        with tempfile.TemporaryDirectory() as library:  # one that has no other
            shutil.copy(os.path.join(self.library, "libabide.a"), library)
            shutil.copytree(os.path.join(self.library, "pkgconfig"),
                            os.path.join(library, "pkgconfig"))
            for code, expected, folder in self.programs():
                done = self.compile(folder, code, library, "static")
                self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)
                needed = run("readelf", "-d", os.path.join(folder, "program")).stdout
                self.assertNotIn("libabide", needed)

    def test_the_description_of_the_library_asks_for_no_server(self):
        with open(os.path.join(self.library, "pkgconfig", "abide.pc"), encoding="utf-8") as file:
            text = file.read()
        self.assertNotRegex(text, "pq|redis|curl|gnutls|microhttpd")
        self.assertNotRegex(text, r"(?m)^Requires:")
        self.assertEqual(re.search(r"(?m)^Libs: (.*)$", text).group(1), "-L${libdir} -labide")

    def test_what_was_installed_can_be_taken_back(self):
        folder = os.path.join(self.temporary.name, "again")
        self.install(folder)
        self.assertTrue(self.files(folder))
        run("ninja", "-C", BUILD, "uninstall")
        self.assertEqual(self.files(folder), set())


class ConfiguredTest(unittest.TestCase):
    """Other prefixes, and a machine without the client libraries of servers."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.build = os.path.join(temporary.name, "build")
        self.packages = os.path.join(temporary.name, "packages")
        os.mkdir(self.packages)
        paths = run("pkg-config", "--variable", "pc_path", "pkg-config").stdout.strip()
        for path in (name for folder in paths.split(":") for name in glob.glob(folder + "/*.pc")):
            name = os.path.basename(path)
            if name not in ("libpq.pc", "hiredis.pc") and not os.path.exists(
                    os.path.join(self.packages, name)):
                os.symlink(path, os.path.join(self.packages, name))

    def configure(self, **more):
        return run(os.path.join(SOURCE, "tools", "configure"), self.build, "-Dbench=false",
                   check=False, env={**os.environ, "PKG_CONFIG_LIBDIR": self.packages, **more})

    def test_without_libpq_and_hiredis_the_options_must_say_so(self):
        done = self.configure(OPTIONS="")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("libpq", done.stdout)
        done = self.configure(OPTIONS=WITHOUT_SERVERS, PREFIX="/opt/abide")
        self.assertEqual(done.returncode, 0, done.stdout)
        names = {target["name"] for target in introspect("targets", self.build)}
        self.assertIn("abide", names)
        self.assertFalse({"abide-postgres", "abide-redis"} & names)
        for place in introspect("installed", self.build).values():
            self.assertTrue(place.startswith("/opt/abide/"), place)
        with open(os.path.join(self.build, "packaging", "abide.service"),
                  encoding="utf-8") as file:
            self.assertIn("\nExecStart=/opt/abide/bin/abide serve", file.read())

    def test_every_option_is_documented_with_its_default(self):
        with open(os.path.join(SOURCE, "docs", "install.md"), encoding="utf-8") as file:
            documented = dict(re.findall(r"(?m)^\| `-D(\w+)` \| .* \| `(\w+)` \| ", file.read()))
        with open(os.path.join(SOURCE, "meson_options.txt"), encoding="utf-8") as file:
            declared = dict(re.findall(r"option\('(\w+)', type: '\w+', value: '?(\w+)'?",
                                       file.read()))
        self.assertEqual(documented, declared)

    def test_a_source_that_is_missing_fails_the_build(self):
        # meson does that by itself, unless a build file looks first.
        files = [os.path.join(folder, "meson.build") for folder, folders, names in os.walk(SOURCE)
                 if "meson.build" in names and "/build" not in folder[len(SOURCE):]]
        self.assertGreater(len(files), 15)
        for path in files:
            with open(path, encoding="utf-8") as file:
                self.assertNotIn("fs.exists", file.read(), path)

    def test_make_hands_prefix_and_destination_on(self):
        said = run("make", "-n", "-C", SOURCE, "install", "BUILD=" + self.build).stdout
        self.assertIn("meson install -C %s" % self.build, said)
        with open(os.path.join(SOURCE, "Makefile"), encoding="utf-8") as file:
            exported = re.search(r"(?m)^export (.*)$", file.read()).group(1).split()
        self.assertLessEqual({"PREFIX", "DESTDIR", "OPTIONS"}, set(exported))


if __name__ == "__main__":
    tap.main()
