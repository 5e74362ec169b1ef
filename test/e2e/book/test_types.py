"""Type declarations: editor/abide.d.ts against the engine, sdk/node/src/index.d.ts against the server.

The compiler is TypeScript, in the version that test/types/package.json names; it is installed into the
build directory the first time. test/types/surface.mjs turns declarations into JSON.
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
BUILD = os.environ["ABIDE_BUILD_DIR"]
sys.path.insert(0, os.path.join(SOURCE, "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from packages import complaints, installed  # noqa: E402
from server import ABIDE, PATIENCE, Server  # noqa: E402
from typescript import compiler  # noqa: E402

FLOW_TYPES = os.path.join(SOURCE, "editor", "abide.d.ts")
FLOW_CONFIG = os.path.join(SOURCE, "editor", "jsconfig.json")
TESTING_TYPES = os.path.join(SOURCE, "sdk", "node", "src", "testing", "index.d.ts")
SDK_TYPES = os.path.join(SOURCE, "sdk", "node", "src", "index.d.ts")

# What the compiler's own library has in one file with the rest, and the engine has not: `abide check`
# refuses these, the editor cannot.
NOT_IN_THE_ENGINE = {
    "ArrayBuffer", "BigInt64Array", "BigUint64Array", "DataView", "Float32Array", "Float64Array", "Int16Array",
    "Int32Array", "Int8Array", "Intl", "Uint16Array", "Uint32Array", "Uint8Array", "Uint8ClampedArray", "escape",
    "eval", "unescape"}
OUTDATED = {  # members that browsers keep for old pages
    "RegExp": {"$&", "$'", "$+", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$_", "$`", "input",
               "lastMatch", "lastParen", "leftContext", "rightContext"}}
OUTDATED_METHODS = {
    "RegExp": {"compile"},
    "String": {"anchor", "big", "blink", "bold", "fixed", "fontcolor", "fontsize", "italics", "link", "small",
               "strike", "sub", "sup"}}
OF_INSTANCES = {"cause", "errors", "lastIndex", "stack"}  # no prototype has them
NOT_DECLARED = {"constructor", "toString", "getYear", "setYear", "toGMTString", "__proto__", "prototype",
                "Symbol(Symbol.unscopables)"}
OF_FUNCTIONS = {"apply", "arguments", "bind", "call", "caller", "length", "name", "prototype", "toString",
                "Symbol(Symbol.hasInstance)", "Symbol(Symbol.metadata)"}
TAG = "Symbol(Symbol.toStringTag)"

# Everything a program can reach, from inside the engine.
DUMP = """
const members = value => Object.fromEntries(
  [...Object.getOwnPropertyNames(value), ...Object.getOwnPropertySymbols(value)].map(key => [String(key), true]))
