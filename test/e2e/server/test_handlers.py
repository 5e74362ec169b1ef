"""The handler API against the real server, by a client that takes nothing for granted.

It is written from the protocol's description: all keys must be there, statuses are the four the
protocol knows, streams are framed to the byte, and an error is {"detail": text}.
"""
import http.client
import json
import os
import re
import socket
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from handlers import TIME, Client  # noqa: E402
from server import PATIENCE, Server, ServerTest, wait_until  # noqa: E402

GREETER = """
export const config = { events: ['Approved', 'Denied'],
  input: { type: 'object', properties: { name: { type: 'string' } } } }
Stream.write({ hello: Inputs.name }, 'Greeting')
Stream.write(5)
Stream.write({ a: 1 }, { type: 'Child', types: ['Parent', 'Event'] })
const approved = await Signal.when('Approved', { timeout: '1h' })
await Task.run('log', { message: 'approved' })
return { name: Inputs.name, by: approved.by }
"""


class HandlerTest(ServerTest):
    def setUp(self):
        super().setUp()
        self.client = Client(self.server.port)
        self.server.deploy("greeter", GREETER)
        self.server.deploy("bad", "throw new TypeError('no good')")
        self.server.deploy("echo", "return Inputs")

    def start(self, handler_id, **more):
        status, handler = self.client.handler(
            "POST", "/workflows/greeter/run-nowait",
            {"start_event": {"name": "Ann"}, "handler_id": handler_id, **more})
        self.assertEqual((status, handler["status"]), (200, "running"))
        self.server.wait_for(handler_id, "suspended")
        return handler

    def approve(self, handler_id, by="bob"):
        return self.client.call("POST", "/events/" + handler_id,
                                {"event": {"type": "Approved", "value": {"by": by}}})

    def assert_refused(self, answer, status, detail):
        self.assertEqual(answer[0], status, answer)
        self.assertRegex(answer[1]["detail"], detail)


class WorkflowsTest(HandlerTest):
    def test_health(self):
        self.assertEqual(self.client.call("GET", "/health"), (200, {"status": "healthy"}))

    def test_names(self):
        status, value = self.client.call("GET", "/workflows")
        self.assertEqual((status, sorted(value["workflows"])), (200, ["bad", "echo", "greeter"]))

    def test_schemas_come_from_the_definition(self):
        status, value = self.client.call("GET", "/workflows/greeter/schema")
        self.assertEqual(status, 200)
        self.assertEqual(value["start"]["properties"], {"name": {"type": "string"}})
        self.assertEqual(value["stop"]["type"], "object")
        self.assert_refused(self.client.call("GET", "/workflows/no/schema"), 404,
                            "^Workflow not found$")

    def test_events_are_those_listed_and_those_in_the_script(self):
        status, value = self.client.call("GET", "/workflows/greeter/events")
        self.assertEqual((status, [e["title"] for e in value["events"]]),
                         (200, ["Approved", "Denied", "Greeting"]))
        self.assert_refused(self.client.call("GET", "/workflows/no/events"), 404, "not found")

    def test_the_graph_shows_tasks_signals_and_children(self):
        self.server.deploy("parent", "await Workflow.run('echo', 1)\nreturn Event.wait('late')")
        status, value = self.client.call("GET", "/workflows/parent/representation")
        graph = value["graph"]
        self.assertEqual((status, set(graph)), (200, {"name", "nodes", "edges", "description"}))
        labels = {node["id"]: node["label"] for node in graph["nodes"]}
        self.assertEqual(labels["Workflow:echo"], "echo")
        edges = {(edge["source"], edge["target"]) for edge in graph["edges"]}
        self.assertIn(("parent", "Workflow:echo"), edges)
        self.assertIn(("Event:late", "parent"), edges)
        self.assertIn(("StartEvent", "parent"), edges)
        self.assertTrue(all(s in labels and t in labels for s, t in edges))
        self.assert_refused(self.client.call("GET", "/workflows/no/representation"), 404, "found")


