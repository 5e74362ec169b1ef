"""Builds the wheel and the sdist (PEP 517), with the standard library and nothing else.

The package is pure Python: a wheel is a zip of it with its metadata, an sdist a tar of this folder. Both
are the same bytes whenever they are built from the same files.
"""
import base64
import gzip
import hashlib
import io
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
_EPOCH = (2020, 1, 1, 0, 0, 0)
_SOURCES = ("README.md", "build_backend.py", "pyproject.toml")


def _project():
    """Of pyproject.toml: what of [project] is a text. Python 3.9 has no parser for TOML."""
    with open(os.path.join(HERE, "pyproject.toml"), encoding="utf-8") as file:
        section = file.read().split("[project]")[1].split("\n[")[0]
    return dict(re.findall(r'^([\w-]+) = "(.*)"$', section, re.M))


def _metadata(project):
    with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
        guide = file.read()
    lines = ["Metadata-Version: 2.1", "Name: " + project["name"], "Version: " + project["version"],
             "Summary: " + project["description"], "License: Apache-2.0",
             "Requires-Python: " + project["requires-python"],
             "Classifier: Programming Language :: Python :: 3", "Classifier: Typing :: Typed",
             "Description-Content-Type: text/markdown", "", guide]
    return "\n".join(lines)


def _package():
    """Paths of the files of the package, in order."""
    found = []
    for folder, folders, names in os.walk(os.path.join(HERE, "abide")):
        folders[:] = [name for name in folders if name != "__pycache__"]
        found += [os.path.relpath(os.path.join(folder, name), HERE) for name in names
                  if name.endswith((".py", ".typed"))]
    return sorted(found)


def _read(path):
    with open(os.path.join(HERE, path), "rb") as file:
        return file.read()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = _project()
    stem = "%s-%s" % (project["name"], project["version"])
    files = {path.replace(os.sep, "/"): _read(path) for path in _package()}
    files[stem + ".dist-info/METADATA"] = _metadata(project).encode("utf-8")
    files[stem + ".dist-info/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: abide\n"
                                        b"Root-Is-Purelib: true\nTag: py3-none-any\n")
    record = stem + ".dist-info/RECORD"
    lines = ["%s,sha256=%s,%d" % (
        name, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(),
        len(data)) for name, data in files.items()]
    files[record] = ("\n".join(lines + [record + ",,"]) + "\n").encode()
    wheel = stem + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name, _EPOCH)
            info.external_attr = 0o644 << 16
            archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    project = _project()
    stem = "%s-%s" % (project["name"], project["version"])
    files = {path.replace(os.sep, "/"): _read(path) for path in (*_package(), *_SOURCES)}
    files["PKG-INFO"] = _metadata(project).encode("utf-8")
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo("%s/%s" % (stem, name))
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    sdist = stem + ".tar.gz"
    with open(os.path.join(sdist_directory, sdist), "wb") as file:
        file.write(gzip.compress(plain.getvalue(), mtime=0))
    return sdist