const found = {}
for (const name of Object.getOwnPropertyNames(globalThis)) {
  const value = globalThis[name]
  const isObject = value !== globalThis && value !== null && ["object", "function"].includes(typeof value)
  found[name] = { kind: typeof value, members: isObject ? members(value) : null,
                  methods: typeof value === "function" && value.prototype ? members(value.prototype) : null }
}
return found
"""

ERRORS = """
const own = error => Object.getOwnPropertyNames(error)
const task = await Task.run("fail", { message: "no" }, { retry: { attempts: 1 } }).catch(own)
const child = await Workflow.run("broken").catch(own)
const time = await Signal.when("never", { timeout: 0.001 }).catch(own)
return { TaskError: task, ChildWorkflowError: child, TimeoutError: time }
"""

# A program, and what the compiler must say about it.
WRONG = (
    ("fetch('http://x')", "Cannot find name 'fetch'"),
    ("setTimeout(() => 1, 10)", "Cannot find name 'setTimeout'"),
    ("process.exit(1)", "Cannot find name 'process'"),
    ("require('fs')", "Cannot find module"),
    ("document.title", "Cannot find name 'document'"),
    ("new Proxy({}, {})", "'Proxy'"),
    ("Reflect.ownKeys({})", "'Reflect'"),
    ("new WeakRef({})", "'WeakRef'"),
    ("await Tasks.run('x')", "'Tasks'"),
    ("await sleep(1)", "'sleep'"),
    ("await Task.start('x')", "'start'"),
    ("await Task.run()", "arguments"),
    ("await Task.run(7)", "not assignable"),
    ("await Task.run('x', null, { timout: '1s' })", "'timout'"),
    ("await Task.run('x', null, { retry: { attempts: '3' } })", "not assignable"),
    ("await Task.run('x', null, { retry: { jitter: true } })", "not assignable"),
    ("await Signal.when('x', { timout: '1s' })", "'timout'"),
    ("await Signal.next('x', { timeout: '1s' })", "arguments"),
    ("await Event.wait('x', { filter: 7 })", "not assignable"),
    ("await Workflow.run('x', null, { parentClose: 'kill' })", "not assignable"),
    ("await Workflow.run('x', null, { tags: 'a' })", "not assignable"),
    ("Context.runID", "'runID'"),
    ("Context.runId = 'x'", "read-only"),
    ("State.set('x')", "arguments"),
    ("Always('x', 1 > 2)", "not assignable"),
    ("Stream.write({}, { kind: 'x' })", "'kind'"),
    ("(await Task.all([Task.run('x')])).result", "'result'"),
    ("const { item_id } = await Task.race([Task.run('x')]); item_id.size", "'size'"),
    ("/** @type {FlowConfig} */ export const config = { timeouts: '1s' }", "'timeouts'"),
    ("/** @type {FlowConfig} */ export const config = { retry: { attempts: 'many' } }", "not assignable"),
)


def surfaces(*jobs):
    """The answers of test/types/surface.mjs to these jobs."""
    done = subprocess.run(["node", os.path.join(SOURCE, "test", "types", "surface.mjs"), json.dumps(jobs)],
                          env={**os.environ, "ABIDE_TYPES_MODULES": installed("types")}, capture_output=True, text=True,
                          timeout=PATIENCE * 3)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def write_files(folder, pattern, sources):
    """Writes each source; answers the paths."""
    paths = [os.path.join(folder, pattern % number) for number in range(len(sources))]
    for path, source in zip(paths, sources):
        with open(path, "w", encoding="utf-8") as file:
            file.write(source + "\n")
    return paths


def said_about(path, diagnostics):
    name = os.path.basename(path)
    return [item["message"] for item in diagnostics if item["file"] in (name, name + ".js")]


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def example_flows(folder):
    """Examples, and the programs of the documentation that the tests run; answers their paths."""
    files = glob.glob(os.path.join(SOURCE, "examples", "**", "*.flow"), recursive=True)
    for page in [os.path.join(SOURCE, "README.md"), *glob.glob(os.path.join(SOURCE, "docs", "*.md"))]:
        blocks = re.findall(r"<!-- flow: \S+\.flow.*?-->\n```js\n(.*?)^```", text_of(page), re.S | re.M)
        files += write_files(folder, os.path.basename(page) + "-%d.flow", blocks)
    return files


class PackageTest(unittest.TestCase):
    def test_versions_are_exact_and_no_host_is_named(self):
        self.assertEqual(complaints("types"), [])


class FlowTypesTest(unittest.TestCase):
    """editor/abide.d.ts says what the engine has."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            cls.good = example_flows(folder)
            cls.bad = write_files(folder, "wrong%d.flow", [source for source, _ in WRONG])
            cls.types, cls.said = surfaces(["flow", FLOW_TYPES], ["check", FLOW_CONFIG, *cls.good, *cls.bad])
        done = subprocess.run([ABIDE, "check", "--api"], capture_output=True, text=True, check=True, timeout=PATIENCE)
        cls.api = json.loads(done.stdout)
        cls.server = Server()
        cls.server.deploy("dump", DUMP)
        cls.engine = cls.server.run("dump")["result"]

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_the_declarations_are_well_formed(self):
        self.assertEqual(self.types["diagnostics"], [])

    # ---- the workflow API: the table of the engine ----

    def test_objects_have_the_members_of_the_table(self):
        for item in self.api["objects"]:
            declared = self.types["globals"][item["name"]]["members"]
            self.assertEqual(set(declared), {member["name"] for member in item["members"]}, item["name"])

    def test_calls_have_the_arguments_and_options_of_the_table(self):
        for item in self.api["objects"]:
            for member in item["members"]:
                where = item["name"] + "." + member["name"]
                declared = self.types["globals"][item["name"]]["members"][member["name"]]
                self.assertEqual(declared["returns"], member["returns"], where)
                if member["returns"] == "property":
                    continue
                self.assertEqual([field["name"] for field in declared["parameters"]],
                                 [field["name"] for field in member["parameters"]], where)
                for mine, field in zip(declared["parameters"], member["parameters"]):
                    self.check_field(mine, field, where + "(" + field["name"] + ")")

    def test_functions_have_the_arguments_of_the_table(self):
        self.assertEqual([item["name"] for item in self.api["functions"]], ["Invariant", "Always", "Eventually"])
        for item in self.api["functions"]:
            declared = self.types["globals"][item["name"]]["call"]
            self.assertEqual(declared["returns"], item["returns"], item["name"])
            self.assertEqual([field["name"] for field in declared["parameters"]],
                             [field["name"] for field in item["parameters"]], item["name"])
            for mine, field in zip(declared["parameters"], item["parameters"]):
                self.check_field(mine, field, item["name"] + "(" + field["name"] + ")")

    def test_config_has_the_keys_of_the_table(self):
        self.check_fields(self.types["interfaces"]["FlowConfig"], self.api["config"], "config")

    def check_fields(self, declared, fields, where):
        self.assertEqual(set(declared), {field["name"] for field in fields}, where)
        for field in fields:
            self.check_field(declared[field["name"]], field, where + "." + field["name"])

    def check_field(self, declared, field, where):
        self.assertEqual(declared["required"], field["required"], where)
        kind, shape = field["type"], declared["shape"]
        if kind == "options":
            self.check_fields(shape["options"], field["options"], where)
        elif kind == "name|options":
            self.check_fields(shape["textOr"], field["options"], where)
        elif kind == "choice":
            self.assertEqual(shape, {"choice": sorted(field["choices"])}, where)
        else:
            wanted = {"integer": "number", "duration|off": "duration", "paths": "names"}.get(kind, kind)
            self.assertEqual(shape, wanted, where)

    # ---- what is built in: the engine itself ----

    def test_the_same_names_are_global(self):
        declared = set(self.types["globals"])
        self.assertEqual(declared - set(self.engine), NOT_IN_THE_ENGINE)
        self.assertEqual(set(self.engine) - declared, set())

    def test_built_in_objects_have_the_same_members(self):
        for name, item in self.engine.items():
            if item["members"] is None:
                continue
            declared = set(self.types["globals"][name]["members"])
            actual = set(item["members"])
            if item["kind"] == "function":
                declared, actual = declared - OF_FUNCTIONS, actual - OF_FUNCTIONS
            self.assertEqual(declared - actual, OUTDATED.get(name, set()), name)
            self.assertEqual(actual - declared - {TAG}, set(), name)

    def test_built_in_classes_have_the_same_methods(self):
        count = 0
        for name, item in self.engine.items():
            declared = self.types["globals"][name].get("instance")
            if item["methods"] is None or declared is None:
                continue
            count += 1
            actual = set(item["methods"]) - NOT_DECLARED
            declared = set(declared) - NOT_DECLARED - OF_INSTANCES - self.own_fields(name)
            self.assertEqual(declared - actual, OUTDATED_METHODS.get(name, set()), name)
            self.assertEqual(actual - declared, set(), name)
        self.assertGreater(count, 20)

    def own_fields(self, name):
        """What our own error classes declare besides what every error has."""
        inherited = set(self.types["globals"]["Error"]["instance"])
        is_ours = self.types["globals"][name]["isOurs"]
        return set(self.types["globals"][name]["instance"]) - inherited if is_ours else set()

    def test_errors_have_the_fields_that_are_declared(self):
        self.server.deploy("broken", "throw new Error('no')")
        self.server.deploy("errors", ERRORS)
        for name, own in self.server.run("errors")["result"].items():
            self.assertEqual(self.own_fields(name) - set(own), set(), (name, own))
            self.assertEqual(set(own) - self.own_fields(name) - OF_INSTANCES - {"message"}, set(), name)

    # ---- programs ----

    def test_examples_are_accepted(self):
        self.assertGreater(len(self.good), 12)
        for path in self.good:
            self.assertEqual(said_about(path, self.said), [], path)

    def test_mistakes_are_found(self):
        for path, (source, wanted) in zip(self.bad, WRONG):
            said = said_about(path, self.said)
            self.assertTrue(any(wanted in message for message in said), (source, said))
        self.assertEqual([item for item in self.said if not item.get("file")], [])

    def test_the_config_and_the_declarations_name_the_same_parts_of_ecmascript(self):
        config = json.loads(text_of(FLOW_CONFIG))
        self.assertEqual(config["compilerOptions"]["lib"], re.findall(r'<reference lib="(\S+)"', text_of(FLOW_TYPES)))


