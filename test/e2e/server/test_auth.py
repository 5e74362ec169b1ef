"""Tokens, scopes, CORS and the checks of an open server, against the real server."""
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Server, ServerTest, wait_until  # noqa: E402

ALPHABET = set("0123456789abcdefghjkmnpqrstvwxyz")


def abide(*arguments, **environment):
    return subprocess.run([ABIDE, *arguments], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})


def make_token(store, *arguments):
    """By the store itself, as an operator does before the first start."""
    done = abide("token", "create", "--store", store, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class TokenServer(Server):
    """Asks for tokens; has one per scope."""

    def __init__(self, *arguments):
        folder = tempfile.TemporaryDirectory()
        store = "sqlite:" + os.path.join(folder.name, "test.db")
        self.tokens = {scope: make_token(store, "--name", "the " + scope, "--scope", scope)
                       for scope in ("admin", "client", "worker", "read")}
        super().__init__("--require-tokens", *arguments, folder=folder.name)
        self.temporary = folder

    def as_(self, scope, method, path, body=None, **more):
        headers = {"Authorization": "Bearer " + self.tokens.get(scope, scope)}
        return self.call(method, path, body, headers={**headers, **more.pop("headers", {})}, **more)


class ScopeTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.server = TokenServer()

    def test_without_a_token_only_health_is_answered(self):
        for path in ("/livez", "/readyz", "/healthz"):
            self.assertEqual(self.server.get(path).status, 200)
        for method, path in (("GET", "/v1/runs"), ("GET", "/metrics"), ("POST", "/v1/runs"),
                             ("POST", "/v1/tasks/claim"), ("GET", "/v1/tokens")):
            answer = self.server.call(method, path)
            self.assert_problem(answer, 401, "UNAUTHORIZED")
            self.assertEqual(answer.headers["WWW-Authenticate"], 'Bearer realm="abide"')

    def test_each_scope_reaches_what_it_should_and_no_more(self):
        run = {"workflow": "nothing-of-this-name"}
        claim = {"worker": "w", "max": 1, "wait": "0s"}
        token = {"name": "n", "scopes": ["read"]}
        routes = {("GET", "/v1/runs", None): {"read", "client", "admin"},
                  ("GET", "/metrics", None): {"read", "client", "admin"},
                  ("POST", "/v1/runs", json.dumps(run)): {"client", "admin"},
                  ("POST", "/v1/tasks/claim", json.dumps(claim)): {"worker", "admin"},
                  ("POST", "/v1/tokens", json.dumps(token)): {"admin"},
                  ("GET", "/v1/tokens", None): {"admin"},
                  ("DELETE", "/v1/tokens/tok_none", None): {"admin"}}
        for (method, path, body), allowed in routes.items():
            for scope in self.server.tokens:
                answer = self.server.as_(scope, method, path, raw=body)
                with self.subTest(path=path, scope=scope):
                    if scope in allowed:
                        self.assertNotIn(answer.status, (401, 403), answer.body)
                        continue
                    self.assert_problem(answer, 403, "FORBIDDEN")
                    needed = {"/v1/runs": "client" if method == "POST" else "read",
                              "/v1/tasks/claim": "worker", "/metrics": "read"}.get(path, "admin")
                    self.assertIn("needs the scope " + needed, answer.json["detail"])
                    self.assertIn("the " + scope, answer.json["detail"])
                    self.assertIn('scope="%s"' % needed, answer.headers["WWW-Authenticate"])

    def test_bad_tokens_are_refused_with_a_reason(self):
        good = self.server.tokens["admin"]
        flipped = good[:-1] + ("0" if good[-1] != "0" else "1")
        reasons = {"Bearer " + good[:-1]: "whole token", "Bearer " + flipped: "whole token",
                   "Bearer ": "whole token", "Bearer x": "whole token",
                   "Basic YTpi": "Bearer", "Token " + good: "Bearer"}
        for header, reason in reasons.items():
            answer = self.server.call("GET", "/v1/runs", headers={"Authorization": header})
            self.assert_problem(answer, 401, "UNAUTHORIZED")
            self.assertIn(reason, answer.json["detail"])
        answer = self.server.call("GET", "/v1/runs", headers={"Authorization": "bearer  " + good})
        self.assertEqual(answer.status, 200)

    def test_an_unknown_token_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            other = make_token("sqlite:" + folder + "/o.db", "--name", "o", "--scope", "admin")
        answer = self.server.as_(other, "GET", "/v1/runs")
        self.assert_problem(answer, 401, "UNAUTHORIZED")
        self.assertIn("invalid_token", answer.headers["WWW-Authenticate"])

    def test_a_refused_request_is_refused_before_its_body_is_read(self):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=20) as client:
            client.sendall(b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\n"
                           b"Content-Length: 1000000\r\n\r\n")
            self.assertIn(b"401", client.recv(65536).split(b"\r\n")[0])


