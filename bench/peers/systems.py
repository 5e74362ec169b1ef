"""The systems that bench/peers.py compares: how each is started, and with which settings.

A system has a folder of its own for its data, and its name, its settings in words, and how many callers
it is given for the throughput workload. Durable means the same everywhere: what was answered survives
kill -9 and the loss of power, which costs each of them an fsync per commit.
"""
import os
import pathlib
import re
import subprocess
import time
import urllib.request

import postgres
from processes import Driver, PeerFailed, end, free_port, guarded, kill

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ["ABIDE_BUILD_DIR"])


class System:
    """Starts in start(); the driver obeys the commands of driver.mjs."""

    name = None
    settings = ""  # in words, for the table
    callers = (64, 256, 1000)
    is_peer = True

    def __init__(self, folder, packages=None):
        self.folder = folder
        self.packages = packages
        self.data = os.path.join(folder, "data")
        self.log = os.path.join(folder, "log")
        self.driver = None
        os.makedirs(self.data, exist_ok=True)

    def start(self):
        raise NotImplementedError

    def processes(self):
        return [self.driver.process.pid]

    def kill(self):
        """All of it at once, as a power failure would; start() begins again on what was stored."""
        self.driver.kill()
        self.driver = None

    def stop(self):
        if self.driver:
            self.driver.close()
            self.driver = None

    def ask(self, *words, **options):
        return self.driver.ask(*words, **options)


class AbideNative(System):
    name = "abide (C)"
    settings = "workflows are C functions in the process; SQLite, synchronous=FULL"
    callers = (0,)  # all runs are in flight at once
    is_peer = False
    kind = "native"

    def start(self):
        self.driver = Driver([BUILD / "bench" / "peers-abide", self.kind, f"sqlite:{self.data}/abide.db"], self.log)


class AbideFlow(AbideNative):
    name = "abide (flow)"
    settings = "scripts in the process, tasks are C functions; SQLite, synchronous=FULL"
    kind = "flow"


class AbideNode(System):
    name = "abide (Node worker)"
    settings = "a server on SQLite, synchronous=FULL; tasks in one Node process, over HTTP; lease 5 s"
    is_peer = False
    program = "abide.mjs"

    def __init__(self, folder, packages=None):
        super().__init__(folder, packages)
        self.server = None
        self.port = None

    def start(self):
        with open(self.log, "ab") as log:
            self.server = subprocess.Popen(
                guarded([BUILD / "abide", "serve", "--store", f"sqlite:{self.data}/abide.db", "--listen",
                         "127.0.0.1:0"]), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.PIPE, text=True)
        self.port = self.find_port()
        self.driver = Driver(["node", HERE / self.program], self.log,
                             {"ABIDE_SERVER": f"http://127.0.0.1:{self.port}", "PEERS_CONCURRENCY": "1000",
                              "NODE_ENV": "production"})

    def find_port(self):
        for line in self.server.stderr:
            if found := re.search(r"listening on http://127\.0\.0\.1:(\d+)", line):
                return found.group(1)
        raise PeerFailed("abide serve did not come up")

    def processes(self):
        return [self.server.pid, self.driver.process.pid]

    def kill(self):
        kill(self.server)
        self.server.stderr.close()
        super().kill()

    def stop(self):
        super().stop()
        if self.server:
            end(self.server)
            self.server.stderr.close()
            self.server = None


class AbideCode(AbideNode):
    name = "abide (Node workflows)"
    settings = "a server on SQLite, synchronous=FULL; workflows are functions in one Node process, over HTTP; lease 5 s"
    program = "abide_code.mjs"


