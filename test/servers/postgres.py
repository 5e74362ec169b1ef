#!/usr/bin/env python3
"""A PostgreSQL of one's own for a test: real, private, gone afterwards.

As a program it runs a command beside a server and ends with the command's status:

    postgres.py COMMAND [ARGUMENT ...]

The command finds the server's address in ABIDE_TEST_POSTGRES. As a module:

    with Postgres() as server:
        ... server.url, server.restart(), server.kill() ...

The server speaks over a socket in its own temporary directory, so that any number of them run beside
each other. It never runs as root: PostgreSQL refuses to. When PostgreSQL is not installed this fails;
tests that need it are not skipped.
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from own import OwnServer  # noqa: E402

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "fsync": "off",  # a machine that loses power loses its tests too
    "max_wal_size": "256MB",
    "log_min_messages": "warning",
}


def find_program(name):
    """The newest one installed; Debian keeps them out of PATH."""
    found = glob.glob(f"/usr/lib/postgresql/*/bin/{name}")
    found.sort(key=lambda path: float(path.split("/")[4]))
    program = found[-1] if found else shutil.which(name)
    if program is None:
        sys.exit(f"postgres.py: there is no {name}; run tools/setup test (package postgresql)")
    return program


class Postgres(OwnServer):
    NAME = "postgres"
    USERS = ("postgres", "nobody")
    SETTINGS = SETTINGS
    DEATH_SIGNAL = "INT"
    LOOK_SECONDS = 0.05

    @property
    def data(self):
        return os.path.join(self.folder, "data")

    @property
    def url(self):
        return f"postgres:///postgres?host={self.folder}&user=abide"

    def make(self):
        """A cluster without data. Making one takes ten times as long as unpacking one: the first is kept."""
        build = os.environ.get("ABIDE_BUILD_DIR")
        kept = build and os.path.join(build, find_program("initdb").strip("/").replace("/", "-") + ".tar")
        if kept and os.path.exists(kept):
            with open(kept, "rb") as archive:
                subprocess.run(self.as_user(["tar", "-x"]), check=True, stdin=archive, cwd=self.folder)
            return
        subprocess.run(
            self.as_user([find_program("initdb"), "-D", self.data, "-U", "abide", "-A", "trust",
                          "-E", "UTF8", "--no-locale", "--no-sync"]),
            check=True, stdout=subprocess.DEVNULL, cwd=self.folder)
        if kept:  # several tests may be here at once: each writes a file of its own, whole ones only count
            with tempfile.NamedTemporaryFile(dir=build, delete=False) as archive:
                subprocess.run(self.as_user(["tar", "-c", "data"]), check=True, stdout=archive, cwd=self.folder)
            os.replace(archive.name, kept)

    def start(self):
        if not os.path.exists(self.data):
            self.make()
        arguments = [find_program("postgres"), "-D", self.data, "-k", self.folder]
        for key, value in self.settings.items():
            arguments += ["-c", f"{key}={value}"]
        return self.launch(arguments)

    def is_ready(self):
        probe = [find_program("pg_isready"), "-q", "-h", self.folder, "-U", "abide"]
        return subprocess.run(probe).returncode == 0

    def ask_to_stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait()

    def children(self):
        return subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True).stdout.split()

    def freeze(self, is_frozen=True):
        """A machine that stands still, or goes on: connections stay, and nothing answers."""
        for pid in [self.process.pid, *map(int, self.children())]:
            os.kill(pid, signal.SIGSTOP if is_frozen else signal.SIGCONT)

    def kill(self):
        """As a power failure, except that what was written stays: kill -9, children included."""
        children = self.children()
        self.process.kill()
        self.process.wait()
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
            except ProcessLookupError:
                pass
        for child in children:  # the shared memory is free once they are gone
            while os.path.exists(f"/proc/{child}") and not is_zombie(child):
                time.sleep(0.01)

    def query(self, sql):
        """Rows as lists of text."""
        answer = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-h", self.folder, "-U", "abide",
                                 "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", sql],
                                check=True, capture_output=True, text=True).stdout
        return [line.split("\t") for line in answer.splitlines()]


def is_zombie(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


if __name__ == "__main__":
    import beside
    beside.main(["postgres", *sys.argv[1:]])
