"""The wheel and the sdist of the Python library: built, and installed into empty environments, offline."""
import os
import subprocess
import sys
import tarfile
import tempfile
import unittest
import venv
import zipfile

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from server import PATIENCE  # noqa: E402

HOME = os.path.join(SOURCE, "sdk", "python")
PROGRAM = """
import importlib.metadata
import os
from abide import Context, workflow
from abide.testing import Environment

@workflow
async def order(ctx: Context, input: int) -> int:
    await ctx.sleep("24h")
    return await ctx.step("add", lambda: input + 1)

with Environment(order, binary=os.environ["ABIDE_BIN"]) as env:
    run = env.start(order, 41)
    env.advance("24h")
    print(run.result())
about = importlib.metadata.distribution("abide")
print(about.version, about.requires)
"""


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.dist = os.path.join(cls.folder.name, "dist")
        os.mkdir(cls.dist)
        build = "import build_backend as b, sys; print(b.build_wheel(sys.argv[1]), b.build_sdist(sys.argv[1]))"
        answer = subprocess.run([sys.executable, "-B", "-c", build, cls.dist], cwd=HOME, check=True,
                                capture_output=True, text=True, timeout=PATIENCE)
        home = os.path.join(cls.folder.name, "pip-env")
        venv.create(home, with_pip=True)
        cls.pip = [os.path.join(home, "bin", "python"), "-m", "pip", "--disable-pip-version-check"]
        cls.wheel, cls.sdist = (os.path.join(cls.dist, name) for name in answer.stdout.split())

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def modules(self):
        return {os.path.relpath(os.path.join(folder, name), HOME)
                for folder, _, names in os.walk(os.path.join(HOME, "abide"))
                for name in names if name.endswith((".py", ".typed"))}

    def test_both_have_every_module(self):
        with zipfile.ZipFile(self.wheel) as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual({name for name in archive.namelist() if name.startswith("abide/")}, self.modules())
        with tarfile.open(self.sdist) as archive:
            names = {name.partition("/")[2] for name in archive.getnames()}
        self.assertEqual(names - self.modules(), {"PKG-INFO", "README.md", "build_backend.py", "pyproject.toml"})

    def install_and_use(self, package):
        home = os.path.join(self.folder.name, os.path.basename(package) + "-env")
        venv.create(home)
        python = os.path.join(home, "bin", "python")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["ABIDE_BIN"] = os.path.join(os.environ["ABIDE_BUILD_DIR"], "abide")
        subprocess.run([*self.pip, "--python", python, "install", "--no-index", "--quiet", package], check=True,
                       env=environment, timeout=PATIENCE)
        program = os.path.join(home, "program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        done = subprocess.run([python, program], cwd=home, env=environment, capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertEqual(done.stdout, "42\n0.1.0 None\n", done.stderr)

    def test_the_wheel_is_installed_into_an_empty_environment(self):
        self.install_and_use(self.wheel)

    def test_the_sdist_is_built_and_installed_into_an_empty_environment(self):
        self.install_and_use(self.sdist)


if __name__ == "__main__":
    tap.main()
