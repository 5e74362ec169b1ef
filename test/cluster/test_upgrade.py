"""Rolling upgrades: nodes are replaced one after the other while clients go on, and nothing is lost.

Two kinds of newer abide. One that only adds to the schema works beside the older one. One that the older one
cannot work with (abide-next: a schema version ahead, see meson.build) stops it: nodes that are still of the older kind
are refused by the store, turn red, and change nothing any more; their runs go on at the newer ones.
"""
import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import tap  # noqa: E402
from nemesis import BUILD, Trial, patience_of  # noqa: E402
from stores import PostgresStore  # noqa: E402

NEXT = os.path.join(BUILD, "test", "cluster", "abide-next")
LEASE = 3
SECONDS = 120
# What a newer abide adds when it needs a column and an index more.
ADDITIONS = """
SET lock_timeout = 300;
SELECT 1 FROM abide.store FOR UPDATE;
ALTER TABLE abide.runs ADD COLUMN of_tomorrow bigint NOT NULL DEFAULT 0;
CREATE INDEX runs_of_tomorrow ON abide.runs (of_tomorrow) WHERE of_tomorrow <> 0;
ALTER TABLE abide.log ADD COLUMN of_tomorrow bytea;
UPDATE abide.store SET layout = layout + 1, version = version + 1
"""


def get(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode("utf-8")
    finally:
        connection.close()


class UpgradeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        options = argparse.Namespace(seed=1, nodes=3, lease=LEASE, patience=patience_of(LEASE))
        self.store = self.enterContext(PostgresStore(3))
        self.trial = self.enterContext(Trial(self.store, options, folder.name))
        self.trial.begin()

    def enterContext(self, context):  # unittest has it from Python 3.11 on
        answer = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return answer

    def count_operations(self):
        return self.trial.load.log.next_op

    def count_alive(self, node):
        return sum(other["alive"] for other in json.loads(get(node.port, "/v1/nodes")[1])["items"])

    def versions(self, node):
        """Of the programs, by whether their nodes are alive."""
        nodes = json.loads(get(node.port, "/v1/nodes")[1])["items"]
        return {is_alive: {other["version"] for other in nodes if other["alive"] == is_alive}
                for is_alive in (True, False)}

    def let_work(self, count=150):
        """Until the clients have done so many operations more."""
        end = self.count_operations() + count
        deadline = time.monotonic() + SECONDS
        while self.count_operations() < end:
            self.assertLess(time.monotonic(), deadline, "nothing goes on")
            time.sleep(0.05)

    def replace(self, node, program):
        node.terminate()
        node.program = program
        node.start()

    def bring_up(self):
        """Tries again when it would have to wait long: readers may wait for it in a circle."""
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                self.store.server.query(ADDITIONS)
                return
            except subprocess.CalledProcessError as error:
                self.assertIn("lock timeout", error.stderr)
                self.assertLess(time.monotonic(), deadline, "never alone")

    def conclude(self):
        findings, operations = self.trial.conclude()
        self.assertEqual(findings, [])
        self.assertGreater(operations["signal"], 0)
        self.assertGreater(operations["complete"], 0)

    def wait_for(self, is_so, what):
        deadline = time.monotonic() + SECONDS
        while not is_so():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.1)

    def wait_until_red(self, node):
        self.wait_for(lambda: get(node.port, "/readyz")[0] == 503, "node %d stays green" % node.number)

    def refusal(self, node):
        status, body = get(node.port, "/v1/runs")
        self.assertEqual(status, 503)
        return body

    def test_nodes_are_replaced_under_load_and_the_schema_grows(self):
        old, middle, new = self.trial.nodes
        self.let_work()
        self.replace(new, new.program)
        self.bring_up()  # as a newer one does; both others are the older ones now
        self.let_work()
        for node in (middle, old):
            self.replace(node, node.program)
            self.let_work()
        self.assertEqual([get(node.port, "/readyz")[0] for node in self.trial.nodes], [200] * 3)
        self.conclude()
        present = self.store.server.query("SELECT count(*) FROM information_schema.columns "
                                          "WHERE table_schema = 'abide' AND column_name = 'of_tomorrow'")
        self.assertEqual(present, [["2"]], "whoever started last has left what it does not know")

    def schema_version(self):
        return int(self.store.server.query("SELECT schema_version FROM abide.store")[0][0])

    def test_older_nodes_stop_when_the_schema_goes_beyond_them(self):
        first, second, third = self.trial.nodes
        known = self.schema_version()
        self.let_work()
        self.replace(third, NEXT)
        self.assertEqual(self.schema_version(), known + 1)
        for node in (first, second):
            self.wait_until_red(node)
            reason = "this abide knows versions up to %d" % known
            self.wait_for(lambda: reason in self.refusal(node), "no reason is given")
            self.wait_for(lambda: "replace this one" in node.log_text(), "no advice is given")
        # They are out of the game: what they had goes on at the third.
        deadline = time.monotonic() + SECONDS
        while self.count_alive(third) != 1:
            self.assertLess(time.monotonic(), deadline, "an old node still renews its lease")
            time.sleep(0.2)
        self.let_work(30)  # clients that ask the red ones wait for nothing
        # One that is started now says why it does not, and leaves everything as it is.
        before = self.store.server.query("SELECT schema_version, layout FROM abide.store")
        done = subprocess.run([first.program, "serve", "--store", self.store.url(0), "--listen", "127.0.0.1:0"],
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("STORE_NEWER", done.stderr)
        self.assertEqual(self.store.server.query("SELECT schema_version, layout FROM abide.store"), before)
        here = json.loads(get(third.port, "/version")[1])["version"]
        self.assertEqual(self.versions(third)[True], {here})
        self.assertEqual(self.versions(third)[False], {here.replace("-next", "")})
        self.assertTrue(here.endswith("-next"), here)
        for node in (first, second):
            node.kill()  # it cannot say good-bye: it may not write
            node.program = NEXT
            node.start()
        self.let_work()
        self.conclude()


if __name__ == "__main__":
    tap.main()
