"""Strong steps (P4): what they write to the application's tables is there exactly once, whatever dies."""
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from servers.proxy import Proxy  # noqa: E402

PROGRAM = os.path.join(os.environ["ABIDE_BUILD_DIR"], "test", "e2e", "strong_steps")
RUNS, STEPS = 6, 10
EVERYTHING = sorted((f"r{run}", str(step)) for run in range(RUNS) for step in range(STEPS))


class Program:
    """strong_steps, whose every line is heard."""

    def __init__(self, store):
        self.lines = []
        self.process = subprocess.Popen([PROGRAM, store, str(RUNS), str(STEPS)], stdout=subprocess.PIPE,
                                        text=True)

    def hear(self, count):
        """True when so many more steps were committed; False when it has ended."""
        while count > 0:
            line = self.process.stdout.readline()
            if not line:
                return False
            self.lines.append(line.strip())
            count -= line == "step\n"
        return True

    def finish(self):
        self.lines += self.process.stdout.read().split("\n")
        return self.process.wait(), [line for line in self.lines if line not in ("step", "")]

    def kill(self):
        self.process.kill()
        self.process.communicate()


class StrongCase(unittest.TestCase):
    def assert_finished(self, program):
        self.assertEqual(program.finish(), (0, ["done"]))

    def kill_again_and_again(self, store, steps):
        """After so many steps each time, and those that are committed before the signal arrives."""
        kills = 0
        program = Program(store)
        while program.hear(steps):
            program.kill()
            kills += 1
            program = Program(store)
        self.assert_finished(program)
        self.assertGreaterEqual(kills, 5)


class StrongSqliteTest(StrongCase):
    def test_a_process_that_is_killed_writes_each_line_once(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "abide.db")
            subprocess.run([PROGRAM, path, "0", "0"], check=True, stdout=subprocess.DEVNULL)
            with sqlite3.connect(path) as database:
                database.execute("CREATE TABLE effects (run text, step text)")
            database.close()
            self.kill_again_and_again("sqlite:" + path, 2)
            with sqlite3.connect(path) as database:
                written = database.execute("SELECT run, step FROM effects").fetchall()
            database.close()
        self.assertEqual(sorted(written), EVERYTHING)


class StrongPostgresTest(StrongCase):
    @classmethod
    def setUpClass(cls):
        cls.database = Postgres()
        cls.database.start()

    @classmethod
    def tearDownClass(cls):
        cls.database.close()

    def setUp(self):
        self.database.query("DROP SCHEMA IF EXISTS abide CASCADE")
        self.database.query("DROP TABLE IF EXISTS effects")
        self.database.query("CREATE TABLE effects (run text, step text)")

    def assert_exactly_once(self):
        written = self.database.query("SELECT run, step FROM effects")
        self.assertEqual(sorted(map(tuple, written)), EVERYTHING)

    def test_a_process_that_is_killed_writes_each_line_once(self):
        self.kill_again_and_again(self.database.url, 8)
        self.assert_exactly_once()

    def test_connections_cut_at_commit_lose_and_double_nothing(self):
        proxy = Proxy(os.path.join(self.database.folder, ".s.PGSQL.5432"))
        program = Program(f"postgres://abide@127.0.0.1:{proxy.port}/postgres?sslmode=disable")
        while program.hear(3):
            proxy.cut_after = b"COMMIT"
        self.assert_finished(program)
        self.assert_exactly_once()
        self.assertGreaterEqual(proxy.cut_count, 5)
        proxy.close()

    def test_connections_cut_in_the_middle_of_a_step_lose_and_double_nothing(self):
        """The INSERT of a step arrives, its answer does not, and neither does what would follow."""
        proxy = Proxy(os.path.join(self.database.folder, ".s.PGSQL.5432"))
        program = Program(f"postgres://abide@127.0.0.1:{proxy.port}/postgres?sslmode=disable")
        while program.hear(6):
            proxy.cut_after = b"INSERT INTO effects"
        self.assert_finished(program)
        self.assert_exactly_once()
        self.assertGreaterEqual(proxy.cut_count, 3)
        proxy.close()

    def test_two_nodes_of_which_one_dies_write_each_line_once(self):
        one, two = Program(self.database.url), Program(self.database.url)
        one.hear(5)
        one.kill()
        third = Program(self.database.url)
        two.hear(5)
        self.assert_finished(third)
        self.assert_finished(two)
        self.assert_exactly_once()

    def test_the_database_is_killed_and_comes_back(self):
        program = Program(self.database.url)
        self.assertTrue(program.hear(10))
        self.database.kill()
        self.database.start()
        self.assert_finished(program)
        self.assert_exactly_once()


if __name__ == "__main__":
    tap.main()