class RunTest(HandlerTest):
    def test_run_waits_for_the_end(self):
        status, handler = self.client.handler("POST", "/workflows/echo/run",
                                              {"start_event": {"a": 1}})
        self.assertEqual((status, handler["status"], handler["error"]), (200, "completed", None))
        self.assertEqual(handler["result"], {
            "value": {"result": {"a": 1}}, "qualified_name": "workflows.events.StopEvent",
            "type": "StopEvent", "types": None})
        self.assertIsNotNone(handler["completed_at"])

    def test_all_forms_of_a_start_event(self):
        forms = [
            ({"start_event": {"name": "x"}}, {"name": "x"}),
            ({"start_event": {"_data": {"name": "x"}}}, {"name": "x"}),
            ({"start_event": {"k": 1, "_data": {"name": "x"}}}, {"k": 1, "name": "x"}),
            ({"start_event": {"value": {"name": "x"}, "type": "StartEvent"}}, {"name": "x"}),
            ({"start_event": {"data": {"name": "x"}, "qualified_name": "a.StartEvent"}},
             {"name": "x"}),
            ({"start_event": json.dumps({"name": "x"})}, {"name": "x"}),
            ({"start_event": json.dumps({"value": {"_data": {"name": "x"}}, "type": None})},
             {"name": "x"}),
            ({"kwargs": {"name": "x"}}, {"name": "x"}),
            ({"start_event": {"name": "x"}, "kwargs": {"name": "y", "z": 2}},
             {"name": "x", "z": 2}),
            ({"context": {}}, {}),
            ({"start_event": {"value": {"name": "x"}, "type": "MyStart"}}, {"name": "x"}),
            ({"start_event": {"__is_pydantic": True, "value": {"_data": {"name": "x"}},
                              "qualified_name": "workflows.events.StartEvent"}}, {"name": "x"}),
            ({}, {}),
        ]
        for body, inputs in forms:
            status, handler = self.client.handler("POST", "/workflows/echo/run", body)
            self.assertEqual((status, handler["result"]["value"]),
                             (200, {"result": inputs}), body)

    def test_a_result_of_null_is_an_empty_event(self):
        self.server.deploy("nothing", "return null")
        _, handler = self.client.handler("POST", "/workflows/nothing/run", {})
        self.assertEqual(handler["result"]["value"], {})

    def test_failure_answers_500_with_the_handler(self):
        status, handler = self.client.handler("POST", "/workflows/bad/run", {})
        self.assertEqual((status, handler["status"], handler["error"], handler["result"]),
                         (500, "failed", "no good", None))

    def test_who_does_not_wait_is_answered_200_however_quickly_it_fails(self):
        for _ in range(20):
            status, _ = self.client.handler("POST", "/workflows/bad/run-nowait", {})
            self.assertEqual(status, 200)

    def test_a_result_that_is_not_there_is_null(self):
        self.server.deploy("silent", "const nothing = 1")
        _, handler = self.client.handler("POST", "/workflows/silent/run", {"handler_id": "s"})
        self.assertEqual(handler["result"]["value"], {})
        self.assertEqual(self.client.handler("GET", "/results/s")[1]["result"], None)

    def test_bad_bodies(self):
        invalid = "^Validation error for 'start_event': "
        for body, detail in ((None, "^Invalid JSON body: "), ("{bad", "^Invalid JSON body: .*line 1"),
                             ("[1]", "^Error processing request body: .*object"),
                             ({"context": {"a": 1}}, "^Context API is disabled"),
                             ({"kwargs": 1}, "kwargs"), ({"start_event": 5}, invalid + ".*object"),
                             ({"start_event": "{"}, invalid + ".*line 1"),
                             ({"handler_id": 7}, "handler_id")):
            for route in ("run", "run-nowait"):
                answer = self.client.call("POST", "/workflows/echo/" + route, body)
                self.assert_refused(answer, 400, detail)
        self.assert_refused(self.client.call("POST", "/workflows/no/run"), 404,
                            "^Workflow not found$")
        self.assert_refused(self.client.call("POST", "/workflows/no/run-nowait", {}), 404,
                            "^Workflow not found$")

    def test_a_start_event_of_the_wrong_class_is_refused(self):
        wrong = [{"__is_pydantic": True, "value": {"_data": {"name": "x"}},
                  "qualified_name": "workflows.events.StopEvent"},
                 {"value": {}, "type": "HumanResponseEvent"}]
        for event in wrong:
            answer = self.client.call("POST", "/workflows/echo/run", {"start_event": event})
            self.assert_refused(answer, 400, "^Start event must be an instance of StartEvent")
        # A workflow that names the class takes no other.
        self.server.deploy("titled", """export const config = { input: { title: 'OrderPlaced' } }
            return Inputs""")
        run = lambda event: self.client.call("POST", "/workflows/titled/run", {"start_event": event})
        self.assertEqual(run({"value": {"n": 1}, "type": "OrderPlaced"})[0], 200)
        self.assertEqual(run({"n": 1})[0], 200)
        self.assert_refused(run({"value": {"n": 1}, "qualified_name": "app.OrderSent"}), 400,
                            "^Start event must be an instance of OrderPlaced")

    def test_a_handler_id_is_used_again_only_after_the_end(self):
        first = self.start("h1")
        again = {"start_event": {"name": "Zoe"}, "handler_id": "h1"}
        self.assert_refused(self.client.call("POST", "/workflows/greeter/run-nowait", again), 409,
                            "running")
        self.approve("h1")
        self.server.wait_for("h1", "completed")
        _, ended = self.client.handler("GET", "/handlers/h1")
        second = self.start("h1")
        self.approve("h1", "eve")
        self.server.wait_for("h1", "completed")
        _, handler = self.client.handler("GET", "/handlers/h1")
        self.assertEqual(handler["result"]["value"]["result"]["by"], "eve")
        # Runs have ids of their own, which stay.
        self.assertRegex(first["run_id"], "^run_[0-9a-z]{26}$")
        self.assertEqual((first["run_id"], second["run_id"]), (ended["run_id"], handler["run_id"]))
        self.assertNotEqual(first["run_id"], second["run_id"])


