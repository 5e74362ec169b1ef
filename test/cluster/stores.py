"""The stores that clusters are tried on. Each is a context: url(i) for node i, kill(), start(), cut_count,
save_log(path)."""
import os
import shutil
import subprocess
import time

from servers.postgres import Postgres, find_program
from servers.proxy import Proxy
from servers.redis import Redis

SOCKET = ".s.PGSQL.5432"
PROMOTE_SECONDS = 60


class OneServer:
    """A store on one server that can be killed."""
    cut_count = 0
    server = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.server.close()

    def url(self, _):
        return self.server.url

    def start(self):
        self.server.start()

    def kill(self):
        self.server.kill()

    def save_log(self, path):
        shutil.copyfile(os.path.join(self.server.folder, "log"), path)


class PostgresStore(OneServer):
    def __init__(self, node_count):
        self.server = Postgres()


class RedisStore(OneServer):
    """With appendfsync always: what was acknowledged is in its log."""

    def __init__(self, node_count):
        self.server = Redis()


class CutStore(PostgresStore):
    """Each node has a way to the server of its own, which can be cut."""

    def __init__(self, node_count):
        super().__init__(node_count)
        self.proxies = [Proxy(os.path.join(self.server.folder, SOCKET)) for _ in range(node_count)]

    def __exit__(self, *_):
        for proxy in self.proxies:
            proxy.close()
        super().__exit__()

    def url(self, i):
        return f"postgres://abide@127.0.0.1:{self.proxies[i].port}/postgres?sslmode=disable"

    @property
    def cut_count(self):
        return sum(proxy.cut_count for proxy in self.proxies)


class PairStore:
    """A primary and a standby that has everything before anybody is told; the URL names both."""
    cut_count = 0

    def __init__(self, node_count):
        self.primary = Postgres()
        self.standby = Postgres()

    def __enter__(self):
        try:
            self.primary.start()
            self.follow()
            return self
        except BaseException:
            self.__exit__()
            raise

    def __exit__(self, *_):
        self.primary.close()
        self.standby.close()

    def url(self, _):
        hosts = ",".join(sorted((self.primary.folder, self.standby.folder)))
        return f"postgres:///postgres?host={hosts}&user=abide"

    def save_log(self, path):
        with open(path, "wb") as file:
            for server in (self.primary, self.standby):
                with open(os.path.join(server.folder, "log"), "rb") as log:
                    shutil.copyfileobj(log, file)

    def follow(self):
        """Makes the standby anew from the primary; from then on the primary waits for it."""
        shutil.rmtree(self.standby.data, ignore_errors=True)
        source = f"host={self.primary.folder} user=abide"
        subprocess.run(self.standby.as_user([find_program("pg_basebackup"), "-d", source, "-D", self.standby.data,
                                             "-R", "-c", "fast", "--no-sync"]),
                       check=True, cwd=self.standby.folder)
        # Once it is promoted there is nobody to wait for.
        with open(os.path.join(self.standby.data, "postgresql.auto.conf"), "a", encoding="utf-8") as settings:
            settings.write("synchronous_standby_names = ''\n")
        self.standby.start()
        self.wait_for(self.primary, "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", "1")
        self.primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.query("SELECT pg_reload_conf()")
        self.wait_for(self.primary, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'", "1")

    def wait_for(self, server, sql, value):
        deadline = time.monotonic() + PROMOTE_SECONDS
        while server.query(sql) != [[value]]:
            if time.monotonic() > deadline:
                raise RuntimeError("still not %s: %s" % (value, sql))
            time.sleep(0.05)

    def promote(self):
        """The primary is gone for good; what it had told anybody, the standby has."""
        self.primary.kill()
        self.primary, self.standby = self.standby, self.primary
        self.primary.query("SELECT pg_promote(true, %d)" % PROMOTE_SECONDS)
        self.wait_for(self.primary, "SELECT pg_is_in_recovery()", "f")
        self.follow()


STORES = {"postgres": PostgresStore, "cut": CutStore, "pair": PairStore, "redis": RedisStore}
