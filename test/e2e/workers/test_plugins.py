"""Workflows and tasks in C, loaded into a server with --plugin; and the engine's settings as a
server is told them."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from server import ABIDE, Node, Server, build_plugin, example_plugin, wait_until  # noqa: E402
from servers.postgres import Postgres  # noqa: E402
from servers.redis import Redis  # noqa: E402

SOURCE = os.environ["ABIDE_SOURCE_DIR"]

# A step leaves a line in a file each time it is executed, so that a test can see how often it was.
COUNTED = """
#include "abide.h"
#include <stdio.h>
#include <unistd.h>

static int note(abide_call *call, const char *input) {
    FILE *file = fopen("%(folder)s/effects", "a");
    if (file == NULL) return abide_throw_final(call, "Error", "no file");
    fprintf(file, "%%s\\n", abide_call_key(call));
    fclose(file);
    return abide_return(call, input);
}

static int counted(abide_ctx *ctx, const char *input) {
    const char *first, *answer, *last;
    ABIDE_TRY(abide_step(ctx, "first", note, input, &first));
    ABIDE_TRY(abide_await_signal(ctx, "go", NULL, &answer));
    ABIDE_TRY(abide_step(ctx, "last", note, answer, &last));
    return abide_complete(ctx, last);
}

static int parent(abide_ctx *ctx, const char *input) {
    const char *result;
    ABIDE_TRY(abide_child(ctx, "answer", input, &result));
    return abide_complete(ctx, result);
}

static int answer(abide_ctx *ctx, const char *input) { return abide_complete(ctx, input); }

static int init(abide_engine *engine, abide_error *error) {
    ABIDE_TRY(abide_register_workflow(engine, "counted", counted, NULL, error));
    ABIDE_TRY(abide_register_workflow(engine, "parent", parent, NULL, error));
    ABIDE_TRY(abide_register_task(engine, "note", note, NULL, error));
    return abide_register_workflow(engine, "answer", answer, NULL, error);
}

