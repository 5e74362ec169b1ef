"""What the tests of the client commands share: running `abide` and reading what it says."""
import json
import os
import subprocess
import tempfile
import unittest

from server import ABIDE, Server

ORDER = """
const receipt = await Task.run("charge", { amount: Inputs.amount })
const approval = await Signal.when("approval", { timeout: "1h" })
return { receipt, approval }
"""


class Output:
    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return self.out.splitlines()


class CommandTest(unittest.TestCase):
    """Commands against one server per class; `where` is how they find it."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server()
        cls.where = ["--server", "http://127.0.0.1:%d" % cls.server.port]

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return path

    def environment(self):
        """Without what the caller's own environment may say about servers."""
        return {key: value for key, value in os.environ.items() if not key.startswith("ABIDE_")
                } | {"TMPDIR": self.folder}

    def bare(self, *arguments, text=None, **more):
        """abide, without saying where the server is."""
        done = subprocess.run([ABIDE, *arguments], input=text, capture_output=True, text=True,
                              timeout=120, env=self.environment() | more)
        for sign in ("Sanitizer", "runtime error:"):
            self.assertNotIn(sign, done.stderr)
        return Output(done)

    def abide(self, *arguments, text=None, **more):
        return self.bare(*arguments, *self.where, text=text, **more)

    def ok(self, *arguments, **more):
        answer = self.abide(*arguments, **more)
        self.assertEqual(answer.code, 0, answer.err)
        return answer

    def refused(self, code, name, *arguments, **more):
        """It ends with that exit code, and stderr has one line with that stable name."""
        answer = self.abide(*arguments, **more)
        self.assertEqual(answer.code, code, answer.out + answer.err)
        self.assertRegex(answer.err, r"(?m)^abide: .*\(%s\)$" % name)
        return answer

    def deploy(self, name, source):
        path = self.file(name + ".flow", source)
        return self.ok("deploy", path)

    def task_of(self, run):
        """The task a run waits for, claimed by a worker."""
        tasks = self.server.claim(names=["charge"], max=1)
        self.assertEqual(len(tasks), 1)
        return tasks[0]