class SdkTypesTest(unittest.TestCase):
    """sdk/node/src/index.d.ts says what the library has and what the server answers."""

    # Schemas of /openapi.json and the interfaces that describe them.
    SCHEMAS = {
        "Wait": "Wait", "RunItem": "RunItem", "Run": "Run", "Entry": "LogEntry", "Snapshot": "Snapshot", "Trial": "Trial",
        "RunCopy": "RunCopy",
        "Frame": "Frame", "View": "View", "PostMortem": "PostMortem", "Turn": "Turn", "Diff": "TurnDiff", "SetValue": "SetValue",
        "VariablesSet": "VariablesSet", "Pending": "Pending", "Published": "Published", "Task": "Task", "ClaimedTask": "ClaimedTask", "ClaimedTurn": "ClaimedTurn", "JournalEntry": "JournalEntry",
        "TurnVerdict": "TurnVerdict",
        "Verdict": "Verdict", "WorkflowItem": "Workflow", "Deployed": "Deployed", "Finding": "Finding",
        "Findings": "Findings", "TopicItem": "Topic", "DeadLetter": "DeadLetter", "Schedule": "Schedule",
        "Queue": "Queue", "Token": "Token", "Node": "Node", "Unserved": "Unserved", "WorkerAsk": "WorkerAsk",
        "Worker": "WorkerInfo", "NodeFunctions": "NodeFunctions", "WorkerList": "WorkerList", "Stats": "Stats",
        "Envelope": "Envelope", "Handler": "Handler", "FilterTerm": "FilterTerm", "FilterFault": "FilterFault",
        "Time": "ServerTime", "Advanced": "Advanced", "Attention": "Attention", "Rates": "Rates", "Setting": "Setting", "AttentionGroup": "AttentionGroup", "Action": "Action", "Access": "Access", "Bulk": "Bulk",
        "BulkResult": "BulkResult", "BulkReason": "BulkReason", "Place": "Place", "Places": "Places",
        "Plan": "Plan", "PlanGroup": "PlanGroup", "Completion": "Completion", "FilterRead": "FilterRead"}
    # Written where they are answered, because nothing else names them; or no answers of their own.
    INLINE = {
        "Backfilled", "Changed", "Claimed", "ClaimedTurns", "CommittedTurns", "Completed", "RegisteredCode", "RenewedTurn", "RenewedTurns",
        "CopyDelivery", "DeployedWorkflow", "Detail", "DiffSide", "EventSchemas",
        "Graph", "HandlerResult", "Health", "NewToken", "Problem", "Removed", "Renewed", "Replayed", "RetriedTask",
        "Rewound", "RunResult", "Signalled", "StartAndStop", "Topic", "TrialEffect", "TrialVariable", "TrialWait", "Variable", "VariableChange", "Version", "WhereCounts", "Word", "Workflow",
        "WorkflowNames"}

    BEGIN = ('import { Client, Worker, ApiError, workflow } from "abide"\nconst client = new Client()\n'
             'const sum = workflow("sum", async (ctx, input: { a: number, b: number }) => input.a + input.b)\n;')
    WRONG = (
        ("await client.start('w', null, { tagz: ['x'] })", "'tagz'"),
        ("await client.start(7)", "not assignable"),
        ("await client.schedules.set('s', 'w', null, {})", "not assignable"),
        ("await client.schedules.set('s', 'w', null, { cron: '* * * * *', every: '1h' })", "not assignable"),
        ("await client.queues.set('q', { rateCount: 1 })", "not assignable"),
        ("await client.topics.set('t', { consume: 'two' })", "not assignable"),
        ("await client.tokens.create('t', ['root'])", "not assignable"),
        ("(await client.show('r')).stauts", "'stauts'"),
        ("for await (const run of client.list()) run.result", "'result'"),
        ("await client.start(sum)", "not assignable"),
        ("await client.start(sum, { a: 1 })", "'b'"),
        ("(await client.run(sum, { a: 1, b: 2 })).length", "'length'"),
        ("(await (await client.start(sum, { a: 1, b: 2 })).result()).length", "'length'"),
        ("(await client.start(sum, { a: 1, b: 2 })).stauts", "'stauts'"),
        ("new Worker().workflow({ name: 'sum' })", "not assignable"),
        ("workflow({ name: 'x', verion: '1' }, async () => 1)", "'verion'"),
        ("workflow('x', async ctx => (await ctx.step('s', () => 1)).length)", "'length'"),
        ("workflow('x', async ctx => ctx.step('s', () => 1, { retries: 1 }))", "'retries'"),
        ("workflow('x', async ctx => ctx.child(sum, { a: 1 }))", "overload"),
        ("workflow('x', async ctx => (await ctx.child(sum, { a: 1, b: 2 })).length)", "'length'"),
        ("workflow('x', async ctx => (await ctx.all([ctx.sleep(1), ctx.child(sum, { a: 1, b: 2 })]))[1].length)",
         "'length'"),
        ("workflow('x', async ctx => (await ctx.signal<{ by: string }>('go')).of)", "'of'"),
        ("workflow('x', async ctx => ctx.start(sum, { a: 1, b: 2 }).then)", "'then'"),
        ("workflow('x', async ctx => { ctx.info.runId = 'y' })", "read-only"),
        ("new Worker({ queue: 'x' })", "'queue'"),
        ("new Worker().task('t', (input, context) => context.runid)", "'runid'"),
        ("try { await client.show('r') } catch (error) { if (error instanceof ApiError) error.kode }", "'kode'"))

    @classmethod
    def setUpClass(cls):
        readme = text_of(os.path.join(SOURCE, "sdk", "node", "README.md"))
        examples = re.findall(r"^```js \S+\n(.*?)^```", readme, re.S | re.M)
        with tempfile.TemporaryDirectory() as folder:
            cls.good = write_files(folder, "good%d.mts", examples)
            cls.bad = write_files(folder, "wrong%d.mts", [cls.BEGIN + source for source, _ in cls.WRONG])
            cls.types, cls.said = surfaces(["sdk", SDK_TYPES], ["library", SDK_TYPES, *cls.good, *cls.bad])
        cls.server = Server()
        cls.schemas = cls.server.get("/openapi.json").json["components"]["schemas"]

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_the_declarations_are_well_formed(self):
        self.assertEqual(self.types["diagnostics"], [])
        [testing] = surfaces(["sdk", TESTING_TYPES])
        self.assertEqual(testing["diagnostics"], [])
        self.assertEqual(set(testing["exported"]) & {"TestServer", "CrashDiffers"}, {"TestServer", "CrashDiffers"})

    def test_every_schema_is_described(self):
        lists = {name for name in self.schemas if name.endswith("List")} - set(self.SCHEMAS)
        self.assertEqual(set(self.schemas) - lists, set(self.SCHEMAS) | self.INLINE)

    def test_answers_have_the_members_of_their_schemas(self):
        for schema, name in self.SCHEMAS.items():
            raw, declared = self.schemas[schema], self.types["exported"][name]
            self.assertEqual(set(declared), set(raw["properties"]), name)
            for member, item in raw["properties"].items():
                where = name + "." + member
                self.assertEqual(declared[member]["required"], member in raw["required"], where)
                kinds = item.get("type")
                nullable = "$ref" not in item and (kinds is None or "null" in kinds or "anyOf" in item)
                self.assertEqual(declared[member]["nullable"], nullable, where)
                if isinstance(kinds, list):
                    kinds = [kind for kind in kinds if kind != "null"][0]
                plain = {"string": ("name", "text"), "integer": ("number",), "number": ("number",),
                         "boolean": ("flag",)}.get(kinds)
                shape = declared[member]["shape"]
                if plain:
                    shape = shape if isinstance(shape, dict) else shape.replace("null|", "").replace("|null", "")
                    self.assertTrue(shape in plain or kinds == "string" and isinstance(shape, dict), (where, shape))

    def library_methods(self):
        """Of the client of the library itself, by group."""
        program = """
            import { Client } from "%s"
            const methodsOf = object => {
              const names = []
              for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at))
                names.push(...Object.getOwnPropertyNames(at).filter(name => typeof object[name] === "function"))
              return names.filter(name => name !== "constructor" && !name.startsWith("_"))
            }
            const client = new Client()
            const groups = Object.keys(client).filter(name => name !== "transport")
            console.log(JSON.stringify({ Client: [...methodsOf(client), ...groups],
              ...Object.fromEntries(groups.map(name => [client[name].constructor.name, methodsOf(client[name])])) }))
        """ % os.path.join(SOURCE, "sdk", "node", "src", "index.js")
        done = subprocess.run(["node", "--input-type=module", "-e", program], capture_output=True, text=True,
                              check=True, timeout=PATIENCE)
        return json.loads(done.stdout)

    def test_the_client_and_its_groups_have_the_methods_that_are_declared(self):
        for name, methods in self.library_methods().items():
            self.assertEqual(set(self.types["exported"][name]), set(methods), name)

    def test_the_examples_of_the_readme_are_accepted(self):
        self.assertGreater(len(self.good), 1)
        for path in self.good:
            self.assertEqual(said_about(path, self.said), [], path)

    def test_mistakes_are_found(self):
        for path, (source, wanted) in zip(self.bad, self.WRONG):
            said = said_about(path, self.said)
            self.assertTrue(any(wanted in message for message in said), (source, said))


if __name__ == "__main__":
    tap.main()