ABIDE_PLUGIN("counted", init);
"""


class PluginTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def build(self, name, text):
        return build_plugin(os.path.join(self.folder, name), text)

    def orders(self):
        return self.build("orders.so", example_plugin("plugin-orders"))

    def counted(self):
        return self.build("counted.so", COUNTED % {"folder": self.folder})

    def serve(self, *arguments):
        server = Server(*arguments, folder=self.folder)
        self.addCleanup(server.close)
        return server

    def cli(self, server, *arguments):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith("ABIDE_")}
        return subprocess.run([ABIDE, *arguments, "--server", "http://127.0.0.1:%d" % server.port],
                              capture_output=True, text=True, timeout=120, env=environment)

    def effects(self):
        with open(os.path.join(self.folder, "effects"), encoding="utf-8") as file:
            return file.read().split()


class WorkflowTest(PluginTest):
    def test_started_by_http_and_cli_killed_and_taken_up_again(self):
        server = self.serve("--plugin", self.counted())
        started = server.post("/v1/runs", {"workflow": "counted", "input": {"a": 1}, "id": "h"})
        self.assertEqual((started.status, started.json["kind"], started.json["registered"]),
                         (201, "native", True))
        self.assertEqual(self.cli(server, "wf", "start", "counted", "[2]", "--id", "c").returncode, 0)
        for run_id in ("h", "c"):
            server.wait_for(run_id, "suspended")
        server.kill()
        server.restart_on_its_port()
        for run_id in ("h", "c"):
            self.assertEqual(self.cli(server, "signal", run_id, "go", "[3]").returncode, 0)
            self.assertEqual(server.wait_for(run_id, "completed")["result"], [3])
        self.assertEqual(len(self.effects()), 4)  # two steps of two runs, each once
        self.assertEqual(len(set(self.effects())), 4)

    def test_started_by_schedules_scripts_and_each_other(self):
        server = self.serve("--plugin", self.counted())
        server.deploy("script", "return [await Workflow.run('answer', Inputs), "
                                "await Task.run('note', 5)]")
        self.assertEqual(server.run("script", {"x": 1})["result"], [{"x": 1}, 5])
        self.assertEqual(server.run("parent", {"y": 2})["result"], {"y": 2})
        answer = server.call("PUT", "/v1/schedules/often", {
            "workflow": "answer", "every": "1h", "input": {"z": 3}})
        self.assertIn(answer.status, (200, 201), answer.body)
        tick = server.post("/v1/schedules/often/trigger")
        self.assertEqual(server.wait_for(tick.json["id"], "completed")["result"], {"z": 3})

    def test_they_are_listed_with_their_kind(self):
        server = self.serve("--plugin", self.counted())
        server.deploy("script", "return 1")
        items = {item["name"]: item for item in server.get("/v1/workflows").json["items"]}
        self.assertEqual({name: item["kind"] for name, item in items.items()},
                         {"counted": "native", "parent": "native", "answer": "native",
                          "script": "flow"})
        self.assertEqual((items["counted"]["version"], items["counted"]["current"]),
                         ("native", True))
        self.assertTrue(all(item["registered"] for item in items.values()))
        listed = self.cli(server, "workflow", "ls").stdout
        self.assertRegex(listed, r"(?m)^counted +native +yes +native ")
        shown = self.cli(server, "workflow", "show", "counted").stdout
        self.assertRegex(shown, r"(?m)^registered +true$")
        self.assertEqual(server.get("/v1/workflows/counted").json["source"], None)
        answer = self.cli(server, "workflow", "show", "counted", "--source")
        self.assertEqual((answer.returncode, answer.stdout), (4, ""))
        self.assertIn("is written in C", answer.stderr)

    def test_a_name_is_a_scripts_or_cs(self):
        server = self.serve("--plugin", self.counted())
        refused = server.call("PUT", "/v1/workflows/answer", raw=b"return 1")
        self.assertEqual((refused.status, refused.json["code"]), (409, "WORKFLOW_KIND"))
        server.stop()
        plain = self.serve()  # the store knows it
        refused = plain.call("PUT", "/v1/workflows/answer", raw=b"return 1")
        self.assertEqual((refused.status, refused.json["code"]), (409, "WORKFLOW_KIND"))
        plain.deploy("order", "return 1")
        plain.stop()
        orders = self.orders()
        with self.assertRaisesRegex(RuntimeError, "order.*is a script that is deployed"):
            Server("--plugin", orders, folder=self.folder)

    def test_a_file_is_deployed_whole_or_not_at_all(self):
        both = """
