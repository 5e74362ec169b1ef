"""The TypeScript compiler of the tests, in the version that test/types/package.json names."""
import hashlib
import os
import shutil
import subprocess

from server import PATIENCE

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def compiler():
    """The folder of the compiler; installs it where it is not, or is another version."""
    folder = os.path.join(BUILD, "types")
    wanted = hashlib.sha256()
    for name in ("package.json", "package-lock.json"):
        with open(os.path.join(SOURCE, "test", "types", name), "rb") as file:
            wanted.update(file.read())
    stamp = os.path.join(folder, "installed")
    if os.path.exists(stamp) and text_of(stamp) == wanted.hexdigest():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(SOURCE, "test", "types", name), folder)
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder,
                          capture_output=True, text=True, timeout=PATIENCE * 3)
    if done.returncode != 0:
        raise AssertionError("npm could not install the packages of test/types:\n" + done.stderr)
    with open(stamp, "w", encoding="ascii") as file:
        file.write(wanted.hexdigest())
    return folder
