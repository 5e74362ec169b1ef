"""The language server, asked by the client library of VS Code (test/editor/lsp.mjs) and by rude clients."""
import json
import os
import subprocess
import sys
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from packages import complaints, installed  # noqa: E402
from server import ABIDE, PATIENCE  # noqa: E402

URI = "file:///flows/order.flow"


def session(*steps):
    """What the server answers: {"results", "diagnostics", "code"}; results[0] is that of initialize."""
    done = subprocess.run(["node", os.path.join(SOURCE, "test", "editor", "lsp.mjs"), ABIDE, json.dumps(steps)],
                          env={**os.environ, "ABIDE_EDITOR_MODULES": installed("editor")}, capture_output=True,
                          text=True, timeout=PATIENCE * 3)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def opened(text, uri=URI):
    return ["$open", {"uri": uri, "languageId": "flow", "version": 1, "text": text}]


def position(text, offset):
    """Line and UTF-16 units of an offset in a Python string."""
    before = text[:offset]
    line = before.rsplit("\n", 1)[-1]
    return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}


def ask(method, marked, uri=URI):
    """Opens the text without its mark `|`, and asks about the place where the mark was."""
    at = marked.index("|")
    text = marked.replace("|", "", 1)
    return [opened(text, uri), ["textDocument/" + method, {"textDocument": {"uri": uri},
                                                           "position": position(text, at)}]]


def labels(items):
    return [item["label"] for item in items]