class HandlersTest(HandlerTest):
    def test_one_handler_through_its_life(self):
        self.start("h1")
        status, handler = self.client.handler("GET", "/handlers/h1")
        self.assertEqual((status, handler["status"], handler["result"]), (202, "running", None))
        self.assertEqual(handler["workflow_name"], "greeter")
        self.assertEqual(self.client.handler("GET", "/results/h1")[0], 202)
        self.assertEqual(self.approve("h1"), (200, {"status": "sent"}))
        self.server.wait_for("h1", "completed")
        self.assertEqual(self.client.handler("GET", "/handlers/h1")[0], 200)
        status, handler = self.client.handler("GET", "/results/h1")
        self.assertEqual((status, handler["result"]), (200, {"name": "Ann", "by": "bob"}))
        for path in ("/handlers/no", "/results/no", "/events/no"):
            self.assert_refused(self.client.call("GET", path), 404, "^Handler not found$")

    def test_cancel_and_purge(self):
        self.start("h1")
        self.assertEqual(self.client.call("POST", "/handlers/h1/cancel"),
                         (200, {"status": "cancelled"}))
        status, handler = self.client.handler("GET", "/handlers/h1")
        self.assertEqual((status, handler["status"]), (500, "cancelled"))
        self.assert_refused(self.client.call("POST", "/handlers/h1/cancel"), 404,
                            "^Handler not found$")
        self.assertEqual(self.client.call("POST", "/handlers/h1/cancel?purge=true"),
                         (200, {"status": "deleted"}))
        self.assert_refused(self.client.call("GET", "/handlers/h1"), 404, "^Handler not found$")
        self.start("h2")
        self.assertEqual(self.client.call("POST", "/handlers/h2/cancel?purge=true"),
                         (200, {"status": "deleted"}))
        for path in ("/handlers/h2/cancel", "/handlers/h2/cancel?purge=true"):
            self.assert_refused(self.client.call("POST", path), 404, "^Handler not found$")


