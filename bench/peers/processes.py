"""Processes of a system under test: how they are started, asked, measured and ended.

Every process is a child of this one, is ended by its own id, and gets a signal from the kernel when this
one dies (setpriv --pdeathsig), so that nothing is left behind whatever happens.
"""
import json
import os
import select
import signal
import socket
import subprocess
import time


class PeerFailed(Exception):
    """A system did not do what it was asked; the figure is missing, and the reason is in the text."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def guarded(arguments):
    return ["setpriv", "--pdeathsig", "KILL", *map(str, arguments)]


def end(process, seconds=10):
    """Politely, then not."""
    if process is None or process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def kill(process):
    process.kill()
    process.wait()


class Driver:
    """A program that obeys commands, one per line, and answers each with a line that begins with @."""

    def __init__(self, arguments, log, environment=None, folder=None):
        self.log_path = log
        with open(log, "ab") as file:
            self.process = subprocess.Popen(
                guarded(arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, cwd=folder,
                env={**os.environ, **(environment or {})})
        self.rest = b""
        try:
            self.answer("start", 120)
        except BaseException:
            end(self.process)
            raise

    def failure(self, what, reason):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            tail = file.read()[-2000:]
        return PeerFailed(f"{what}: {reason}" + (f"\n{tail}" if tail.strip() else ""))

    def line(self, what, seconds):
        limit = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = limit - time.monotonic()
            if left <= 0:
                raise self.failure(what, f"no answer in {seconds:.0f} s")
            if select.select([self.process.stdout], [], [], left)[0]:
                more = os.read(self.process.stdout.fileno(), 65536)
                if not more:
                    raise self.failure(what, f"ended with {self.process.wait()}")
                self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def answer(self, what, seconds):
        limit = time.monotonic() + seconds
        while not (line := self.line(what, max(0.001, limit - time.monotonic()))).startswith(b"@"):
            pass  # a library that prints
        answer = json.loads(line[1:])
        if "error" in answer:
            raise PeerFailed(answer["error"])
        return answer

    def ask(self, name, *numbers, seconds=600):
        command = " ".join([name, *map(str, numbers)])
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise self.failure(command, "the program has ended") from None
        return self.answer(command, seconds)

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()
        end(self.process)
        self.process.stdout.close()

    def kill(self):
        kill(self.process)
        self.process.stdout.close()


# ---- memory and disk ----


def descendants(pids):
    """These processes and all below them."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
    found = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def memory_of(pids):
    """Bytes in memory of these processes and all below them; what they share counts once (PSS)."""
    total = 0
    for pid in descendants(pids):
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                total += next(int(line.split()[1]) for line in file if line.startswith("Pss:")) * 1024
        except (FileNotFoundError, ProcessLookupError, StopIteration):
            continue
    return total


def disk_of(folder):
    """Bytes that the files of a folder take on disk; what is deleted meanwhile does not count."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except FileNotFoundError:
                continue
    return total


def end_on_signals():
    """SIGTERM ends this program as Ctrl-C does: by an exception, so that everything is cleaned up."""
    def leave(number, _frame):
        raise KeyboardInterrupt(signal.Signals(number).name)
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)
