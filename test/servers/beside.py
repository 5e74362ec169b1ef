#!/usr/bin/env python3
"""Runs a command beside servers of its own, and ends with the command's status:

    beside.py NAME[,NAME] COMMAND [ARGUMENT ...]
    beside.py NAME[,NAME] --each PROGRAM [PROGRAM ...]     one after the other beside the same servers

Names are postgres and redis. The command finds their addresses in ABIDE_TEST_POSTGRES and
ABIDE_TEST_REDIS.
"""
import contextlib
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def server_of(name):
    if name == "postgres":
        import postgres
        return postgres.Postgres()
    if name == "redis":
        import redis
        return redis.Redis()
    sys.exit(f"beside.py: there is no server {name}")


def run(command, environment):
    # meson names programs relative to the build directory.
    program = os.path.join(os.environ.get("ABIDE_BUILD_DIR", ""), command[0])
    status = subprocess.run([program, *command[1:]], env=environment).returncode
    if status != 0:
        print(f"# {command[0]} ended with {status}", flush=True)
    return status if status >= 0 else 128 - status


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    environment = dict(os.environ)
    with contextlib.ExitStack() as stack:
        for name in arguments[0].split(","):
            server = stack.enter_context(server_of(name))
            environment["ABIDE_TEST_" + name.upper()] = server.url
        commands = [arguments[1:]]
        if arguments[1] == "--each":
            commands = [[program] for program in arguments[2:]]
        statuses = [run(command, environment) for command in commands]
    sys.exit(next((status for status in statuses if status != 0), 0))


if __name__ == "__main__":
    main(sys.argv[1:])