class TokenTest(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.server = TokenServer()

    def test_the_log_says_whose_token_set_a_variable(self):
        self.server.as_("admin", "PUT", "/v1/workflows/waits", raw="let n = 1; await Signal.when('go')\nreturn n",
                        headers={"Content-Type": "text/plain"})
        self.assertEqual(self.server.as_("client", "POST", "/v1/runs", {"workflow": "waits", "id": "w"}).status, 201)
        values = {"values": [{"path": "n", "value": 2}]}
        wait_until(lambda: self.server.as_("client", "POST", "/v1/runs/w/set", values).status == 200)
        log = self.server.as_("read", "GET", "/v1/runs/w/log?limit=100").json["items"]
        self.assertEqual([entry["data"]["by"] for entry in log if entry["kind"] == "set"], ["the client"])

    def create(self, **fields):
        body = {"name": "t", "scopes": ["read"], **fields}
        return self.server.as_("admin", "POST", "/v1/tokens", body)

    def test_a_token_works_from_its_making_to_its_removal(self):
        answer = self.create(name="ci", scopes=["client", "worker"])
        self.assertEqual(answer.status, 201)
        self.assertEqual(answer.headers["Cache-Control"], "no-store")
        made = answer.json
        self.assertRegex(made["token"], r"^abide_[0-9a-z]{59}$")
        self.assertLessEqual(set(made["token"][6:]), ALPHABET)
        self.assertEqual(made["hint"], made["token"][-4:])
        self.assertEqual(made["scopes"], ["client", "worker"])
        self.assertIsNone(made["expires_at"])
        self.assertEqual(self.server.as_(made["token"], "GET", "/v1/runs").status, 200)
        gone = self.server.as_("admin", "DELETE", "/v1/tokens/" + made["id"])
        self.assertEqual((gone.status, gone.body), (204, ""))
        self.assert_problem(self.server.as_(made["token"], "GET", "/v1/runs"), 401, "UNAUTHORIZED")
        again = self.server.as_("admin", "DELETE", "/v1/tokens/" + made["id"])
        self.assert_problem(again, 404, "TOKEN_NOT_FOUND")

    def test_lists_never_show_texts(self):
        made = self.create(name="listed").json
        listed = self.server.as_("admin", "GET", "/v1/tokens?limit=1000")
        self.assertNotIn(made["token"], listed.body)
        mine = [item for item in listed.json["items"] if item["id"] == made["id"]][0]
        del made["token"]
        self.assertEqual(mine, made)

    def test_pages_go_on(self):
        for number in range(3):
            self.create(name="page %d" % number)
        first = self.server.as_("admin", "GET", "/v1/tokens?limit=2").json
        second = self.server.as_("admin", "GET",
                                 "/v1/tokens?limit=2&cursor=" + str(first["next"])).json
        ids = [item["id"] for item in first["items"] + second["items"]]
        self.assertEqual(ids, sorted(ids, reverse=True))

    def test_an_expired_token_is_told_so(self):
        made = self.create(expires="300ms").json
        wait_until(lambda: self.server.as_(made["token"], "GET", "/v1/runs").status != 200)
        answer = self.server.as_(made["token"], "GET", "/v1/runs")
        self.assert_problem(answer, 401, "UNAUTHORIZED")
        self.assertIn("expired", answer.json["detail"])
        listed = self.server.as_("admin", "GET", "/v1/tokens?limit=1000").json["items"]
        self.assertTrue([item for item in listed if item["id"] == made["id"]][0]["expired"])

    def test_bad_requests(self):
        self.assert_problem(self.create(scopes=["root"]), 400, "BAD_SCOPE")
        self.assert_problem(self.create(scopes=[]), 400, "BAD_SCOPE")
        self.assert_problem(self.create(scopes="read"), 400, "BAD_FIELD")
        self.assert_problem(self.create(name=""), 400, "BAD_NAME")
        self.assert_problem(self.create(expires="soon"), 400, "BAD_DURATION")
        self.assert_problem(self.create(expires="0s"), 400, "BAD_FIELD")
        self.assert_problem(self.create(colour="red"), 400, "UNKNOWN_FIELD")
        answer = self.server.as_("admin", "POST", "/v1/tokens", {"name": "x"})
        self.assert_problem(answer, 400, "MISSING_FIELD")

    def test_texts_are_not_in_the_store(self):
        made = self.create(name="not written down").json["token"]
        for name in os.listdir(self.server.folder):
            with open(os.path.join(self.server.folder, name), "rb") as file:
                data = file.read()
            self.assertNotIn(made.encode(), data)
            self.assertNotIn(made[6:].encode(), data)

    def test_tokens_survive_a_restart(self):
        server = TokenServer()
        self.addCleanup(server.close)
        server.kill()
        server.start()
        self.assertEqual(server.as_("read", "GET", "/v1/runs").status, 200)


class CommandTest(unittest.TestCase):
    def test_commands_over_the_server(self):
        server = TokenServer()
        self.addCleanup(server.close)
        url = "http://127.0.0.1:%d" % server.port
        with_token = {"ABIDE_SERVER": url, "ABIDE_TOKEN": server.tokens["admin"]}
        made = abide("token", "create", "--name", "by hand", "--scope", "read", "--scope", "worker",
                     "--expires", "30d", **with_token)
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertEqual(server.as_(made.stdout.strip(), "GET", "/v1/runs").status, 200)
        listed = json.loads(abide("token", "ls", "-o", "json", **with_token).stdout)
        by_hand = [item for item in listed["items"] if item["name"] == "by hand"][0]
        self.assertEqual(by_hand["scopes"], ["read", "worker"])
        self.assertIn("by hand", abide("token", "ls", **with_token).stdout)
        self.assertIn(by_hand["id"], abide("token", "ls", "-o", "ids", **with_token).stdout.split())
        gone = abide("token", "rm", by_hand["id"], **with_token)
        self.assertEqual(gone.returncode, 0, gone.stderr)
        self.assertEqual(abide("token", "rm", by_hand["id"], **with_token).returncode, 4)
        self.assertEqual(abide("token", "ls", ABIDE_SERVER=url).returncode, 3)
        forbidden = abide("token", "ls", ABIDE_SERVER=url, ABIDE_TOKEN=server.tokens["client"])
        self.assertEqual(forbidden.returncode, 3)

    def test_a_store_that_a_server_owns_is_not_opened(self):
        server = TokenServer()
        self.addCleanup(server.close)
        done = abide("token", "create", "--name", "x", "--scope", "read", "--store", server.store)
        self.assertEqual(done.returncode, 1)
        self.assertIn("STORE_LOCKED", done.stderr)

    def test_the_token_alone_goes_to_stdout(self):
        with tempfile.TemporaryDirectory() as folder:
            store = "sqlite:" + folder + "/new.db"  # made on the way
            done = abide("token", "create", "--name", "x", "--scope", "admin", "--store", store)
            self.assertRegex(done.stdout, r"^abide_[0-9a-z]{59}\n$")
            bad = abide("token", "create", "--name", "x", "--scope", "king", "--store", store)
            self.assertEqual((bad.returncode, bad.stdout), (2, ""))
            self.assertIn("BAD_SCOPE", bad.stderr)
            for arguments in ((), ("--name", "x"), ("--scope", "read"), ("--colour", "red")):
                bad = abide("token", "create", "--store", store, *arguments)
                self.assertEqual(bad.returncode, 2, bad.stderr)


class ListenTest(unittest.TestCase):
    """Where a server may listen without asking for tokens."""

    def refused(self, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            done = abide("serve", "--store", "sqlite:" + folder + "/a.db", *arguments)
        self.assertEqual(done.returncode, 1)
        return done.stderr

    def test_outside_of_loopback_there_must_be_tokens(self):
        for address in ("0.0.0.0:0", ":0", "[::]:0"):
            text = self.refused("--listen", address)
            self.assertIn("NOT_LOOPBACK", text)
            self.assertIn("abide token create", text)

    def test_required_tokens_must_exist(self):
        self.assertIn("NO_TOKENS", self.refused("--listen", "127.0.0.1:0", "--require-tokens"))

    def test_with_tokens_it_listens_everywhere_and_asks_everybody(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        token = make_token("sqlite:" + folder.name + "/test.db", "--name", "a", "--scope", "read")
        server = Server("--listen", "0.0.0.0:0", folder=folder.name)
        self.addCleanup(server.close)
        self.assertEqual(server.get("/v1/runs").status, 401)
        answer = server.call("GET", "/v1/runs", headers={"Authorization": "Bearer " + token,
                                                         "Host": "flows.example.org"})
        self.assertEqual(answer.status, 200)

    def test_insecure_asks_nobody(self):
        server = Server("--listen", "0.0.0.0:0", "--insecure")
        self.addCleanup(server.close)
        answer = server.call("GET", "/v1/runs", headers={"Host": "flows.example.org"})
        self.assertEqual(answer.status, 200)

    def test_addresses_that_cannot_be(self):
        self.assertIn("BAD_LISTEN", self.refused("--listen", "localhost"))
        self.assertIn("BAD_LISTEN", self.refused("--listen", "127.0.0.1:99999"))
        self.assertIn("LISTEN_FAILED", self.refused("--listen", "192.0.2.1:1"))
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            self.assertIn("LISTEN_FAILED", self.refused("--listen", "127.0.0.1:%d" % port))


class ForeignPageTest(ServerTest):
    """An open server on loopback, and a browser of this machine that shows somebody's page."""

    def test_names_that_were_pointed_here_are_refused(self):
        for host in ("evil.example", "127.0.0.1.evil.example", "127.evil.example:7433",
                     "192.0.2.1", "[::2]:80", "ai", "intranet:7433", "2130706433", "notlocalhost"):
            answer = self.server.call("GET", "/v1/runs", headers={"Host": host})
            self.assert_problem(answer, 403, "HOST_NOT_ALLOWED")
        for host in ("localhost", "LocalHost:7433", "localhost:7433", "127.0.0.1:1", "127.8.9.1", "[::1]:7433",
                     "abide.localhost"):
            answer = self.server.call("GET", "/v1/runs", headers={"Host": host})
            self.assertEqual(answer.status, 200, host)

    def test_pages_of_other_sites_cannot_start_runs(self):
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
            answer = self.server.post("/v1/runs", {"workflow": "x"}, headers={"Origin": origin})
            self.assert_problem(answer, 403, "ORIGIN_NOT_ALLOWED")
            self.assertNotIn("Access-Control-Allow-Origin", answer.headers)

    def test_our_own_page_can(self):
        own = "http://127.0.0.1:%d" % self.server.port
        answer = self.server.post("/v1/runs", {"workflow": "x"}, headers={"Origin": own})
        self.assert_problem(answer, 404, "WORKFLOW_NOT_FOUND")

    def test_preflights_are_not_answered_unless_configured(self):
        answer = self.server.call("OPTIONS", "/v1/runs", headers={
            "Origin": "https://app.example", "Access-Control-Request-Method": "POST"})
        self.assertEqual(answer.status, 405)
        self.assertNotIn("Access-Control-Allow-Origin", answer.headers)


if __name__ == "__main__":
    tap.main()