workflow one() { return 1 }
workflow answer() { return 2 }
"""
        server = self.serve("--plugin", self.counted())
        refused = server.call("PUT", "/v1/workflows/one", raw=both.encode())
        self.assertEqual((refused.status, refused.json["code"]), (409, "WORKFLOW_KIND"))
        self.assertEqual(server.get("/v1/workflows/one").status, 404)
        path = os.path.join(self.folder, "one.flow")
        with open(path, "w", encoding="utf-8") as file:
            file.write(both)
        done = self.cli(server, "deploy", path)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("WORKFLOW_KIND", done.stderr)
        self.assertEqual(server.get("/v1/workflows/one").status, 404)
        server.stop()
        done = subprocess.run([ABIDE, "deploy", path, "--store", server.store], capture_output=True,
                              text=True, timeout=120)
        self.assertIn("WORKFLOW_KIND", done.stderr)
        again = self.serve()
        self.assertEqual(again.get("/v1/workflows/one").status, 404)

    def test_runs_whose_code_is_missing_wait_and_it_is_said(self):
        server = self.serve("--plugin", self.counted())
        server.post("/v1/runs", {"workflow": "counted", "id": "old"})
        server.wait_for("old", "suspended")
        server.stop()
        plain = self.serve()
        self.assertEqual(plain.post("/v1/runs", {"workflow": "counted", "id": "new"}).status, 201)
        plain.post("/v1/runs/old/signals/go", 1)
        plain.said('run new waits for workflow "counted"')
        self.assertFalse(plain.get("/v1/runs/new").json["registered"])
        self.assertTrue(plain.get("/v1/runs/new").json["waits_for_code"])
        self.assertIn("waits for a node that has a C function", self.cli(plain, "wf", "show", "new").stdout)
        found = self.cli(plain, "doctor", "-o", "json")
        self.assertIn("counted is written in C; 2 runs of it wait for a server that has it",
                      found.stdout)
        self.assertEqual(plain.post("/v1/runs", {"workflow": "nobody"}).status, 404)
        plain.stop()
        again = self.serve("--plugin", self.counted())
        again.wait_for("old", "completed")
        again.wait_for("new", "suspended")
        self.assertFalse(again.get("/v1/runs/new").json["waits_for_code"])
        self.assertNotIn("C function", self.cli(again, "wf", "show", "new").stdout)
        self.assertNotIn("written in C", self.cli(again, "doctor").stdout)


class ClusterTest:
    """One node has the plug-in, the other one has not. For either database."""

    def setUp(self):
        super().setUp()
        path = self.counted()
        self.plain = self.node()
        self.able = self.node("--plugin", path)
        self.plain.deploy("script", "return await Workflow.run('answer', Inputs)")

    def node(self, *arguments):
        name = "p" + re.sub("[^a-z]", "", self.id().rsplit(".", 1)[1])[-20:]
        url = "%s&%s=%s" % (self.database.url, self.space, name)
        node = Node(url, "--node-lease", "3s", *arguments)
        self.addCleanup(node.close)
        return node

    def start(self, run_id, workflow="counted"):
        answer = self.plain.post("/v1/runs", {"workflow": workflow, "id": run_id, "input": [1]})
        self.assertEqual((answer.status, answer.json["kind"], answer.json["registered"]),
                         (201, "native", False))

    def test_runs_get_to_the_node_that_has_their_function(self):
        ids = ["r%d" % i for i in range(20)]
        for run_id in ids:
            self.start(run_id)
        for run_id in ids:  # asked of the other one all the time
            self.plain.wait_for(run_id, "suspended")
            self.plain.post("/v1/runs/%s/signals/go" % run_id, [2])
        for run_id in ids:
            self.assertEqual(self.plain.wait_for(run_id, "completed")["result"], [2])
        self.assertEqual(len(set(self.effects())), 2 * len(ids))
        self.assertEqual(len(self.effects()), 2 * len(ids))  # each step once
        self.assertNotIn("written in C", self.cli(self.plain, "doctor").stdout)

    def test_children_of_scripts_and_ticks_of_schedules_get_there(self):
        self.assertEqual(self.plain.run("script", {"x": 1})["result"], {"x": 1})
        self.plain.call("PUT", "/v1/schedules/often", {"workflow": "answer", "every": "1h",
                                                        "input": {"z": 3}})
        tick = self.plain.post("/v1/schedules/often/trigger")
        self.assertEqual(self.plain.wait_for(tick.json["id"], "completed")["result"], {"z": 3})

    def test_scripts_go_on_while_nobody_has_the_function(self):
        self.able.stop()
        for i in range(30):
            self.start("w%d" % i, "answer")
        self.plain.deploy("alone", "return 7")
        self.assertEqual(self.plain.run("alone", {})["result"], 7)
        run = self.plain.get("/v1/runs/w0").json
        self.assertEqual((run["status"], run["waits_for_code"]), ("running", True))
        self.assertIn("30 runs of it wait for a server", self.cli(self.plain, "doctor").stdout)
        self.able = self.node("--plugin", os.path.join(self.folder, "counted.so"))
        for i in range(30):
            self.assertEqual(self.plain.wait_for("w%d" % i, "completed")["result"], [1])

    def test_a_node_that_dies_leaves_its_runs_to_one_that_has_the_function(self):
        self.start("r")
        self.able.wait_for("r", "suspended")
        self.able.kill()
        self.plain.post("/v1/runs/r/signals/go", [2])
        self.able = self.node("--plugin", os.path.join(self.folder, "counted.so"))
        self.assertEqual(self.plain.wait_for("r", "completed")["result"], [2])


class PostgresClusterTest(ClusterTest, PluginTest):
    space = "schema"

    @classmethod
    def setUpClass(cls):
        cls.database = Postgres()
        cls.database.start()

    @classmethod
    def tearDownClass(cls):
        cls.database.close()


class RedisClusterTest(ClusterTest, PluginTest):
    space = "prefix"

    @classmethod
    def setUpClass(cls):
        cls.database = Redis()
        cls.database.start()

    @classmethod
    def tearDownClass(cls):
        cls.database.close()


class LoadTest(PluginTest):
    def refused(self, *arguments, **environment):
        done = subprocess.run(
            [ABIDE, "serve", "--store", "memory:", "--listen", "127.0.0.1:0", *arguments],
            capture_output=True, text=True, timeout=60, cwd=self.folder,
            env=os.environ | environment)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_what_cannot_be_loaded_ends_the_start(self):
        self.assertIn("PLUGIN_NOT_FOUND", self.refused("--plugin", "/nowhere/x.so"))
        self.assertIn("PLUGIN_NOT_FOUND", self.refused(ABIDE_PLUGIN="/nowhere/x.so"))
        path = self.counted()
        self.assertIn("registered already", self.refused("--plugin", path, "--plugin", path))

    def test_a_settings_file_names_several(self):
        first, second = self.counted(), self.orders()
        settings = os.path.join(self.folder, "s.toml")
        with open(settings, "w", encoding="utf-8") as file:
            file.write("plugin = %s\n" % json.dumps([first, second]))
        server = self.serve("--config", settings)
        names = {item["name"] for item in server.get("/v1/workflows").json["items"]}
        self.assertEqual(names, {"counted", "parent", "answer", "order"})


class EngineSettingTest(PluginTest):
    """Each does something in a server, not only in the C library."""

    def readers(self, server):
        server.deploy("reader", "return await Event.wait('news')")
        for run_id in ("a", "b"):
            server.post("/v1/runs", {"workflow": "reader", "id": run_id})
            server.wait_for(run_id, "suspended")

    def test_event_consume_is_that_of_topics_without_a_policy(self):
        server = self.serve("--event-consume", "all")
        self.readers(server)
        self.assertEqual(server.get("/v1/topics/news").json["consume"], "all")
        self.assertEqual(server.post("/v1/events/news", 1).json["resumed"], 2)
        server.call("PUT", "/v1/topics/bounded", {"cap": 5})
        self.assertEqual(server.get("/v1/topics/bounded").json["consume"], "all")
        server.call("PUT", "/v1/topics/single", {"consume": "one"})
        self.assertEqual(server.get("/v1/topics/single").json["consume"], "one")

    def test_max_pending_events_is_the_cap_of_topics_without_one(self):
        server = self.serve("--max-pending-events-per-topic", "2")
        answers = [server.post("/v1/events/t", number) for number in range(3)]
        self.assertEqual([answer.status < 300 for answer in answers], [True, True, False])
        self.assertEqual(answers[2].json["code"], "TOPIC_FULL")

    def test_isolate_child_failures_makes_them_values(self):
        source = ("workflow main() { return await Workflow.run('broken') }\n"
                  "workflow broken() { throw new Error('no') }")
        server = self.serve("--isolate-child-failures")
        server.deploy("main", source)
        self.assertEqual(server.run("main")["result"]["error"]["cause"]["message"], "no")

    def test_timer_resolution_gathers_timers(self):
        server = self.serve("--timer-resolution", "700ms")
        # One that is over before the run is parked is no timer any more, so not too short.
        server.deploy("sleeper", "const began = Date.now(); await Timer.delay('1500ms'); "
                                 "return [began, Date.now()]")
        began, woken = server.run("sleeper")["result"]
        self.assertGreaterEqual(woken, -(-(began + 1500) // 700) * 700)

    def test_the_retry_policy_of_the_store_is_checked_as_one(self):
        done = subprocess.run(
            [ABIDE, "serve", "--store", "memory:", "--listen", "127.0.0.1:0",
             "--store-retry-delay", "9s"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("store_retry_max_delay is shorter", done.stderr)


if __name__ == "__main__":
    tap.main()