class Restate(System):
    name = "Restate"
    settings = "as installed: one node, RocksDB log with fsync; service in one Node process"
    idle_ms = ""
    environment = {}

    def __init__(self, folder, packages=None):
        super().__init__(folder, packages)
        self.server = None
        self.ports = {name: free_port() for name in ("ingress", "admin", "node", "service")}

    def address(self, name):
        return f"127.0.0.1:{self.ports[name]}"

    def program(self):
        found = sorted(pathlib.Path(self.packages, "node_modules/@restatedev").glob(
            "restate-server-*/bin/restate-server"))
        if not found:
            raise PeerFailed("npm has no restate-server for this machine")
        return found[0]

    def start(self):
        environment = {
            **os.environ, **self.environment, "DO_NOT_TRACK": "1", "RESTATE_DISABLE_TELEMETRY": "true",
            "RESTATE_LOG_FILTER": "warn", "RESTATE_BIND_ADDRESS": self.address("node"),
            "RESTATE_ADVERTISED_ADDRESS": f"http://{self.address('node')}/",
            "RESTATE_INGRESS__BIND_ADDRESS": self.address("ingress"),
            "RESTATE_ADMIN__BIND_ADDRESS": self.address("admin")}
        with open(self.log, "ab") as log:
            self.server = subprocess.Popen(
                guarded([self.program(), "--base-dir", self.data, "--node-name", "peers"]), stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, env=environment, cwd=self.folder)
        for name, path in (("admin", "/health"), ("ingress", "/restate/health")):
            self.wait_for(f"http://{self.address(name)}{path}")
        self.driver = Driver(
            ["node", os.path.join(self.packages, "restate.mjs")], self.log,
            {"PEERS_INGRESS": f"http://{self.address('ingress')}", "PEERS_ADMIN": f"http://{self.address('admin')}",
             "PEERS_PORT": str(self.ports["service"]), "PEERS_IDLE": self.idle_ms, "RESTATE_LOGGING": "ERROR"})

    def wait_for(self, url, seconds=60):
        limit = time.monotonic() + seconds
        while True:
            try:
                urllib.request.urlopen(url, timeout=5).close()
                return
            except OSError:
                if self.server.poll() is not None or time.monotonic() > limit:
                    raise PeerFailed(f"restate-server did not come up; see {self.log}") from None
                time.sleep(0.02)

    def processes(self):
        return [self.server.pid, self.driver.process.pid]

    def kill(self):
        kill(self.server)
        super().kill()

    def stop(self):
        super().stop()
        end(self.server)
        self.server = None


class RestateTuned(Restate):
    name = "Restate, tuned"
    settings = "4 partitions, 10,000 invocations at once, handlers that wait are suspended after 1 s"
    idle_ms = "1000"
    environment = {"RESTATE_DEFAULT_NUM_PARTITIONS": "4",
                   "RESTATE_WORKER__INVOKER__CONCURRENT_INVOCATIONS_LIMIT": "10000"}


class Dbos(System):
    name = "DBOS"
    settings = "as installed, in one Node process; PostgreSQL with its own defaults"
    pool = ""
    postgres_settings = {"fsync": "on", "shared_buffers": "128MB", "max_wal_size": "1GB", "max_connections": "100"}

    def __init__(self, folder, packages=None):
        super().__init__(folder, packages)
        self.database = postgres.Postgres(self.postgres_settings, folder=self.data)

    def start(self):
        self.database.start()
        url = f"postgresql://abide@localhost/dbos?host={self.data}"
        self.driver = Driver(["node", os.path.join(self.packages, "dbos.mjs")], self.log,
                             {"PEERS_POSTGRES": url, "PEERS_POOL": self.pool})

    def processes(self):
        return [self.database.process.pid, self.driver.process.pid]

    def kill(self):
        self.database.kill()
        super().kill()

    def stop(self):
        super().stop()
        self.database.stop()


class DbosTuned(Dbos):
    name = "DBOS, tuned"
    settings = "50 connections; PostgreSQL with shared_buffers=1GB, max_wal_size=8GB, wal_compression, commit_delay"
    pool = "50"
    postgres_settings = {**Dbos.postgres_settings, "shared_buffers": "1GB", "max_wal_size": "8GB",
                         "wal_compression": "on", "checkpoint_timeout": "30min", "commit_delay": "100",
                         "commit_siblings": "5"}


SYSTEMS = {"abide-c": AbideNative, "abide-flow": AbideFlow, "abide-node": AbideNode,
           "abide-code": AbideCode, "restate": Restate,
           "restate-tuned": RestateTuned, "dbos": Dbos, "dbos-tuned": DbosTuned}
