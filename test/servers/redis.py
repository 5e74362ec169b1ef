#!/usr/bin/env python3
"""A Redis of one's own for a test: real, private, gone afterwards.

As a program it runs a command beside a server and ends with the command's status:

    redis.py COMMAND [ARGUMENT ...]

The command finds the server's address in ABIDE_TEST_REDIS. As a module:

    with Redis() as server:
        ... server.url, server.restart(), server.kill(), server.command("PING") ...

The server speaks over a socket in its own temporary directory, so that any number of them run beside
each other, and over a port of the loopback interface if asked to. It does not run as root. Its log is
flushed with every commit (appendfsync always) unless told otherwise. When Redis is not installed this
fails; tests that need it are not skipped.
"""
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SETTINGS = {
    "port": "0",
    "appendonly": "yes",
    "appendfsync": "always",
    "save": "",
    "daemonize": "no",
}
START_SECONDS = 60
STOP_SECONDS = 20


class RedisError(Exception):
    """What the server answered with -ERR."""


def find_program(name):
    program = shutil.which(name)
    if program is None:
        sys.exit(f"redis.py: there is no {name}; run tools/setup test (package redis-server)")
    return program


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def other_user():
    """Whom to run as when we are root."""
    for name in ("redis", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    sys.exit("redis.py: neither a user redis nor nobody to run the server as")


class Redis:
    def __init__(self, settings=None, folder=None):
        self.settings = {**SETTINGS, **(settings or {})}
        self.is_ours = folder is None
        parent = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = folder or tempfile.mkdtemp(prefix="abide-redis-", dir=parent)
        self.socket = os.path.join(self.folder, "redis.sock")
        self.user = other_user() if os.geteuid() == 0 else None
        self.process = None
        if self.user:
            os.chown(self.folder, self.user.pw_uid, self.user.pw_gid)
        os.chmod(self.folder, 0o755)

    @property
    def url(self):
        return f"redis:///0?socket={self.socket}"

    @property
    def port(self):
        return int(self.settings["port"])

    def privileges(self):
        """setpriv also ends the server when the test is killed."""
        if not self.user:
            return ["setpriv", "--pdeathsig", "KILL"]
        return ["setpriv", "--reuid", str(self.user.pw_uid), "--regid", str(self.user.pw_gid),
                "--clear-groups", "--pdeathsig", "KILL"]

    def start(self):
        arguments = [find_program("redis-server"), "--unixsocket", self.socket, "--unixsocketperm", "777",
                     "--dir", self.folder, "--bind", "127.0.0.1"]
        for key, value in self.settings.items():
            arguments += ["--" + key, value]
        self.log = open(os.path.join(self.folder, "log"), "ab")
        self.process = subprocess.Popen(self.privileges() + arguments, stdin=subprocess.DEVNULL,
                                        stdout=self.log, stderr=self.log, cwd=self.folder)
        self.wait_ready()
        return self

    def is_ready(self):
        try:
            return self.command("PING") == b"PONG"
        except RedisError as error:  # one that wants a password is ready too
            return str(error).startswith("NOAUTH")
        except OSError:
            return False

    def wait_ready(self):
        end = time.monotonic() + START_SECONDS
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > end:
                with open(self.log.name, "rb") as log:
                    sys.stderr.buffer.write(log.read())
                raise RuntimeError("Redis did not come up")
            time.sleep(0.02)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:  # it does not listen while it writes its first log
                self.kill()

    def kill(self):
        """As a power failure, except that what was written stays."""
        self.process.kill()
        self.process.wait()

    def restart(self):
        self.stop()
        self.start()

    def command(self, *words, password=None):
        """The answer of one command: bytes, a number, None, or a list of them."""
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(self.socket)
            stream = link.makefile("rwb")
            if password:
                send(stream, ["AUTH", password])
                receive(stream)
            send(stream, words)
            return receive(stream)

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.stop()
        if self.is_ours:
            shutil.rmtree(self.folder, ignore_errors=True)


def send(stream, words):
    data = [b"*%d\r\n" % len(words)]
    for word in words:
        word = word if isinstance(word, bytes) else str(word).encode("utf-8")
        data.append(b"$%d\r\n%s\r\n" % (len(word), word))
    stream.write(b"".join(data))
    stream.flush()


def receive(stream):
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("the server has hung up")
    kind, rest = line[:1], line[1:-2]
    if kind == b"+":
        return rest
    if kind == b"-":
        raise RedisError(rest.decode("utf-8"))
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == b"-1" else stream.read(int(rest) + 2)[:-2]
    return None if rest == b"-1" else [receive(stream) for _ in range(int(rest))]


if __name__ == "__main__":
    import beside
    beside.main(["redis", *sys.argv[1:]])