class ReleaseTest(HandlerTest):
    def test_release_and_reload(self):
        self.start("h1")
        self.assertEqual(self.client.call("POST", "/handlers/h1/release"),
                         (200, {"status": "released"}))
        handler = self.client.handler("GET", "/handlers/h1")[1]
        self.assertEqual((handler["status"], handler["released"]), ("running", True))
        self.assertTrue(TIME.match(handler["idle_since"]))
        seen = []
        path = "/events/h1?include_internal=true"
        reader = threading.Thread(target=lambda: seen.extend(self.client.stream(path)))
        reader.start()
        while "abide_sse_connections 1" not in self.server.get("/metrics").body:
            pass
        self.assertFalse(self.client.handler("GET", "/handlers/h1")[1]["released"])
        self.assert_refused(self.client.call("POST", "/handlers/h1/release"), 409, "read")
        self.approve("h1")
        reader.join(PATIENCE)
        kinds = [envelope["type"] for _, envelope in seen]
        for kind in ("WorkflowIdleEvent", "WorkflowReleasedEvent", "WorkflowReloadedEvent"):
            self.assertEqual(kinds.count(kind), 1, kinds)
        self.assertEqual(kinds[-1], "StopEvent")

    def test_what_cannot_be_released(self):
        self.assert_refused(self.client.call("POST", "/handlers/no/release"), 404,
                            "^Handler not found$")
        self.server.deploy("busy", "await Task.run('nobody')")
        self.client.handler("POST", "/workflows/busy/run-nowait", {"handler_id": "b"})
        self.server.wait_for("b", "suspended")
        self.assert_refused(self.client.call("POST", "/handlers/b/release"), 409, "work")


class ListTest(HandlerTest):
    def test_pages_and_filters(self):
        for name in ("a", "b", "c"):
            self.start(name)
        self.client.handler("POST", "/workflows/bad/run", {"handler_id": "d"})

        def ids(query):
            status, value = self.client.call("GET", "/handlers" + query)
            self.assertEqual(status, 200)
            return [handler["handler_id"] for handler in value["handlers"]]

        self.assertEqual(ids(""), ["a", "b", "c", "d"])
        self.assertEqual(ids("?status=running"), ["a", "b", "c"])
        self.assertEqual(ids("?status=failed&status=running&workflow_name=bad"), ["d"])
        self.assertEqual(ids("?workflow_name=bad&workflow_name=greeter"), ["a", "b", "c", "d"])
        self.assertEqual(ids("?status=&workflow_name="), ["a", "b", "c", "d"])
        self.assertEqual(ids("?status=suspended"), [])
        self.assertEqual(ids("?idle_before=2100-01-01T00:00:00Z"), ["a", "b", "c"])
        self.assertEqual(ids("?idle_before=2000-01-01T00:00:00Z"), [])
        status, value = self.client.call("GET", "/handlers?limit=3")
        self.assertEqual((status, len(value["handlers"])), (200, 3))
        self.assertEqual(ids("?limit=3&cursor=" + value["next"]), ["d"])


class FindTest(HandlerTest):
    def test_handlers_are_found_by_their_ids(self):
        for name in ("a", "b", "c"):
            self.start(name)
        self.client.handler("POST", "/workflows/bad/run", {"handler_id": "d"})

        def ids(query):
            status, value = self.client.call("GET", "/handlers" + query)
            self.assertEqual(status, 200)
            return [handler["handler_id"] for handler in value["handlers"]]

        self.assertEqual(ids("?handler_id=c&handler_id=a&handler_id=nobody&handler_id=c"),
                         ["a", "c"])
        self.assertEqual(ids("?handler_id=a&handler_id=d&status=failed"), ["d"])
        self.assertEqual(ids("?handler_id=a&workflow_name=bad"), [])
        self.assertEqual(ids("?handler_id="), ["a", "b", "c", "d"])
        self.assertEqual(ids("?handler_id=nobody"), [])

    def test_parameters_nobody_knows_are_refused(self):
        for query in ("?workflow=greeter", "?status=running&handler_ids=a"):
            self.assert_refused(self.client.call("GET", "/handlers" + query), 400,
                                "^Unknown parameter: (workflow|handler_ids)$")
        self.assert_refused(self.client.call("GET", "/handlers?limit=many"), 400, "limit")
        self.assert_refused(self.client.call("GET", "/handlers?%zz"), 400, "query")


