#!/usr/bin/env python3
"""Flow beside Node's interpreter and Lua: the programs of bench/flow, and the compiler.

Each bench/flow/NAME.js defines run(), which answers a checksum; NAME.lua is its twin where Lua has
the same things. A program is started in turn by abide, by `node --jitless` and by lua5.4, several
times, and all must answer the same checksum. The time of one run() is the lesser of two, each the
least of all rounds, because other load on the machine can only add to them:

  - the fastest call by the wall clock, which sees no helper threads;
  - processor time per call, from a process that calls it often less one that calls it once, which
    sees neither the start of the engine nor waiting for a processor.

  {"bench":"flow.loops","value":ms,"unit":"ms","limit":ms of node --jitless,
   "ratio":how many times as fast as node --jitless,"lua":ms}

usage: bench/flow.py [--abide PATH] [--rounds N] [--jit] [NAME...]
"""
import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("ABIDE_BUILD_DIR", HERE.parent / "build"))
CALLS_MIN, CALLS_MAX = 5, 60

HARNESS_JS = """
let best = 1e9;
let answer;
for (let i = 0; i < %d; i++) {
  const start = Date.now();
  answer = await run();
  const taken = Date.now() - start;
  if (taken < best) best = taken;
}
return { best, answer };
"""
HARNESS_LUA = """
local best, answer = 1e9, nil
for i = 1, %d do
  local start = os.clock()
  answer = run()
  best = math.min(best, (os.clock() - start) * 1000)
end
if math.type(answer) == "float" and answer == math.floor(answer) then answer = math.tointeger(answer) end
print(string.format('{"best":%%.3f,"answer":%%s}', best, answer))
"""


def run_once(command):
    """The program's answer, with the processor time of its process in ms."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        text = process.stdout.read()
        process.stdout.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(command)}: exit code {process.returncode}\n{errors.read()}")
    result = json.loads(text.strip().splitlines()[-1])
    result["cpu"] = (usage.ru_utime + usage.ru_stime) * 1000
    return result


class Program:
    def __init__(self, path, folder, options):
        self.name = path.stem
        self.path = path
        self.folder = folder
        self.options = options
        self.engines = ["abide", "jitless"] + (["jit"] if options.jit else [])
        if path.with_suffix(".lua").exists():
            self.engines.append("lua")

    def command(self, engine, calls):
        path = self.folder / f"{self.name}-{engine}-{calls}"
        if engine == "lua":
            path.write_text(self.path.with_suffix(".lua").read_text() + HARNESS_LUA % calls)
            return ["lua5.4", str(path)]
        body = self.path.read_text() + HARNESS_JS % calls
        if engine == "abide":
            path.write_text(body)
            return [self.options.abide, "run", str(path), "--memory", "512M"]
        path.write_text(f'"use strict";\n(async () => {{\n{body}\n}})()'
                        ".then((result) => console.log(JSON.stringify(result)));\n")
        return ["node", *(["--jitless"] if engine == "jitless" else []), str(path)]

    def measure(self):
        wall, once, often, answers = {}, {}, {}, {}
        first = run_once(self.command("abide", CALLS_MIN))
        calls = int(self.options.milliseconds / max(first["best"], 1))
        calls = max(CALLS_MIN, min(CALLS_MAX, calls))
        for _ in range(self.options.rounds):
            for engine in self.engines:
                result = run_once(self.command(engine, 1))
                once[engine] = min(once.get(engine, math.inf), result["cpu"])
                result = run_once(self.command(engine, 1 + calls))
                often[engine] = min(often.get(engine, math.inf), result["cpu"])
                wall[engine] = min(wall.get(engine, math.inf), result["best"])
                answers[engine] = result["answer"]
        if len(set(map(str, answers.values()))) > 1:
            sys.exit(f"{self.name}: the answers differ: {answers}")
        best = {engine: (often[engine] - once[engine]) / calls for engine in self.engines}
        # The clock of scripts has milliseconds only: short calls are taken from the other figure.
        return {engine: min(best[engine], wall[engine] if wall[engine] >= 10 else math.inf)
                for engine in self.engines}


def report(name, best):
    ratio = best["jitless"] / best["abide"]
    figure = {"bench": f"flow.{name}", "value": round(best["abide"], 3), "unit": "ms",
              "limit": round(best["jitless"], 3), "ratio": round(ratio, 3)}
    for engine in ("lua", "jit"):
        if engine in best:
            figure[engine] = round(best[engine], 3)
    print(json.dumps(figure), flush=True)
    lua = f"{best['lua']:8.1f}" if "lua" in best else "       -"
    jit = f"{best['jit']:8.1f}" if "jit" in best else ""
    print(f"  {name:16} {best['abide']:8.1f} {best['jitless']:8.1f} {lua} {ratio:8.2f} {jit}",
          file=sys.stderr)
    return ratio


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--abide", default=str(BUILD / "abide"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--milliseconds", type=int, default=400)
    parser.add_argument("--jit", action="store_true", help="beside node with its compilers, too")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    paths = sorted((HERE / "flow").glob("*.js"))
    if options.names:
        paths = [path for path in paths if path.stem in options.names]
    print(f"  {'':16} {'abide':>8} {'jitless':>8} {'lua':>8} {'speed':>8}   (ms; speed = jitless / abide)",
          file=sys.stderr)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            program = Program(path, pathlib.Path(folder), options)
            ratios.append(report(program.name, program.measure()))
    if ratios and not options.names:
        equal = sum(ratio >= 1 for ratio in ratios) / len(ratios)
        print(json.dumps({"bench": "flow.at_least_equal", "value": round(equal, 3), "unit": "share",
                          "limit": 0.5, "ratio": round(equal / 0.5, 3)}), flush=True)
        print(json.dumps({"bench": "flow.slowest", "value": round(min(ratios), 3), "unit": "speed",
                          "limit": 0.5, "ratio": round(min(ratios) / 0.5, 3)}), flush=True)
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"  as fast or faster in {equal:.0%}, slowest {min(ratios):.2f}, mean {mean:.2f}",
              file=sys.stderr)
    compiler = BUILD / "bench" / "flow-compile"
    if compiler.exists() and not options.names:
        subprocess.run([str(compiler)], check=True)


main()
