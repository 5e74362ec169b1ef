"""abide dev: what it loads, how it follows changes, what it keeps, and the page at /."""
import base64
import glob
import gzip
import hashlib
import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

SOURCE = os.environ["ABIDE_SOURCE_DIR"]
sys.path.insert(0, os.path.join(os.environ["ABIDE_SOURCE_DIR"], "test", "e2e", "support"))
sys.path.insert(0, os.path.join(SOURCE, "test"))
import tap  # noqa: E402
from server import ABIDE, PATIENCE, Server, ServerTest  # noqa: E402


class Dev(Server):
    """`abide dev` on a folder; its lines are read as they come."""

    def __init__(self, folder, *arguments):
        super().__init__(*arguments, folder=folder)

    def start(self):
        self.process = subprocess.Popen(
            [ABIDE, "dev", self.folder, "--listen", "127.0.0.1:0", *self.arguments],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.process.stderr = self.process.stdout  # what Server.close() closes
        self.lines = []
        self.port = None
        self.changed = threading.Condition()

        def read():
            for line in self.process.stdout:
                with self.changed:
                    self.lines.append(line.rstrip("\n"))
                    match = re.search(r"http://127\.0\.0\.1:(\d+)/ ", line)
                    if match:
                        self.port = int(match.group(1))
                    self.changed.notify_all()

        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()
        self.line("Ctrl-C ends")

    def line(self, text, after=0, seconds=PATIENCE):
        """Waits for a line that contains the text; answers its number."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                for number in range(after, len(self.lines)):
                    if text in self.lines[number]:
                        return number
                if not self.changed.wait(deadline - time.monotonic()):
                    raise AssertionError("no line with %r in %r" % (text, self.lines))

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write(path, text)
        return path

    def version(self, name):
        answer = self.get("/v1/workflows/" + name)
        return answer.json["version"] if answer.status == 200 else None


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


class DevTest(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name

    def dev(self, *arguments):
        dev = Dev(self.folder, *arguments)
        self.addCleanup(dev.close)
        return dev

    def test_loads_all_files_but_hidden_and_foreign_ones(self):
        for name in ("one.flow", "deep/er/two.flow", ".hidden/three.flow", "node_modules/four.flow",
                     "five.txt", ".six.flow"):
            path = os.path.join(self.folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            write(path, "return '%s'" % name)
        os.symlink(self.folder, os.path.join(self.folder, "loop"))
        dev = self.dev()
        names = sorted(each["name"] for each in dev.get("/v1/workflows").json["items"])
        self.assertEqual(names, ["one", "two"])
        self.assertEqual(dev.run("two")["result"], "deep/er/two.flow")

    def test_follows_changes(self):
        dev = self.dev()
        dev.write("order.flow", "return 1")
        dev.line("order.flow: workflow order")
        self.assertEqual(dev.run("order")["result"], 1)
        at = len(dev.lines)
        path = dev.write("order.flow", "return 2")
        dev.line("order.flow: workflow order", at)
        self.assertEqual(dev.run("order")["result"], 2)
        at = len(dev.lines)
        replacement = os.path.join(self.folder, "saved~")  # as editors save
        write(replacement, "return 3")
        os.rename(replacement, path)
        dev.line("order.flow: workflow order", at)
        self.assertEqual(dev.run("order")["result"], 3)

    def test_a_file_in_a_new_folder_is_found(self):
        dev = self.dev()
        for depth in range(5):
            name = "/".join(["new%d" % depth] * (depth + 1)) + "/flow%d.flow" % depth
            dev.write(name, "return %d" % depth)
            dev.line("workflow flow%d" % depth)
        self.assertEqual(dev.run("flow4")["result"], 4)

    def test_a_broken_file_is_reported_and_the_old_version_stays(self):
        write(os.path.join(self.folder, "order.flow"), "return 'good'")
        dev = self.dev()
        before = dev.version("order")
        dev.write("order.flow", "const x = = 1")
        dev.line("error[FLOW_SYNTAX]")
        dev.line("order.flow:1:11")
        dev.line("the version before stays in use")
        self.assertEqual(dev.version("order"), before)
        self.assertEqual(dev.run("order")["result"], "good")
        at = len(dev.lines)
        dev.write("order.flow", "return 'mended'")
        dev.line("workflow order", at)
        self.assertEqual(dev.run("order")["result"], "mended")

    def test_what_cannot_work_is_reported_and_warnings_are_shown(self):
        write(os.path.join(self.folder, "order.flow"), "return 'good'")
        dev = self.dev()
        dev.write("order.flow", "await Task.start('x')")
        dev.line("error[FLOW_MEMBER]")
        dev.line("Did you mean `run`?")
        dev.line("the version before stays in use")
        self.assertEqual(dev.run("order")["result"], "good")
        at = len(dev.lines)
        dev.write("order.flow", "Timer.delay(0)\nreturn 'hasty'")
        dev.line("warning[FLOW_UNAWAITED]", at)
        dev.line("workflow order", at)
        self.assertEqual(dev.run("order")["result"], "hasty")

    def test_files_broken_from_the_start_do_not_keep_it_from_serving(self):
        write(os.path.join(self.folder, "bad.flow"), "let let = \x00")
        write(os.path.join(self.folder, "binary.flow"), "return '\ud7ff'")
        with open(os.path.join(self.folder, "large.flow"), "w", encoding="utf-8") as file:
            file.write("// " + "x" * (1 << 20))
        os.mkfifo(os.path.join(self.folder, "pipe.flow"))
        os.symlink("/nonexistent", os.path.join(self.folder, "dangling.flow"))
        write(os.path.join(self.folder, "good.flow"), "return 1")
        dev = self.dev()
        dev.line("error[")
        dev.line("large.flow has more than")
        self.assertEqual(dev.run("good")["result"], 1)

    def test_a_deleted_file_is_said_and_its_runs_go_on(self):
        path = os.path.join(self.folder, "wait.flow")
        write(path, "return await Signal.next('go')")
        dev = self.dev()
        run = dev.post("/v1/runs", {"workflow": "wait"}).json
        dev.wait_for(run["id"], "suspended")
        os.unlink(path)
        dev.line("wait.flow is gone; wait stays deployed")
        dev.post("/v1/runs/%s/signals/go" % run["id"], 7)
        self.assertEqual(dev.wait_for(run["id"], "completed")["result"], 7)

    def test_two_files_with_one_name_do_not_take_turns(self):
        write(os.path.join(self.folder, "a.flow"), "workflow both(inputs) { return 'a' }")
        write(os.path.join(self.folder, "b.flow"), "workflow both(inputs) { return 'b' }")
        dev = self.dev()
        dev.line("b.flow was left out: its workflow both is that of")
        self.assertEqual(dev.run("both")["result"], "a")
        at = len(dev.lines)
        dev.write("a.flow", "workflow other(inputs) { return 'a' }")
        dev.line("b.flow: workflow both", at)
        self.assertEqual(dev.run("both")["result"], "b")

    def test_a_moved_file_keeps_its_workflow(self):
        path = dev_path = os.path.join(self.folder, "move.flow")
        write(path, "return 1")
        dev = self.dev()
        at = len(dev.lines)
        os.mkdir(os.path.join(self.folder, "there"))
        os.rename(dev_path, os.path.join(self.folder, "there", "move.flow"))
        dev.line(os.path.join("there", "move.flow") + ": workflow move", at)
        self.assertFalse(any("left out" in line for line in dev.lines), dev.lines)

    def test_runs_survive_a_restart(self):
        write(os.path.join(self.folder, "wait.flow"), "return await Signal.next('go')")
        dev = self.dev()
        dev.post("/v1/runs", {"workflow": "wait", "id": "kept"})
        dev.wait_for("kept", "suspended")
        dev.kill()
        dev.reader.join(PATIENCE)
        dev.process.stdout.close()
        dev.start()
        dev.post("/v1/runs/kept/signals/go", "after")
        self.assertEqual(dev.wait_for("kept", "completed")["result"], "after")
        with open(os.path.join(self.folder, ".abide", ".gitignore"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "*\n")

    def test_starts_a_run_and_ends_on_interrupt(self):
        write(os.path.join(self.folder, "hello.flow"), "return 'hello, ' + Inputs.name")
        dev = self.dev("--start", "hello", "--input", '{"name":"Ada"}')
        line = dev.lines[dev.line("started hello: run ")]
        run = dev.wait_for(line.split()[-1], "completed")
        self.assertEqual(run["result"], "hello, Ada")
        dev.process.send_signal(signal.SIGINT)
        self.assertEqual(dev.process.wait(60), 0)

    def test_a_second_one_on_the_same_folder_is_refused(self):
        self.dev()
        done = subprocess.run([ABIDE, "dev", self.folder, "--listen", "127.0.0.1:0"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn("STORE_LOCKED", done.stderr)

    def test_refuses_what_cannot_be_served(self):
        for arguments, code in (
                ([os.path.join(self.folder, "missing")], "FOLDER_NOT_READ"),
                ([self.folder, "--listen", "0.0.0.0:0"], "NOT_LOOPBACK")):
            done = subprocess.run([ABIDE, "dev", *arguments], capture_output=True, text=True,
                                  timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertIn(code, done.stderr)

    def test_private_addresses_are_reachable_and_programs_are_not_run(self):
        write(os.path.join(self.folder, "fetch.flow"),
              "return (await Task.run('http', { url: Inputs })).status")
        write(os.path.join(self.folder, "program.flow"),
              "return await Task.run('exec', { argv: ['true'] })")
        dev = self.dev()
        url = "http://127.0.0.1:%d/livez" % dev.port
        self.assertEqual(dev.run("fetch", url)["result"], 200)
        self.assertEqual(dev.run("program")["status"], "failed")


class MakeRunTest(unittest.TestCase):
    def test_make_run_serves_the_examples_with_one_run(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen(
                [os.path.join(SOURCE, "tools", "run"), "--listen", "127.0.0.1:0", "--store",
                 "sqlite:" + os.path.join(folder, "run.db")],
                env={**os.environ, "BUILD": os.environ["ABIDE_BUILD_DIR"]},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            text = ""
            while "Ctrl-C ends" not in text:
                line = process.stdout.readline()
                self.assertTrue(line, text)
                text += line
            process.send_signal(signal.SIGINT)
            text += process.communicate(timeout=60)[0]
            self.assertEqual(process.returncode, 0, text)
        self.assertIn("started hello: run run_", text)
        for name in ("order", "saga", "hello"):
            self.assertIn("workflow %s, version" % name, text)
        self.assertNotIn("error", text)


PLAIN = os.path.join(SOURCE, "src", "server", "routes", "page", "plain.html")


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class PageTest(ServerTest):
    def test_the_policy_allows_the_page_and_nothing_else(self):
        answer = self.server.get("/")
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
        policy = dict(part.strip().split(" ", 1)
                      for part in answer.headers["Content-Security-Policy"].split(";"))
        self.assertEqual(policy["default-src"], "'none'")
        for tag, source in (("script", "script-src"), ("style", "style-src")):
            texts = re.findall(r"<%s>(.*?)</%s>" % (tag, tag), answer.body, re.S)
            self.assertEqual(len(texts), 1)
            digest = base64.b64encode(hashlib.sha256(texts[0].encode("utf-8")).digest())
            self.assertEqual(policy[source], "'sha256-%s'" % digest.decode("ascii"))

    def test_the_page_is_compressed_for_those_who_accept_it(self):
        plain = self.server.get("/").body
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)
        for accepted, is_compressed in (("gzip, br", True), ("br", False), ("gzip;q=0", False)):
            connection.request("GET", "/", headers={"Accept-Encoding": accepted})
            answer = connection.getresponse()
            body = answer.read()
            self.assertEqual(answer.getheader("Content-Encoding"), "gzip" if is_compressed else None)
            self.assertEqual(answer.getheader("Vary"), "Accept-Encoding")
            self.assertEqual((gzip.decompress(body) if is_compressed else body).decode("utf-8"), plain)
            self.assertTrue(not is_compressed or len(body) < 60 * 1024)
        connection.close()

    def test_the_pages_load_nothing_and_have_no_markup_the_policy_forbids(self):
        paths = glob.glob(os.path.join(SOURCE, "ui", "src", "*.ts")) + [os.path.join(SOURCE, "ui", "index.html"), PLAIN]
        self.assertGreater(len(paths), 10)
        for path in paths:
            text = text_of(path)
            self.assertEqual(re.findall(r"""(?:src|href)=["'](?!#|/(?!/)|data:)[^"']*""", text), [], path)
            self.assertNotRegex(text, r"<[a-z][^>]* (?:style|on\w+)=", path)
            self.assertNotRegex(text, r"innerHTML|outerHTML|unsafeHTML|insertAdjacentHTML|eval\(", path)

    def test_commands_to_paste_are_words_for_the_shell(self):
        for path in (PLAIN, os.path.join(SOURCE, "ui", "src", "format.ts")):
            text = text_of(path).replace("export const", "const").replace("(text: string): string", "text")
            helpers = re.findall(r"^const (?:WORD|shellQuote|segment) =(?:.*\n?  .*|.*)$", text, re.M)
            self.assertGreaterEqual(len(helpers), 2, path)
            self.assertNotRegex(text, r"curl[^`]*encodeURIComponent")
            odd = "a'; $(touch x) `b` \"c\" !* ~(d) \\ \n é"
            script = "\n".join(helpers) + "\nconst t = JSON.parse(process.argv[1])\n" \
                "console.log(JSON.stringify([shellQuote(t), segment(t)]))"
            done = subprocess.run(["node", "-e", script, json.dumps(odd)], capture_output=True,
                                  text=True, timeout=60, check=True)
            quoted, encoded = json.loads(done.stdout)
            self.assertEqual(shlex.split("curl -d %s end" % quoted), ["curl", "-d", odd, "end"])
            self.assertRegex(encoded, r"^[A-Za-z0-9%._-]+$")
            self.assertEqual(urllib.parse.unquote(encoded), odd)

    def test_head_and_other_methods(self):
        head = self.server.call("HEAD", "/")
        self.assertEqual((head.status, head.body), (200, ""))
        self.assertEqual(self.server.post("/", {}).status, 405)

    def test_what_the_page_asks_for_exists(self):
        body = self.server.get("/").body
        paths = set(re.findall(r"(/v1/[a-z-]+)\b", body)) - {"/v1/events"}
        self.assertGreater(len(paths), 3)
        for path in sorted(paths):
            connection = self.server.connect()
            connection.request("GET", path)
            # Only the head: the body of a stream of changes has no end.
            self.assertEqual(connection.getresponse().status, 200, path)
            connection.close()


if __name__ == "__main__":
    tap.main()
