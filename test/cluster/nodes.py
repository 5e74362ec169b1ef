"""A cluster: real `abide serve` processes on one store, each with a port that it keeps when it is started again."""
import os
import random
import re
import signal
import socket
import subprocess
import time

START_SECONDS = 60
DAMAGE = ("STORE_CORRUPT", "STORE_INDEX_CORRUPT", "STORE_ROW_MISSING", "STORE_CONFLICT")


def free_port():
    """Not one that the system hands out to those who connect: it must stay free while its node is down."""
    while True:
        port = random.randrange(12000, 32000)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            continue


class Node:
    def __init__(self, number, program, store, folder, arguments=()):
        self.number = number
        self.program = program
        self.store = store
        self.port = free_port()
        self.arguments = list(arguments)
        self.log_path = os.path.join(folder, "node%d.log" % number)
        self.process = None
        self.is_stopped = False
        self.ends = []  # exit statuses that nobody asked for
        self.failed_starts = 0  # because the store was away: whoever starts servers does it again

    def start(self, is_waited_for=True):
        """Does nothing when it is up: two faults may both have meant to end with this."""
        if self.is_up:
            return
        with open(self.log_path, "ab") as log:
            self.log_start = log.tell()
            # setpriv: nothing survives a test that is killed.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self.program, "serve", "--store", self.store,
                 "--listen", "127.0.0.1:%d" % self.port, *self.arguments],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if is_waited_for:
            self.wait_ready()

    def log_text(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def said(self):
        """Since it was started last."""
        with open(self.log_path, "rb") as log:
            log.seek(self.log_start)
            return log.read().decode("utf-8", "replace")

    @staticmethod
    def is_ready(said):
        return re.search(r"listening on https?://", said) is not None

    def wait_ready(self):
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.is_ready(self.said()):
                return
            if self.process.poll() is not None:
                raise RuntimeError("node %d ended with %d:\n%s" % (self.number, self.process.returncode,
                                                                   self.said()[-4000:]))
            time.sleep(0.02)
        raise RuntimeError("node %d does not come up" % self.number)

    @property
    def is_up(self):
        return self.process is not None and self.process.poll() is None

    def note_end(self):
        """A node that ended by itself is a finding; True when it has."""
        if self.process is None or self.process.poll() is None:
            return False
        said = self.said()
        if self.process.returncode == 1 and not self.is_ready(said) and "STORE_" in said:
            self.failed_starts += 1
        else:
            self.ends.append(self.process.returncode)
        self.process = None
        self.is_stopped = False
        return True

    def kill(self):
        if self.note_end() or self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process = None
        self.is_stopped = False

    def terminate(self, seconds=60):
        """In order; an end other than that is a finding."""
        if self.note_end() or self.process is None:
            return
        self.process.terminate()
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        has_begun = self.is_ready(self.said())
        if status != 0 and (has_begun or status != -signal.SIGTERM):
            self.ends.append(status)
        self.process = None

    def freeze(self):
        if self.is_up:
            self.process.send_signal(signal.SIGSTOP)
            self.is_stopped = True

    def thaw(self):
        if self.is_up:
            self.process.send_signal(signal.SIGCONT)
        self.is_stopped = False

    def complaints(self):
        """What must not stand in a log."""
        return [line for line in self.log_text().splitlines()
                if "Sanitizer" in line or "runtime error:" in line or "assertion" in line.lower()
                or any(code in line for code in DAMAGE)]