class DiagnosticsTest(unittest.TestCase):
    def test_findings_have_ranges_codes_and_hints(self):
        text = 'const x = 1\nawait Task.run("a", null, { timout: "1s" })\n'
        (_, version, items), = session(opened(text))["diagnostics"]
        self.assertEqual((version, len(items)), (1, 1))
        item = items[0]
        self.assertEqual(item["range"], {"start": {"line": 1, "character": 28}, "end": {"line": 1, "character": 34}})
        self.assertEqual((item["severity"], item["code"], item["source"]), (1, "FLOW_OPTION", "abide"))
        self.assertIn("Did you mean `timeout`", item["message"])

    def test_columns_count_utf16_units(self):
        text = 'const s = "\U0001f600é"; nowhere()\n'
        (_, _, items), = session(opened(text))["diagnostics"]
        self.assertEqual(items[0]["code"], "FLOW_UNDECLARED")
        self.assertEqual(items[0]["range"]["start"], position(text, text.index("nowhere")))

    def test_the_findings_are_those_of_abide_check(self):
        text = "for (const i of [1]) {\n  await Task.rum('x')\n}\nTimer.delay('1s')\n"
        (_, _, items), = session(opened(text))["diagnostics"]
        done = subprocess.run([ABIDE, "check", "-o", "json", "-"], input=text, capture_output=True, text=True,
                              timeout=PATIENCE)
        said = json.loads(done.stdout)
        self.assertEqual([(item["code"], item["range"]["start"]["line"] + 1) for item in items],
                         [(item["code"], item["line"]) for item in said])
        self.assertEqual(len(items), 2)

    def test_changes_are_applied_and_closing_clears(self):
        text = "const a = 'é\U0001f600'\nretrun a\n"
        change = {"textDocument": {"uri": URI, "version": 2}, "contentChanges": [
            {"range": {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 6}}, "text": "return"},
            {"range": {"start": {"line": 0, "character": 11}, "end": {"line": 0, "character": 14}}, "text": "b"}]}
        whole = {"textDocument": {"uri": URI, "version": 3}, "contentChanges": [{"text": "retrun 1"}]}
        answer = session(opened(text), ["$change", change],
                         ["textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 8}}],
                         ["$change", whole], ["$close", {"textDocument": {"uri": URI}}])
        self.assertEqual([(version, len(items) > 0) for _, version, items in answer["diagnostics"]],
                         [(1, True), (2, False), (3, True), (None, False)])
        self.assertIn("const a = 'b'", answer["results"][1]["contents"]["value"])

    def test_a_fix_replaces_what_was_mistyped(self):
        text = "await Tmer.delay('1s')\n"
        (_, _, items), = session(opened(text))["diagnostics"]
        answer = session(opened(text), ["textDocument/codeAction", {
            "textDocument": {"uri": URI}, "range": items[0]["range"], "context": {"diagnostics": items}}])
        action, = answer["results"][1]
        self.assertEqual(action["edit"]["changes"][URI], [{"range": items[0]["range"], "newText": "Timer"}])


class CompletionTest(unittest.TestCase):
    def complete(self, marked):
        return session(*ask("completion", marked))["results"][1]

    def test_members_of_our_objects(self):
        items = self.complete("const x = 1\nawait Task.r|\n")
        self.assertEqual(labels(items), ["run", "delay", "all", "any", "race"])
        self.assertEqual(items[0]["detail"], "Task.run(name, input?, options?)")
        self.assertIn("TaskError", items[0]["documentation"])

    def test_options_of_a_call_and_inside_of_one(self):
        items = self.complete('await Task.run("x", { a: 1 }, { queue: "q", |')
        self.assertIn("heartbeatTimeout", labels(items))
        self.assertNotIn("Task", labels(items))
        inner = self.complete('await Task.run("x", { a: 1 }, { retry: { | } })')
        self.assertEqual(labels(inner), ["attempts", "delay", "factor", "maxDelay", "jitter", "nonRetryable"])

    def test_the_input_of_a_call_has_no_options(self):
        self.assertIn("Task", labels(self.complete('await Task.run("x", { |')))

    def test_keys_of_the_config_and_choices(self):
        self.assertIn("keepSnapshots", labels(self.complete("export const config = {\n  ti|\n}\n")))
        self.assertEqual(labels(self.complete("export const config = { retry: { | } }")),
                         ["attempts", "delay", "factor", "maxDelay"])
        self.assertIn('"cancel"', labels(self.complete('await Workflow.run("x", null, { parentClose: |')))

    def test_names_of_the_file_and_of_the_language(self):
        names = labels(self.complete("const { orderId: id, total = 3 } = Inputs\nfunction pay(amount) {}\n|"))
        for name in ("id", "total", "pay", "Task", "Math", "structuredClone", "workflow"):
            self.assertIn(name, names)
        self.assertNotIn("orderId", names)

    def test_nothing_inside_of_texts(self):
        for marked in ('"Task.|', "// Task.|", "`a ${1} Task.|", "/* Task.|"):
            self.assertEqual(self.complete(marked), [], marked)

    def test_a_substitution_is_code_again(self):
        self.assertIn("runId", labels(self.complete("const s = `a ${Context.|")))


class LookTest(unittest.TestCase):
    def ask(self, method, marked):
        return session(*ask(method, marked))["results"][1]

    def test_hover_explains_calls_options_and_names(self):
        call = self.ask("hover", 'await Signal.wh|en("x")')["contents"]["value"]
        self.assertIn("Signal.when(name, options?)", call)
        self.assertIn("`timeout`: duration", call)
        option = self.ask("hover", 'await Task.run("x", 1, { retry: { jit|ter: 1 } })')["contents"]["value"]
        self.assertIn("`retry.jitter` of `Task.run`: number, 0 to 1", option)
        self.assertIn("`run`", self.ask("hover", "Ta|sk.run('x')")["contents"]["value"])
        function = self.ask("hover", "Alw|ays('paid', () => true)")["contents"]["value"]
        self.assertIn("Always(name, condition)", function)
        self.assertIn("abide sim", function)
        name = self.ask("hover", "const total = 1 + 2\nreturn to|tal\n")
        self.assertIn("const total = 1 + 2", name["contents"]["value"])
        self.assertEqual(name["range"]["start"], {"line": 1, "character": 7})
        self.assertIsNone(self.ask("hover", "const a = '|x'"))

    def test_definitions_are_found_from_the_inside_out(self):
        text = "const x = 1\nfunction f(y) {\n  const x = 2\n  return g(|x, y)\n}\nfunction g(a) { return a }\n"
        self.assertEqual(self.ask("definition", text)["range"]["start"], {"line": 2, "character": 8})
        self.assertEqual(self.ask("definition", text.replace("|", "").replace("g(x, y)", "g(x, |y)"))["range"]["start"],
                         {"line": 1, "character": 11})
        self.assertEqual(self.ask("definition", text.replace("|", "").replace("g(x", "|g(x"))["range"]["start"],
                         {"line": 5, "character": 9})
        self.assertIsNone(self.ask("definition", "Ta|sk.run"))

    def test_symbols_are_workflows_functions_classes_and_top_level_names(self):
        text = "const limit = 3\nclass Cart { add() { const inner = 1 } }\nworkflow order(inputs) {\n  return 1\n}\n"
        answer = session(opened(text), ["textDocument/documentSymbol", {"textDocument": {"uri": URI}}])["results"][1]
        self.assertEqual([(item["name"], item["kind"]) for item in answer], [("limit", 13), ("Cart", 5), ("order", 2)])
        self.assertEqual(answer[2]["range"]["end"], {"line": 4, "character": 1})


class ProtocolTest(unittest.TestCase):
    def test_the_packages_are_exact_and_no_host_is_named(self):
        self.assertEqual(complaints("editor"), [])

    def test_it_says_what_it_can_and_ends_well(self):
        answer = session()
        self.assertEqual(answer["results"][0]["capabilities"]["positionEncoding"], "utf-16")
        self.assertEqual(answer["results"][0]["capabilities"]["textDocumentSync"]["change"], 2)
        self.assertEqual(answer["code"], 0)

    def test_bad_requests_are_answered(self):
        answer = session(["textDocument/unknown", {}], ["textDocument/hover", {"textDocument": {"uri": "file:///x"}}],
                         opened("1"), ["textDocument/hover", {"textDocument": {"uri": URI}}],
                         ["textDocument/hover", {"textDocument": {"uri": URI}, "position": {"line": -1, "character": 0}}],
                         ["textDocument/hover", {"textDocument": {"uri": URI},
                                                 "position": {"line": 99, "character": 1000000}}])
        self.assertEqual(answer["results"][1:], [{"error": -32601}] + [{"error": -32602}] * 3 + [None])

    def raw(self, sent):
        return subprocess.run([ABIDE, "lsp"], input=sent, capture_output=True, timeout=PATIENCE)

    @staticmethod
    def frame(body):
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    def test_what_is_no_message_is_refused_and_the_next_one_is_read(self):
        first = self.frame(b"{nonsense") + self.frame(b"[1]") + self.frame(b'{"id":{},"method":"x"}')
        large = b"Content-Length: 70000000\r\n\r\n" + b" " * 70000000
        done = self.raw(first + large + self.frame(b'{"id":7,"method":"textDocument/hover"}'))
        answers = [json.loads(part[part.index(b"{"):]) for part in done.stdout.split(b"Content-Length")[1:]]
        self.assertEqual([answer["error"]["code"] for answer in answers], [-32700, -32600, -32600, -32600, -32002])
        self.assertEqual(answers[-1]["id"], 7)
        self.assertEqual(done.returncode, 1)

    def test_a_broken_frame_ends_it(self):
        for sent in (b"GET / HTTP/1.1\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"x" * 5000):
            done = self.raw(sent)
            self.assertEqual(done.returncode, 2, sent[:40])
            self.assertIn(b"Content-Length", done.stderr)


if __name__ == "__main__":
    tap.main()
