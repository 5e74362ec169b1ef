"""Packages of npm that tests need, by name and exact version: a folder with package.json and package-lock.json.

They are installed into the build directory the first time, and again when the files change.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess

from server import PATIENCE

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
FILES = ("package.json", "package-lock.json")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def installed(name):
    """The folder in which the packages of test/NAME are installed."""
    source, folder = os.path.join(SOURCE, "test", name), os.path.join(BUILD, name)
    wanted = hashlib.sha256("".join(read(os.path.join(source, file)) for file in FILES).encode()).hexdigest()
    stamp = os.path.join(folder, "installed")
    if os.path.exists(stamp) and read(stamp) == wanted:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for file in FILES:
        shutil.copy(os.path.join(source, file), folder)
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=folder,
                          capture_output=True, text=True, timeout=PATIENCE * 3)
    if done.returncode != 0:
        raise AssertionError(f"npm could not install the packages of test/{name}:\n{done.stderr}")
    with open(stamp, "w", encoding="ascii") as file:
        file.write(wanted)
    return folder


def complaints(name):
    """What is wrong with the files of test/NAME: versions that are not exact, hosts, missing checksums."""
    folder = os.path.join(SOURCE, "test", name)
    wanted = json.loads(read(os.path.join(folder, "package.json")))["devDependencies"]
    lock = read(os.path.join(folder, "package-lock.json"))
    locked = json.loads(lock)["packages"]
    found = [f"{package} {version}" for package, version in wanted.items()
             if not re.fullmatch(r"\d+\.\d+\.\d+", version) or
             locked["node_modules/" + package]["version"] != version]
    found += ["a host is named"] if "://" in lock else []
    return found + [package for package in locked
                    if package and not locked[package]["integrity"].startswith("sha512-")]
