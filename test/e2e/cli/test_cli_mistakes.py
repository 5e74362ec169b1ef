"""What the command line says to somebody who is mistaken: what was meant, what helps, and the exit
codes of docs/cli.md."""
import os
import re
import socket
import subprocess
import sys

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from cli import CommandTest  # noqa: E402
from server import ABIDE, Server  # noqa: E402


class SuggestionTest(CommandTest):
    def hint(self, *arguments, code=2):
        answer = self.abide(*arguments)
        self.assertEqual(answer.code, code, answer.err)
        return answer.err

    def test_commands(self):
        self.assertIn("did you mean abide deploy?", self.bare("delpoy").err)
        self.assertIn("did you mean abide wf start?", self.bare("wf", "strat").err)
        self.assertIn("did you mean abide schedule trigger?", self.bare("schedule", "triger").err)
        self.assertNotIn("did you mean", self.bare("frobnicate").err)
        self.assertEqual(self.bare("delpoy").code, 2)

    def test_flags(self):
        self.assertIn("did you mean --status?", self.hint("wf", "ls", "--statsu", "failed"))
        self.assertIn("did you mean --wait-limit?", self.hint("wf", "result", "x", "--waitlimit=1s"))
        self.assertIn("did you mean --listen?", self.bare("serve", "--listn", "x").err)  # a setting
        self.assertIn("did you mean --quiet?", self.bare("dev", "--quite").err)
        self.assertNotIn("did you mean", self.hint("wf", "ls", "--colour"))

    def test_fields_and_parameters(self):
        answer = self.server.post("/v1/runs", {"workflow": "order", "priorty": 3})
        self.assertEqual((answer.status, answer.json["code"]), (400, "UNKNOWN_FIELD"))
        self.assertIn('"priorty" is not known here; did you mean "priority"?', answer.json["detail"])
        answer = self.server.get("/v1/runs?waitingon=x")
        self.assertEqual((answer.status, answer.json["code"]), (400, "UNKNOWN_PARAMETER"))
        self.assertIn('no query parameter "waitingon"; did you mean "waiting_on"?',
                      answer.json["detail"])
        self.assertNotIn("did you mean", self.server.get("/v1/runs?zzz=x").json["detail"])

    def test_workflows(self):
        self.deploy("order", "return 1")
        self.deploy("invoice", "return 1")
        for arguments in (("wf", "start", "ordr"), ("workflow", "show", "Order")):
            self.assertIn('did you mean "order"?', self.hint(*arguments, code=4))
        self.assertNotIn("did you mean", self.hint("wf", "start", "shipment", code=4))
        answer = self.server.post("/v1/runs", {"workflow": "invoce"})
        self.assertEqual((answer.status, answer.json["code"]), (404, "WORKFLOW_NOT_FOUND"))
        self.assertTrue(answer.json["detail"].endswith('; did you mean "invoice"?'))
        store = "sqlite:" + os.path.join(self.folder, "own.db")
        self.assertEqual(self.bare("deploy", self.file("ship.flow", "return 1"), "--store",
                                   store).code, 0)
        self.assertIn('did you mean "ship"?', self.bare("wf", "start", "shp", "--store", store).err)

    def test_settings(self):
        path = self.file("abide.toml", "[tls]\ncrt = 'x'\n")
        self.assertIn('did you mean "tls-cert"?', self.bare("serve", "--config", path).err)
        said = "ABIDE_LISTN is set, but is no setting; did you mean ABIDE_LISTEN?"
        self.assertIn(said, self.bare("config", "check", ABIDE_LISTN="x").err)
        for command in (["serve"], ["dev", self.folder]):  # ends: the port is taken
            done = self.bare(*command, "--listen", "127.0.0.1:%d" % self.server.port,
                             ABIDE_LISTN="x", ABIDE_SOMETHING_ELSE="y")
            self.assertIn(said, done.err + done.out)
            self.assertNotIn("SOMETHING", done.err + done.out)