class LongListTest(HandlerTest):
    def test_a_list_of_any_length_is_one_answer(self):
        # Over the 64 MiB that other answers may have: 70 results of a megabyte each. Sanitizers see
        # the same with fewer: what leaves memory does so from one megabyte on.
        count = 5 if "ABIDE_TEST_SANITIZED" in os.environ else 70
        self.server.deploy("large", "return 'x'.repeat(1000000)")
        for number in range(count):
            self.client.handler("POST", "/workflows/large/run", {"handler_id": "l%d" % number})
        self.start("small")
        status, value = self.client.call("GET", "/handlers")
        self.assertEqual((status, len(value["handlers"])), (200, count + 1))
        results = [handler["result"]["value"]["result"] for handler in value["handlers"]
                   if handler["result"]]
        self.assertEqual(set(results), {"x" * 1000000})
        _, one = self.client.call("GET", "/handlers?status=running")
        self.assertEqual([handler["handler_id"] for handler in one["handlers"]], ["small"])


class SlowReadersTest(unittest.TestCase):
    """Long answers that nobody takes: their number and their size have a ceiling."""

    FILES = 16

    def setUp(self):
        self.server = Server("--max-spill-size", "500M")
        self.addCleanup(self.server.close)
        self.server.deploy("large", "return 'x'.repeat(500000)")
        for number in range(40):
            self.server.run("large", id="l%d" % number)
        self.readers = []
        self.addCleanup(lambda: [reader.close() for reader in self.readers])

    def read_slowly(self):
        """Asks for all handlers and takes nothing but the head; answers the status."""
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        reader.settimeout(PATIENCE)
        reader.connect(("127.0.0.1", self.server.port))
        reader.sendall(b"GET /handlers HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        self.readers.append(reader)
        head = reader.recv(100).decode()
        while "\r\n" not in head:
            head += reader.recv(100).decode()
        return int(head.split()[1])

    def ask(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        connection.request("GET", path)
        response = connection.getresponse()
        answer = response.status, response.headers, response.read()
        connection.close()
        return answer

    def files(self):
        """What the server has open that has no name."""
        folder = "/proc/%d/fd" % self.server.process.pid
        count = 0
        for name in os.listdir(folder):
            if int(name) <= 2:  # where its words go may be such a file too
                continue
            try:
                target = os.readlink(os.path.join(folder, name))
            except FileNotFoundError:
                continue
            count += target.endswith("(deleted)") and os.path.dirname(target) == tempfile.gettempdir()
        return count

    def test_the_number_of_files_is_bounded_and_they_go_with_their_readers(self):
        for _ in range(self.FILES):
            self.assertEqual(self.read_slowly(), 200)
        self.assertEqual(self.files(), self.FILES)
        status, headers, body = self.ask("/handlers")
        self.assertEqual((status, list(json.loads(body))), (503, ["detail"]))
        self.assertEqual(headers["Retry-After"], "1")
        self.assertEqual(self.ask("/handlers?limit=1")[0], 200)
        self.assertEqual(self.ask("/handlers/l1")[0], 200)
        for reader in self.readers:
            reader.close()
        wait_until(lambda: self.ask("/handlers")[0] == 200)
        wait_until(lambda: self.files() == 0)

    def test_the_bytes_together_are_bounded(self):
        self.server.stop()
        self.server.arguments = ("--max-spill-size", "50M")
        self.server.restart_on_its_port()
        self.assertEqual([self.read_slowly() for _ in range(3)], [200, 200, 503])
        self.assertEqual(self.files(), 2)
        self.readers[0].close()
        wait_until(lambda: self.ask("/handlers")[0] == 200)


class EventsTest(HandlerTest):
    def test_what_is_posted_is_checked(self):
        self.start("h1")
        failed, bad = "^Failed to deserialize event: .*", "^Error processing request: .*"
        for body, detail in (({}, "^Event data is required$"), (None, bad),
                             ({"event": None}, "^Event data is required$"),
                             ({"event": {}}, "^Event data is required$"),
                             ({"event": {"value": {}}}, failed + "type"),
                             ({"event": [1]}, failed + "object"),
                             ({"event": "{"}, failed + "line 1"), ("nonsense", bad + "line 1"),
                             ("[]", bad + "object")):
            self.assert_refused(self.client.call("POST", "/events/h1", body), 400, detail)
        self.assert_refused(self.client.call("POST", "/events/no", {}), 400, "required")
        self.assert_refused(self.client.call("POST", "/events/no", {"event": "{}"}), 404, "not found")
        self.assert_refused(
            self.client.call("POST", "/events/h1", {"event": {"type": "Foo", "value": {}}}), 400,
            "^Invalid event type: Foo. Expected one of Approved, Denied$")
        self.assert_refused(self.approve("no"), 404, "^Handler not found$")
        self.approve("h1")
        self.server.wait_for("h1", "completed")
        self.assert_refused(self.approve("h1"), 409, "^Workflow already completed$")

    def test_forms_of_posted_events(self):
        forms = [{"type": "Approved", "value": {"_data": {"by": "x"}}},
                 {"qualified_name": "app.events.Approved", "value": {"by": "x"}},
                 json.dumps({"type": "Approved", "data": {"by": "x"}})]
        for number, event in enumerate(forms):
            name = "h%d" % number
            self.start(name)
            body = {"event": event, "step": "any"}
            self.assertEqual(self.client.call("POST", "/events/" + name, body)[0], 200)
            self.assertEqual(self.server.wait_for(name, "completed")["result"]["by"], "x")

    def test_an_event_may_have_no_value(self):
        self.server.deploy("bare", "return await Signal.next('Ping')")
        self.client.handler("POST", "/workflows/bare/run-nowait", {"handler_id": "b"})
        body = {"event": {"type": "Ping", "qualified_name": None}}
        self.assertEqual(self.client.call("POST", "/events/b", body)[0], 200)
        self.assertEqual(self.server.wait_for("b", "completed")["result"], {})
        # A start event's own field may have that name.
        _, handler = self.client.handler("POST", "/workflows/echo/run",
                                         {"start_event": {"type": "car"}})
        self.assertEqual(handler["result"]["value"], {"result": {"type": "car"}})

    def test_readers_are_told_of_events_nobody_waits_for(self):
        self.server.deploy("gate", "return await Signal.next('Go')")
        self.client.handler("POST", "/workflows/gate/run-nowait", {"handler_id": "g"})
        self.server.wait_for("g", "suspended")
        for kind in ("Odd", "Go"):
            body = {"event": {"type": kind, "value": {}}}
            self.assertEqual(self.client.call("POST", "/events/g", body)[0], 200)
        self.server.wait_for("g", "completed")
        path = "/events/g?include_internal=true&after_sequence=-1"
        seen = [envelope for _, envelope in self.client.stream(path)
                if envelope["type"] == "UnhandledEvent"]
        self.assertEqual([envelope["value"] for envelope in seen], [
            {"event_type": "Odd", "qualified_name": "Odd", "step_name": None, "idle": True}])
        self.assertEqual(seen[0]["types"], ["InternalDispatchEvent"])
        plain = [envelope["type"] for _, envelope in
                 self.client.stream("/events/g?after_sequence=-1")]
        self.assertEqual(plain, ["StopEvent"])

    def test_an_event_is_kept_until_a_wait_takes_it(self):
        self.server.deploy("slow", "await Timer.delay('300ms')\nreturn Signal.next('Late')")
        self.client.handler("POST", "/workflows/slow/run-nowait", {"handler_id": "s"})
        body = {"event": {"type": "Late", "value": {"n": 1}}}
        self.assertEqual(self.client.call("POST", "/events/s", body)[0], 200)
        self.assertEqual(self.server.wait_for("s", "completed")["result"], {"n": 1})

    def test_the_stream_has_what_was_written_and_the_end(self):
        self.start("h1")
        seen = []
        reader = threading.Thread(target=lambda: seen.extend(self.client.stream("/events/h1")))
        reader.start()
        self.approve("h1")
        reader.join(PATIENCE)
        self.assertEqual([envelope["type"] for _, envelope in seen],
                         ["Greeting", "StreamEvent", "Child", "StopEvent"])
        self.assertEqual(seen[1][1]["value"], {"result": 5})
        self.assertEqual(seen[2][1]["types"], ["Parent", "Event"])
        self.assertEqual(seen[3][1]["value"], {"result": {"name": "Ann", "by": "bob"}})
        numbers = [number for number, _ in seen]
        self.assertEqual(numbers, sorted(set(numbers)))
        # Any number of readers, also after the end; and from the middle.
        self.assertEqual(list(self.client.stream("/events/h1?after_sequence=-1")), seen)
        self.assertEqual(list(self.client.stream("/events/h1", last_event_id="not ours")), seen)
        path = "/events/h1?after_sequence=%d" % numbers[1]
        self.assertEqual(list(self.client.stream(path)), seen[2:])
        path = "/events/h1?after_sequence=0"
        self.assertEqual(list(self.client.stream(path, last_event_id=numbers[2])), seen[3:])

    def test_nothing_left_is_204(self):
        self.client.handler("POST", "/workflows/echo/run", {"handler_id": "e"})
        for path in ("/events/e", "/events/e?after_sequence=now", "/events/e?after_sequence=NOW"):
            self.assertEqual(self.client.call("GET", path), (204, None))
        self.assertEqual(self.client.call("GET", "/events/e?after_sequence=999"), (204, None))
        self.assert_refused(self.client.call("GET", "/events/e?after_sequence=x"), 400,
                            "^Invalid after_sequence: 'x'")

    def test_now_skips_what_was_before(self):
        self.start("h1")
        seen = []
        path = "/events/h1?after_sequence=now&unknown_option=1"
        reader = threading.Thread(target=lambda: seen.extend(self.client.stream(path)))
        reader.start()
        while "abide_sse_connections 1" not in self.server.get("/metrics").body:
            pass
        self.approve("h1")
        reader.join(PATIENCE)
        self.assertEqual([envelope["type"] for _, envelope in seen], ["StopEvent"])

    def test_internal_events_are_for_those_who_ask(self):
        self.start("h1")
        self.approve("h1")
        self.server.wait_for("h1", "completed")
        seen = [envelope for _, envelope in self.client.stream("/events/h1?include_internal=true")]
        internal = [e for e in seen if e["types"] and "InternalDispatchEvent" in e["types"]]
        self.assertEqual([e["value"] for e in internal if e["type"] == "WorkflowIdleEvent"], [{}])
        steps = [(e["value"]["name"], e["value"]["step_state"]) for e in internal
                 if e["type"] == "StepStateChanged"]
        self.assertEqual(steps, [("greeter", "running"), ("greeter", "running"),
                                 ("log", "preparing"), ("log", "not_running")])
        for event in internal:
            self.assertEqual(event["qualified_name"], "workflows.events." + event["type"])
            if event["type"] == "StepStateChanged":
                self.assertIsInstance(event["value"]["input_event_name"], str)
                self.assertEqual(set(event["value"]), {
                    "name", "step_state", "worker_id", "input_event_name", "output_event_name"})
        plain = list(self.client.stream("/events/h1?include_qualified_name=false"))
        self.assertEqual({envelope["qualified_name"] for _, envelope in plain}, {None})

    def test_a_client_without_the_classes_can_load_what_is_written(self):
        self.server.deploy("types", """
            Stream.write({ n: 1 }, 'Progress')
            Stream.write({ n: 2 }, 'app.events.Progress')
            Stream.write({ n: 3 }, { type: 'app.Ask', types: ['InputRequiredEvent'] })
            Stream.write({ n: 4 }, { type: 'Ask', types: ['Mine', 'InputRequiredEvent'] })
            Stream.write({ n: 5 }, 'InputRequiredEvent')""")
        self.client.handler("POST", "/workflows/types/run", {"handler_id": "t"})
        seen = [(envelope["type"], envelope["qualified_name"], envelope["types"])
                for _, envelope in self.client.stream("/events/t")]
        own = "workflows.events."
        self.assertEqual(seen, [
            ("Progress", own + "Event", None), ("Progress", "app.events.Progress", None),
            ("Ask", "app.Ask", ["InputRequiredEvent"]),
            ("Ask", own + "InputRequiredEvent", ["Mine", "InputRequiredEvent"]),
            ("InputRequiredEvent", own + "InputRequiredEvent", None),
            ("StopEvent", own + "StopEvent", None)])

    def test_what_answers_say_they_are(self):
        self.client.handler("POST", "/workflows/echo/run", {"handler_id": "e"})
        for query, content_type in (("", "text/event-stream; charset=utf-8"),
                                    ("&sse=false", "application/x-ndjson")):
            connection = self.client.connect()
            connection.request("GET", "/events/e?after_sequence=-1" + query)
            response = connection.getresponse()
            response.read()
            self.assertEqual(response.getheader("Content-Type"), content_type)
            connection.close()

    def test_lines_instead_of_sse(self):
        self.client.handler("POST", "/workflows/echo/run",
                            {"handler_id": "e", "start_event": {"text": "a\nb"}})
        connection = self.client.connect()
        connection.request("GET", "/events/e?sse=FALSE&after_sequence=-1")
        text = connection.getresponse().read().decode("utf-8")
        connection.close()
        lines = text.split("\n")
        self.assertEqual((len(lines), lines[1]), (2, ""))
        self.assertEqual(json.loads(lines[0])["value"], {"result": {"text": "a\nb"}})

    def test_how_the_other_ends_are_called(self):
        self.server.deploy("long", "await Signal.next('never')")
        self.client.handler("POST", "/workflows/bad/run", {"handler_id": "failed"})
        self.client.handler("POST", "/workflows/long/run-nowait", {"handler_id": "cancelled"})
        self.client.call("POST", "/handlers/cancelled/cancel")
        self.server.post("/v1/runs?wait=20s",
                         {"workflow": "long", "id": "timed-out", "timeout": "50ms"})
        for name, kind in (("failed", "WorkflowFailedEvent"),
                           ("cancelled", "WorkflowCancelledEvent"),
                           ("timed-out", "WorkflowTimedOutEvent")):
            last = list(self.client.stream("/events/" + name))[-1][1]
            self.assertEqual((last["type"], last["types"]), (kind, ["StopEvent"]))
        end_of = lambda name: list(self.client.stream("/events/" + name))[-1][1]["value"]
        self.assertEqual(end_of("cancelled"), {})
        timed_out = end_of("timed-out")
        self.assertEqual((timed_out["timeout"], timed_out["active_steps"]), (0.05, ["long"]))
        failed = end_of("failed")
        self.assertEqual((failed["exception_type"], failed["exception_message"]),
                         ("TypeError", "no good"))


class RestartTest(unittest.TestCase):
    def test_a_dropped_stream_goes_on_after_the_restart(self):
        server = Server()
        try:
            server.deploy("greeter", GREETER)
            client = Client(server.port)
            client.handler("POST", "/workflows/greeter/run-nowait",
                           {"start_event": {"name": "Ann"}, "handler_id": "h"})
            server.wait_for("h", "suspended")
            raw = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
            raw.sendall(b"GET /events/h?after_sequence=-1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            got = b""
            while got.count(b"data:") < 3:
                got += raw.recv(4096)
            last = int(re.findall(rb"id: (\d+)", got)[-1])
            server.stop()
            rest = b""
            try:
                while True:
                    part = raw.recv(4096)
                    if not part:
                        break
                    rest += part
            except ConnectionResetError:
                pass
            raw.close()
            self.assertNotIn(b"0\r\n\r\n", rest)  # no clean end: the client must come back
            server.restart_on_its_port()
            seen = []
            reader = threading.Thread(
                target=lambda: seen.extend(client.stream("/events/h", last_event_id=last)))
            reader.start()
            client.call("POST", "/events/h", {"event": {"type": "Approved", "value": {"by": 1}}})
            reader.join(PATIENCE)
            self.assertEqual([envelope["type"] for _, envelope in seen], ["StopEvent"])
        finally:
            server.close()


if __name__ == "__main__":
    tap.main()
