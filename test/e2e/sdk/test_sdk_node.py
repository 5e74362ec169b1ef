"""The library for Node; the tests are in cases.py."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test"))
import tap  # noqa: E402
from api_cases import ApiTest  # noqa: E402
from cases import PATIENCE, SOURCE, Probe, SdkTest  # noqa: E402
from server import ABIDE  # noqa: E402


class NodeTest(SdkTest, ApiTest, unittest.TestCase):
    def prepare(self):
        os.mkdir(os.path.join(self.folder, "node_modules"))
        os.symlink(os.path.join(SOURCE, "sdk", "node"),
                   os.path.join(self.folder, "node_modules", "abide"))
        shutil.copy(os.path.join(SOURCE, "test", "e2e", "sdk", "probe.mjs"), self.folder)

    def command(self, *arguments):
        return ["node", os.path.join(self.folder, "probe.mjs"), *arguments]

    def file_command(self, path):
        return ["node", path]

    readme = os.path.join(SOURCE, "sdk", "node", "README.md")
    names = ("worker.mjs", "client.mjs", "operate.mjs")
    option_name = staticmethod(lambda text: re.sub(r"_(\w)", lambda match: match.group(1).upper(), text))
    result_line = "{ receipt: 'r-7-1', by: 'Ada' }"

    def test_the_types_name_what_the_library_exports(self):
        declared = set()
        for name in ("index.d.ts", "workflow.d.ts"):
            with open(os.path.join(SOURCE, "sdk", "node", "src", name), encoding="utf-8") as file:
                declared |= set(re.findall(r"^export (?:class|function) (\w+)", file.read(), re.M))
        program = "import * as abide from 'abide'; console.log(JSON.stringify(Object.keys(abide)))"
        done = subprocess.run(["node", "--input-type=module", "-e", program], cwd=self.folder,
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.assertEqual(declared, set(json.loads(done.stdout)))


    def blocks_of(self, page):
        """Writes the named examples of a page into the folder."""
        with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
            for name, text in re.findall(r"^```\w+ (\S+)\n(.*?)^```", file.read(), re.S | re.M):
                with open(os.path.join(self.folder, name), "w", encoding="utf-8") as example:
                    example.write(text)

    def run_file(self, name, *arguments, **environment):
        return subprocess.run(["node", os.path.join(self.folder, name), *arguments], capture_output=True, text=True,
                              timeout=PATIENCE, env={**os.environ, "ABIDE_SERVER": self.url, **environment})

    def test_the_workflows_of_the_documentation_run(self):
        self.blocks_of("sdk/node/README.md")
        done = self.run_file("workflow.mjs")
        self.assertEqual((done.returncode, done.stdout), (0, "ADA: hello\n"), done.stderr)
        self.blocks_of("docs/node.md")
        worker = Probe(["node", os.path.join(self.folder, "order.mjs"), "work"], self.url)
        self.addCleanup(worker.close)
        worker.wait_for_line("INFO", "connected", "executes mail, order")
        done = self.run_file("start.mjs")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("label: 'label for card 7'", done.stdout)
        done = self.run_file("order.test.mjs", ABIDE_BIN=ABIDE)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("# pass 2", done.stdout)

    def test_the_package_can_be_installed_offline_and_used_from_an_empty_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "npm_config_cache": os.path.join(folder, "cache"), "npm_config_offline": "true"}

            def npm(*arguments):
                done = subprocess.run(["npm", *arguments], cwd=folder, env=environment, capture_output=True, text=True,
                                      timeout=PATIENCE)
                self.assertEqual(done.returncode, 0, done.stderr)
                return done.stdout

            [packed] = json.loads(npm("pack", "--json", os.path.join(SOURCE, "sdk", "node")))
            names = {item["path"] for item in packed["files"]}
            self.assertLessEqual({"package.json", "README.md", "src/index.js", "src/index.d.ts", "src/workflow.d.ts",
                                  "src/testing/index.js", "src/testing/index.d.ts"}, names)
            with open(os.path.join(folder, "package.json"), "w", encoding="utf-8") as file:
                file.write('{"private": true, "type": "module"}')
            npm("install", "--no-audit", "--no-fund", "./" + packed["filename"])
            with open(os.path.join(folder, "order.mjs"), "w", encoding="utf-8") as file:
                file.write("""
                    import { workflow } from "abide"
                    import { TestServer } from "abide/testing"
                    const order = workflow("order", async (ctx, n) => {
                      await ctx.sleep("24h")
                      return ctx.step("add", () => n + 1)
                    })
                    const env = await TestServer.start({ workflows: [order] })
                    const run = await env.client.start(order, 41)
                    await env.advance("24h")
                    console.log(await run.result())
                    await env.close()
                """)
            done = subprocess.run(["node", "order.mjs"], cwd=folder, env={**environment, "ABIDE_BIN": ABIDE},
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((done.stdout, done.stderr), ("42\n", ""))

    def test_a_logger_gets_what_is_said_and_standard_error_nothing(self):
        path = os.path.join(self.folder, "quiet.mjs")
        with open(path, "w", encoding="utf-8") as file:
            file.write("""
                import { Worker } from "abide"
                const said = []
                const note = level => (message, error) => said.push([level, message, error?.message ?? null])
                const worker = new Worker({ logger: { info: note("info"), warn: note("warn"), error: note("error") } })
                worker.task("unlucky", () => { worker.stop(); throw new Error("no luck") })
                await worker.run()
                console.log(JSON.stringify({ event: "said", said }))
            """)
        task_id = self.task("unlucky")
        probe = Probe(self.file_command(path), self.url)
        self.addCleanup(probe.close)
        said = probe.wait_for("said")["said"]
        self.assertEqual([(level, error) for level, _, error in said],
                         [("info", None), ("error", "no luck"), ("info", None), ("info", None)])
        self.assertIn(task_id, said[1][1])
        self.assertEqual((probe.ended(), probe.complaints), (0, []))


if __name__ == "__main__":
    tap.main()