class ListenTest(CommandTest):
    def test_a_port_that_is_taken_names_the_process_and_the_flag(self):
        for command in (["serve", "--store", "memory:"], ["dev", self.folder]):
            done = self.bare(*command, "--listen", "127.0.0.1:%d" % self.server.port)
            self.assertEqual(done.code, 1)
            self.assertIn("process %d (abide) has it already" % self.server.process.pid, done.err)
            self.assertIn("--listen HOST:PORT", done.err)
            self.assertIn("(LISTEN_FAILED)", done.err)
        with socket.socket() as own:
            own.bind(("127.0.0.1", 0))
            own.listen()
            done = self.bare("serve", "--store", "memory:", "--listen",
                             "127.0.0.1:%d" % own.getsockname()[1])
        self.assertIn("process %d (python" % os.getpid(), done.err)

    def test_an_address_of_another_machine(self):
        done = self.bare("serve", "--store", "memory:", "--listen", "192.0.2.1:7433")
        self.assertEqual(done.code, 1)
        self.assertIn("LISTEN_FAILED", done.err)

    def test_a_store_that_is_taken(self):
        done = self.bare("serve", "--store", self.server.store, "--listen", "127.0.0.1:0")
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, r"in use by process %d; .*--server.*--store.*\(STORE_LOCKED\)"
                         % self.server.process.pid)


class LibraryTest(CommandTest):
    def test_messages_of_the_library_know_no_flags(self):
        """What is linked into libabide is used by programs that have no command line of ours."""
        found = []
        for layer in ("api", "base", "engine", "flow", "json", "model", "store", "tasks"):
            for root, _, names in os.walk(os.path.join(SOURCE, "src", layer)):
                for name in names:
                    if name.endswith((".c", ".h")):
                        with open(os.path.join(root, name), encoding="utf-8") as file:
                            found += ["%s:%d" % (name, number) for number, line in
                                      enumerate(file, 1)
                                      if re.search(r'"[^"]*(?<![\w-])--[a-z][^"]*"', line)]
        self.assertEqual(found, [])


