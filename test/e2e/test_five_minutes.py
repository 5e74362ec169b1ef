"""The five minutes of README.md, literally: its files are written, its commands are run."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402

PART = re.compile(r"<!-- five minutes: (.*?) -->\n```\w+\n(.*?)```", re.S)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class FiveMinutes(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        os.symlink(os.environ["ABIDE_BUILD_DIR"], os.path.join(self.folder, "build"))
        os.symlink(os.path.join(SOURCE, "sdk"), os.path.join(self.folder, "sdk"))
        for name in ("examples/flows", "tools"):
            shutil.copytree(os.path.join(SOURCE, name), os.path.join(self.folder, name),
                            ignore=shutil.ignore_patterns(".abide"))
        port = free_port()
        self.environment = {**os.environ, "ABIDE_LISTEN": "127.0.0.1:%d" % port,
                            "ABIDE_SERVER": "http://127.0.0.1:%d" % port, "BUILD": "build"}
        with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
            self.parts = dict(PART.findall(file.read()))

    def write_files(self):
        for name, text in self.parts.items():
            if name.startswith("file "):
                path = os.path.join(self.folder, name[len("file "):])
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)

    def run_part(self, name):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", self.parts[name]], cwd=self.folder,
                              env=self.environment, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, self.parts[name] + done.stdout + done.stderr)
        return done.stdout

    def begin(self, command, until):
        """Starts what a terminal would run; answers it once it has printed `until`."""
        process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder,
                                   env=self.environment, stdout=subprocess.PIPE, text=True,
                                   stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        text = ""
        while until is not None and until not in text:
            line = process.stdout.readline()
            self.assertTrue(line, text)
            text += line
        return process

    def wait_for_output(self, command, wanted):
        deadline = time.monotonic() + 60
        while True:
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment,
                                  capture_output=True, text=True, timeout=60)
            if wanted in done.stdout:
                return
            self.assertLess(time.monotonic(), deadline, done.stdout + done.stderr)
            time.sleep(0.05)

    def test_make_run_serves_with_the_command_of_tools_run(self):
        with open(os.path.join(SOURCE, "Makefile"), encoding="utf-8") as file:
            self.assertIn("\nrun: all\n\t@tools/run\n", file.read())

    def test_the_example_run_is_answered(self):
        server = self.begin("tools/run", "Ctrl-C ends")
        self.wait_for_output("build/abide wf ls --waiting-on answer -o ids", "run_")
        self.assertIn("hello", self.run_part("answer"))
        self.wait_for_output("build/abide wf ls --workflow hello", "completed")
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(60), 0)

    def test_the_way_to_a_flow_with_a_python_task(self):
        self.write_files()
        serve = self.parts["serve"].strip()
        server = self.begin(serve, "Ctrl-C ends")
        worker = self.begin("env " + self.parts["work"].strip(), None)
        self.run_part("start")
        self.wait_for_output("build/abide wf ls --waiting-on approval -o ids", "order-1")
        self.assertEqual(worker.stdout.readline(), "charging 40\n")
        worker.kill()
        server.kill()  # kill everything now
        server.wait()
        self.begin(serve, "Ctrl-C ends")
        self.assertEqual(self.run_part("approve").splitlines()[-1], self.parts["result"].strip())


if __name__ == "__main__":
    tap.main()
