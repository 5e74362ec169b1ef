"""The dashboard's TypeScript has no error, its build falls back to the plain page, and its files are all known."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from typescript import compiler  # noqa: E402

UI = os.path.join(SOURCE, "ui")
PLAIN = os.path.join(SOURCE, "src", "server", "routes", "page", "plain.html")
PACKAGES = os.path.join(BUILD, "src", "server", "dashboard", "node_modules")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class DashboardSources(unittest.TestCase):
    def test_the_compiler_finds_nothing(self):
        lit = os.path.join(PACKAGES, "lit-html")
        self.assertTrue(os.path.isdir(lit), "the build has no dashboard; see the output of make")
        with tempfile.TemporaryDirectory() as folder:
            config = os.path.join(folder, "tsconfig.json")
            with open(config, "w", encoding="utf-8") as file:
                json.dump({"extends": os.path.join(UI, "tsconfig.json"), "include": [UI + "/src/**/*.ts"],
                           "compilerOptions": {"paths": {"lit-html": [lit + "/lit-html.d.ts"],
                                                         "lit-html/*": [lit + "/*"]}}}, file)
            done = subprocess.run(["node", os.path.join(compiler(), "node_modules", "typescript", "bin", "tsc"),
                                   "--noEmit", "-p", config], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_every_file_is_known_to_the_build(self):
        known = text_of(os.path.join(UI, "meson.build"))
        for path in glob.glob(os.path.join(UI, "src", "*")):
            self.assertIn("'src/%s'" % os.path.basename(path), known)

    def test_no_package_names_a_host(self):
        for folder in (UI, os.path.join(SOURCE, "test", "browser"), os.path.join(SOURCE, "bench", "peers")):
            lock = json.loads(text_of(os.path.join(folder, "package-lock.json")))
            for name, package in lock["packages"].items():
                self.assertNotIn("resolved", package, name)
                self.assertTrue(name == "" or package["integrity"].startswith("sha512-"), name)
            self.assertIn("omit-lockfile-registry-resolved=true", text_of(os.path.join(folder, ".npmrc")))
            for exact in json.loads(text_of(os.path.join(folder, "package.json")))["dependencies"].values():
                self.assertRegex(exact, r"^[0-9.]+$")

    def test_a_build_without_npm_has_the_plain_page_and_says_so(self):
        tool = os.path.join(SOURCE, "tools", "dashboard")
        with tempfile.TemporaryDirectory() as folder:
            output = os.path.join(folder, "page.html")
            os.mkdir(os.path.join(folder, "bin"))
            os.symlink(sys.executable, os.path.join(folder, "bin", "python3"))
            bare = {"PATH": os.path.join(folder, "bin")}
            done = subprocess.run([sys.executable, tool, PLAIN, output, UI, "auto"], env=bare, capture_output=True,
                                  text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("npm is not installed", done.stdout)
            self.assertEqual(text_of(output), text_of(PLAIN))
            done = subprocess.run([sys.executable, tool, PLAIN, output, UI, "enabled"], env=bare,
                                  capture_output=True, text=True, timeout=60)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("-Ddashboard=enabled", done.stderr)


if __name__ == "__main__":
    tap.main()
