"""Connections to PostgreSQL: TLS, several hosts, standbys, and every way to be refused, said clearly and
without the password."""
import os
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, PATIENCE, Node  # noqa: E402
from servers.postgres import Postgres, find_program  # noqa: E402
from servers.proxy import Proxy  # noqa: E402

SECRET = "s3cr3t%2Fw0rd"  # as it stands in URLs
PLAIN = "s3cr3t/w0rd"
ADDRESS = "127.%d.%d.7" % (os.getpid() // 250 % 250 + 1, os.getpid() % 250 + 1)  # nobody else's
HBA = """
local all abide trust
local all all scram-sha-256
local replication all trust
hostssl all abide all trust
hostssl all all all scram-sha-256
"""


def make_certificate(folder, name, common_name):
    """A certificate that is its own authority."""
    key, certificate = os.path.join(folder, name + ".key"), os.path.join(folder, name + ".crt")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                    "-nodes", "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=" + common_name,
                    "-addext", "subjectAltName=DNS:" + common_name], check=True, capture_output=True)
    os.chmod(key, 0o600)
    return key, certificate


def own(server, path):
    if server.user:
        os.chown(path, server.user.pw_uid, server.user.pw_gid)


def make_secure(server):
    """A server that lets in over the network with TLS only."""
    server.make()
    key, certificate = make_certificate(server.folder, "server", "localhost")
    own(server, key)
    server.settings.update({"ssl": "on", "ssl_key_file": key, "ssl_cert_file": certificate,
                            "listen_addresses": ADDRESS})
    with open(os.path.join(server.data, "pg_hba.conf"), "w", encoding="ascii") as hba:
        hba.write(HBA)
    server.start()


def make_standby(primary):
    standby = Postgres()
    subprocess.run(standby.as_user([find_program("pg_basebackup"), "-d", f"host={primary.folder} user=abide",
                                    "-D", standby.data, "-R", "-X", "stream", "--no-sync"]),
                   check=True, cwd=standby.folder)
    return standby.start()


class LinkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Postgres()
        cls.addClassCleanup(cls.server.close)
        make_secure(cls.server)
        cls.server.query(f"CREATE ROLE guest LOGIN PASSWORD '{PLAIN}'")
        cls.server.query("CREATE SCHEMA of_guest AUTHORIZATION guest")
        cls.certificate = os.path.join(cls.server.folder, "server.crt")
        cls.standby = make_standby(cls.server)
        cls.addClassCleanup(cls.standby.close)

    def write(self, url):
        """Opens the store for writing, making it when it is not there."""
        return subprocess.run([ABIDE, "token", "create", "--name", "n", "--scope", "read", "--store", url],
                              capture_output=True, text=True)

    def assert_works(self, url):
        done = self.write(url)
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_refused(self, url, code, pattern="."):
        for done in (self.write(url), subprocess.run([ABIDE, "verify", url], capture_output=True, text=True)):
            said = done.stdout + done.stderr
            self.assertNotEqual(done.returncode, 0, said)
            self.assertIn(code, said)
            self.assertRegex(said, pattern)
            for secret in (SECRET, PLAIN):
                self.assertNotIn(secret, said)

    def tls(self, mode="verify-full", certificate=None, host="localhost", user="abide"):
        return (f"postgres://{user}@{host}/postgres?hostaddr={ADDRESS}&sslmode={mode}"
                f"&sslrootcert={certificate or self.certificate}")

    def test_tls_with_the_right_authority_and_name(self):
        self.assert_works(self.tls())
        self.assert_works(self.tls(user="guest:" + SECRET) + "&schema=of_guest")

    def test_tls_is_refused_with_a_clear_word(self):
        _, other = make_certificate(self.server.folder, "other", "localhost")
        self.assert_refused(self.tls(certificate=other), "STORE_TLS", "verify failed")
        self.assert_refused(self.tls(host="db.example"), "STORE_TLS", "db.example")
        without = Proxy(os.path.join(self.standby.folder, ".s.PGSQL.5432"))  # no TLS on a socket file
        self.assert_refused(f"postgres://abide@127.0.0.1:{without.port}/postgres?sslmode=require", "STORE_TLS")
        without.close()
        self.assert_refused(self.tls(mode="disable"), "STORE_LOGIN", "pg_hba.conf")

    def test_logins_databases_and_rights_are_told_apart(self):
        place = f"/postgres?host={self.server.folder}"
        self.assert_refused(f"postgres://guest:wrong-{SECRET}@{place}", "STORE_LOGIN", "password authentication failed")
        self.assert_refused(f"postgres://guest@{place}", "STORE_LOGIN", "password")
        self.assert_refused(f"postgres://abide@/missing?host={self.server.folder}", "STORE_NO_DATABASE", "missing")
        done = self.write(f"postgres://guest:{SECRET}@{place}")
        self.assertIn("STORE_DENIED", done.stderr)
        self.assertIn("permission denied", done.stderr)
        self.assert_works(f"postgres://guest:{SECRET}@{place}&schema=of_guest")  # which is its own

    def test_a_url_that_cannot_be_read_does_not_tell_the_password(self):
        for password in ("s3cr3t%zz", "s3cr3t/x", "s3cr3t@x/y"):
            done = self.write(f"postgres://guest:{password}@localhost/postgres")
            self.assertNotEqual(done.returncode, 0)
            self.assertNotIn("s3cr3t", done.stdout + done.stderr)

    def test_a_server_that_is_too_old_is_refused(self):
        version = self.server.query("SHOW server_version")[0][0].encode()
        proxy = Proxy(os.path.join(self.server.folder, ".s.PGSQL.5432"))
        proxy.rewrite = (b"server_version\0" + version[:2], b"server_version\x0011")
        self.assert_refused(f"postgres://abide@127.0.0.1:{proxy.port}/postgres?sslmode=disable", "STORE_SERVER",
                            "PostgreSQL 11 is too old")
        proxy.close()

    def test_of_several_hosts_the_one_that_can_be_written_is_taken(self):
        dead = os.path.join(self.server.folder, "nobody")
        for hosts in (f"{dead},{self.server.folder}", f"{self.standby.folder},{self.server.folder}",
                      f"{dead},{self.standby.folder},{self.server.folder}"):
            self.assert_works(f"postgres:///postgres?user=abide&host={hosts}&target_session_attrs=read-write")
            self.assert_works(f"postgres:///postgres?user=abide&host={hosts}")  # which is the default
        self.assert_refused(f"postgres:///postgres?user=abide&host={self.standby.folder}", "STORE_READ_ONLY")

    def test_passwords_are_shown_nowhere(self):
        urls = [f"postgres://guest:{SECRET}@localhost/postgres?hostaddr={ADDRESS}&schema=of_guest",
                f"postgres://guest@localhost/postgres?hostaddr={ADDRESS}&password={SECRET}&schema=of_guest"]
        for url in urls:
            seen = []
            for command in (["config", "print", "--store", url], ["config", "print", "-o", "json", "--store", url],
                            ["verify", url], ["verify", "-o", "json", url], ["doctor", "--store", url],
                            ["doctor", "-o", "json", "--store", url],
                            ["serve", "--listen", "0.0.0.0:0", "--store", url.replace("of_guest", "missing")]):
                done = subprocess.run([ABIDE, *command], capture_output=True, text=True, timeout=PATIENCE)
                seen += [done.stdout, done.stderr]
            node = Node(url, "--log-level", "debug")  # says all it can
            try:
                for path in ("/v1/nodes", "/v1/stats", "/metrics", "/readyz"):
                    seen.append(str(node.get(path).body))
            finally:
                node.close()
            seen += node.lines
            for text in seen:
                self.assertNotIn(SECRET, text)
                self.assertNotIn(PLAIN, text)
            self.assertIn("***", seen[0])


if __name__ == "__main__":
    tap.main()