class ExitCodeTest(CommandTest):
    """Exit codes as docs/cli.md has them: what is tried, and what comes of it."""

    def test_every_code(self):
        self.deploy("order", "if (Inputs.bad) throw new Error('no'); return await Signal.when('go')")
        self.ok("wf", "start", "order", "{}", "--id", "waits")
        self.abide("wf", "start", "order", '{"bad": true}', "--id", "failed", "--wait")
        self.ok("wf", "start", "order", "{}", "--id", "gone")
        self.ok("wf", "cancel", "gone")
        self.abide("wf", "result", "gone", "--wait")
        broken = self.file("broken.flow", "let a = ;")
        table = [
            (0, "wf", "ls"),
            (0, "wf", "show", "waits"),
            (0, "logs", "waits"),
            (0, "queue", "show", "default"),
            (0, "doctor"),
            # tried and went wrong
            (1, "wf", "result", "waits"),
            (1, "wf", "result", "waits", "--wait", "--wait-limit", "10ms"),
            (1, "wf", "result", "waits", "--wait-limit", "10ms"),
            (1, "wf", "result", "failed", "--wait"),
            (1, "wf", "result", "gone", "--wait", "--wait-limit", "1h"),
            (1, "wf", "watch", "failed"),
            (1, "wf", "show", "failed", "--follow"),
            (1, "wf", "start", "order", '{"bad": true}', "--wait"),
            (1, "signal", "failed", "go"),
            (1, "wf", "rm", "waits"),
            (1, "wf", "pause", "failed"),
            (1, "task", "run", "nobody", "--wait-limit", "10ms"),
            # the command line, a file or an input is wrong
            (2, "wf", "lst"),
            (2, "wf", "ls", "--colour"),
            (2, "wf", "show"),
            (2, "wf", "ls", "-o", "xml"),
            (2, "wf", "ls", "--status", "asleep"),
            (2, "wf", "start", "order", "{"),
            (2, "wf", "start", "order", "@/nowhere/at/all"),
            (2, "wf", "start", "order", "--priority", "5000"),
            (2, "wf", "start", "order", "--delay", "soon"),
            (2, "wf", "result", "waits", "--wait-limit", "soon"),
            (2, "deploy", broken),
            (2, "deploy", "/nowhere/at/all.flow"),
            (2, "check", "/nowhere/at/all.flow"),
            (2, "queue", "set", "mail", "--rate", "often"),
            (2, "queue", "set", "mail", "--max-running", "-5"),
            (2, "queue", "set", "mail", "--pause", "--resume"),
            (2, "schedule", "set", "s", "order", "--cron", "61 * * * *"),
            (2, "topic", "set", "t", "--consume", "some"),
            (2, "task", "ls", "--status", "lost"),
            (2, "logs", "waits", "-o", "ids"),
            # what was named does not exist
            (4, "wf", "show", "nothing"),
            (4, "wf", "result", "nothing"),
            (4, "wf", "result", "nothing", "--wait"),
            (4, "wf", "watch", "nothing"),
            (4, "wf", "start", "nothing"),
            (4, "wf", "cancel", "nothing"),
            (4, "wf", "signals", "nothing"),
            (4, "wf", "fork", "nothing"),
            (4, "signal", "nothing", "go"),
            (4, "logs", "nothing"),
            (4, "logs", "nothing", "-f"),
            (4, "task", "show", "nothing"),
            (4, "task", "retry", "nothing"),
            (4, "task", "ls", "--run", "nothing"),
            (4, "schedule", "show", "nothing"),
            (4, "schedule", "trigger", "nothing"),
            (4, "workflow", "show", "nothing"),
            (4, "dead", "replay", "4711"),
            (4, "token", "rm", "nothing"),
        ]
        plain = {"check"}  # talks to nobody
        for code, *arguments in table:
            with self.subTest(command=" ".join(arguments)):
                run = self.bare if arguments[0] in plain else self.abide
                answer = run(*arguments)
                self.assertEqual(answer.code, code, answer.out + answer.err)
                self.assertEqual(answer.err == "", code == 0, answer.err)

    def test_stores_and_files(self):
        path = os.path.join(self.folder, "s.db")
        self.assertEqual(self.bare("deploy", self.file("a.flow", "return 1"), "--store", path).code, 0)
        table = [
            (0, "verify", path),
            (0, "backup", path + ".copy", "--store", path),
            (2, "backup", path + ".copy", "--store", path),
            (2, "backup", path, "--store", path, "--replace"),
            (2, "backup", path + ".x", "--store", "postgres://host/db"),
            (1, "backup", "/nowhere/at/all", "--store", path),
            (4, "backup", path + ".x", "--store", path + ".none"),
            (4, "verify", path + ".none"),
            (4, "wf", "ls", "--store", path + ".none"),
            (2, "migrate", "--from", path, "--to", path),
            (1, "migrate", "--reopen", path),
        ]
        for code, *arguments in table:
            with self.subTest(command=" ".join(arguments)):
                answer = self.bare(*arguments)
                self.assertEqual(answer.code, code, answer.out + answer.err)

    def test_a_server_that_is_away(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # nobody listens there
            url = "http://127.0.0.1:%d" % taken.getsockname()[1]
            for command in (["wf", "ls"], ["wf", "start", "order"], ["wf", "result", "x", "--wait"],
                            ["wf", "watch", "x"], ["wf", "ls", "--watch"], ["logs", "x", "-f"],
                            ["queue", "set", "x"], ["doctor"], ["task", "retry", "x"]):
                with self.subTest(command=" ".join(command)):
                    answer = self.bare(*command, "--server", url)
                    self.assertEqual(answer.code, 1, answer.err)

    def test_a_server_that_asks_for_a_token(self):
        server = Server("--require-tokens", folder=self.tokened())
        self.addCleanup(server.close)
        url = "http://127.0.0.1:%d" % server.port
        for command in (["wf", "ls"], ["wf", "result", "x", "--wait"], ["logs", "x", "-f"],
                        ["queue", "show", "x"]):
            with self.subTest(command=" ".join(command)):
                self.assertEqual(self.bare(*command, "--server", url).code, 3)
                self.assertEqual(self.bare(*command, "--server", url, "--token", "wrong").code, 3)

    def tokened(self):
        """A folder with a store that has a token."""
        store = "sqlite:" + os.path.join(self.folder, "test.db")
        done = subprocess.run([ABIDE, "token", "create", "--name", "n", "--scope", "admin",
                               "--store", store], capture_output=True, text=True,
                              env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder


if __name__ == "__main__":
    tap.main()
