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
import shutil
import signal
import socket
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from own import OwnServer  # noqa: E402

SETTINGS = {
    "port": "0",
    "appendonly": "yes",
    "appendfsync": "always",
    "save": "",
    "daemonize": "no",
}
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


class Redis(OwnServer):
    NAME = "redis"
    USERS = ("redis", "nobody")
    SETTINGS = SETTINGS

    @property
    def socket(self):
        return os.path.join(self.folder, "redis.sock")

    @property
    def url(self):
        return f"redis:///0?socket={self.socket}"

    @property
    def port(self):
        return int(self.settings["port"])

    def start(self):
        arguments = [find_program("redis-server"), "--unixsocket", self.socket, "--unixsocketperm", "777",
                     "--dir", self.folder, "--bind", "127.0.0.1"]
        for key, value in self.settings.items():
            arguments += ["--" + key, value]
        return self.launch(arguments)

    def is_ready(self):
        try:
            return self.command("PING") == b"PONG"
        except RedisError as error:  # one that wants a password is ready too
            return str(error).startswith("NOAUTH")
        except OSError:
            return False

    def ask_to_stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:  # it does not listen while it writes its first log
            self.kill()

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


class Pretender:
    """Speaks the protocol and nothing else: `answers` has the raw answer to a command's first word, or to any (None).

    For what a real server cannot easily be made to say."""

    def __init__(self, answers):
        self.answers = answers
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = "redis://127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link):
        with link, link.makefile("rwb") as stream:
            try:
                while True:
                    word = receive(stream)[0].decode("utf-8").upper()
                    stream.write(self.answers.get(word, self.answers.get(None, b"+OK\r\n")))
                    stream.flush()
            except OSError:  # its client has had enough
                return

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


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
