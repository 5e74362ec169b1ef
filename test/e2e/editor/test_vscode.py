"""The extension for VS Code: its package, its grammar, and its code with a stand-in for the editor (test/editor/vscode.mjs)."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from packages import complaints, installed  # noqa: E402
from server import ABIDE, PATIENCE  # noqa: E402

# Arguments of requests that have another name as an option, or none.
OPTIONS = {"program": None, "stopOnEntry": "stop-on-entry", "caFile": "ca-file", "tasks": None, "children": None,
           "signals": None}
FLOW = 'const x = 1\nfunction total() { return x }\nawait Task.run("a", null, { timout: "1s" })\nreturn total()\n'


def node(script, *arguments):
    done = subprocess.run(["node", os.path.join(SOURCE, "test", "editor", script), *arguments], capture_output=True,
                          text=True, timeout=PATIENCE, env={**os.environ, "ABIDE_EDITOR_MODULES": installed("editor")})
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


class ExtensionTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        vsix = os.path.join(cls.folder.name, "abide.vsix")
        subprocess.run([os.path.join(SOURCE, "tools", "vscode"), vsix], check=True, timeout=PATIENCE)
        with zipfile.ZipFile(vsix) as package:
            cls.names = package.namelist()
            package.extractall(cls.folder.name)
        cls.path = os.path.join(cls.folder.name, "extension")
        with open(os.path.join(cls.path, "package.json"), encoding="utf-8") as file:
            cls.package = json.load(file)
        cls.contributes = cls.package["contributes"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def text(self, name):
        with open(os.path.join(self.path, name), encoding="utf-8") as file:
            return file.read()

    def session(self, *steps, abide=ABIDE):
        return node("vscode.mjs", self.path, abide, json.dumps(steps))

    def test_the_package_is_whole(self):
        named = [self.package["main"]] + [item["path"] for item in self.contributes["grammars"] + self.contributes["snippets"]]
        named += [item["configuration"] for item in self.contributes["languages"]]
        for name in named:
            self.assertIn("extension/" + name[2:], self.names)
        for code in re.findall(r'require\("(\./[^"]+)"\)', self.text("extension.js")):
            self.assertIn("extension/" + code[2:], self.names)
        self.assertIn("extension.vsixmanifest", self.names)
        self.assertNotIn("dependencies", self.package)
        version = subprocess.run([ABIDE, "--version"], capture_output=True, text=True, timeout=PATIENCE).stdout
        self.assertIn(self.package["version"], version)
        grammar = json.loads(self.text("flow.tmLanguage.json"))
        self.assertEqual(grammar["scopeName"], self.contributes["grammars"][0]["scopeName"])
        self.assertFalse(os.path.exists(os.path.join(SOURCE, "editor", "vscode", "flow.tmLanguage.json")))

    def test_what_is_declared_is_registered(self):
        answer = self.session()
        self.assertEqual(sorted(answer["commands"]), sorted(item["command"] for item in self.contributes["commands"]))
        used = set(re.findall(r'setting\("(\w+)"\)', self.text("extension.js")))
        self.assertEqual(used, {name.split(".")[1] for name in self.contributes["configuration"]["properties"]})
        debugger, = self.contributes["debuggers"]
        self.assertEqual(debugger["type"], "abide")
        self.assertIn('registerDebugAdapterDescriptorFactory("abide"', self.text("extension.js"))

    def test_the_debugger_takes_what_is_declared(self):
        help_ = subprocess.run([ABIDE, "debug", "--help"], capture_output=True, text=True, timeout=PATIENCE).stdout
        with open(os.path.join(SOURCE, "docs", "debug.md"), encoding="utf-8") as file:
            book = file.read()
        attributes = self.contributes["debuggers"][0]["configurationAttributes"]
        for request in ("launch", "attach"):
            for name in attributes[request]["properties"]:
                option = OPTIONS.get(name, name)
                if option:
                    self.assertRegex(help_, r"--%s\b" % option)
                self.assertIn("`%s`" % name, book)

    def test_texts_are_checked_completed_and_explained(self):
        fixed = FLOW.replace("timout", "timeout")
        answer = self.session(["open", FLOW], ["completion", [2, 11]], ["change", fixed], ["hover", [2, 12]],
                              ["definition", [3, 9]], ["symbols", None], ["close", None])
        opened, completion, changed, hover, definition, symbols, closed = answer["results"]
        finding = [item for item in opened if item["code"] == "FLOW_OPTION"][0]
        self.assertEqual((finding["range"]["start"], finding["severity"], finding["source"]),
                         ({"line": 2, "character": 28}, 0, "abide"))
        self.assertIn("run", completion)
        self.assertEqual(changed, [])
        self.assertIn("Task.run", hover)
        self.assertEqual(definition[0]["range"]["start"]["line"], 1)
        self.assertIn("total", symbols)
        self.assertIsNone(closed)
        self.assertIn(".", answer["triggers"])
        self.assertEqual(answer["messages"], [])
        self.assertNotIn("completion", answer["left"])  # it is gone when the extension is

    def test_a_fix_changes_the_text(self):
        answer = self.session(["open", 'await Task.run("a", null, { timout: "1s" })\n'], ["actions", None])
        (title, ((range_, text),)), = answer["results"][1]
        self.assertEqual((text, range_["start"]), ("timeout", {"line": 0, "character": 28}))
        self.assertIn("timeout", title)

    def test_the_debugger_is_started(self):
        answer = self.session(["adapter", None], ["debug", {}], ["debug", {"type": "abide", "request": "attach", "run": "r"}],
                              ["debug", {"type": "abide", "request": "attach", "run": "r", "store": "x.db"}],
                              ["command", ["abide.debugRun", "order-7"]], ["command", ["abide.debugRun", None]])
        adapter, plain, attach, store = answer["results"][:4]
        self.assertEqual(adapter, {"command": ABIDE, "args": ["debug"]})
        self.assertEqual((plain["request"], plain["program"]), ("launch", "${file}"))
        self.assertEqual((attach["server"], "server" in store), ("http://configured:1", False))
        self.assertEqual([item["run"] for item in answer["started"]], ["order-7"])

    def test_a_missing_program_is_said_and_can_be_repaired(self):
        answer = self.session(["setting", ["path", ABIDE]], ["command", ["abide.restart", None]], ["open", "return nobody\n"],
                              abide="/nonexistent/abide")
        self.assertEqual(len(answer["messages"]), 1)
        self.assertIn("abide.path", answer["messages"][0])
        self.assertEqual(len(answer["results"][2]), 1)

    def test_snippets_are_flows(self):
        for name, snippet in json.loads(self.text("snippets.json")).items():
            text = re.sub(r"\$\{\d+:((?:\\.|[^}])*)\}", lambda found: found.group(1).replace("\\}", "}"), snippet["body"])
            text = "const items = Inputs\n" + text + "\nreturn items\n"
            done = subprocess.run([ABIDE, "check", "-"], input=text, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, (name, text, done.stdout, done.stderr))


class GrammarTest(unittest.TestCase):
    def tokens(self, path):
        return node("grammar.mjs", os.path.join(SOURCE, "editor", "flow.tmLanguage.json"), path)

    def test_versions_are_exact(self):
        self.assertEqual(complaints("editor"), [])

    def test_words_have_their_scopes(self):
        with tempfile.NamedTemporaryFile("w", suffix=".flow") as file:
            file.write('// note\nconst parcel = await Task.run("ship", { n: 12 })\nif (parcel) return `to ${parcel.to}`\n')
            file.flush()
            found = dict(map(tuple, self.tokens(file.name)))
        for text, scope in (("const", "storage.type"), ("await", "keyword"), ("Task", "support"), ("12", "constant.numeric"),
                            ("ship", "string"), ("return", "keyword"), ("// note", "comment.line")):
            self.assertTrue(found[text].startswith(scope), (text, found[text]))

    def test_every_example_is_tokenised(self):
        paths = glob.glob(os.path.join(SOURCE, "examples", "flows", "**", "*.flow"), recursive=True)
        self.assertGreater(len(paths), 3)
        for path in paths:
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            tokens = self.tokens(path)
            self.assertEqual("".join(text for text, _ in tokens), "".join(lines))
            self.assertGreater(len({scope for _, scope in tokens}), 3, path)


if __name__ == "__main__":
    tap.main()
