#!/usr/bin/env python3
"""Flow beside Node's interpreter and Lua: the programs of bench/flow, and the compiler.

Each bench/flow/NAME.js defines run(), which answers a checksum; NAME.lua is its twin where Lua has
the same things. A program is started a few times in turn by abide, by `node --jitless` and by
lua5.4; each process calls run() again and again for a while, and the fastest call of all counts: other
load on the machine can only make a call slower. All engines must answer the same checksum.

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

# Calls run() for a fixed number of milliseconds, at least five times: the first calls warm up.
# The clock has milliseconds only, so a run() must take some tens of them.
HARNESS_JS = """
let best = 1e9;
let answer;
const begin = Date.now();
for (let i = 0; i < 5 || Date.now() - begin < %d; i++) {
  const start = Date.now();
  answer = await run();
  const taken = Date.now() - start;
  if (taken < best) best = taken;
}
return { best, answer };
"""
HARNESS_LUA = """
local best, answer = 1e9, nil
local begin = os.clock()
local i = 0
while i < 5 or (os.clock() - begin) * 1000 < %d do
  local start = os.clock()
  answer = run()
  best = math.min(best, (os.clock() - start) * 1000)
  i = i + 1
end
if math.type(answer) == "float" and answer == math.floor(answer) then answer = math.tointeger(answer) end
print(string.format('{"best":%%.3f,"answer":%%s}', best, answer))
"""


def run_once(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return json.loads(done.stdout.strip().splitlines()[-1])


class Program:
    def __init__(self, path, folder, milliseconds, abide, with_jit):
        self.name = path.stem
        body = path.read_text() + HARNESS_JS % milliseconds
        flow = folder / f"{self.name}.flow"
        flow.write_text(body)
        node = folder / f"{self.name}.js"
        node.write_text(f'"use strict";\n(async () => {{\n{body}\n}})()'
                        ".then((result) => console.log(JSON.stringify(result)));\n")
        self.commands = {
            "abide": [abide, "run", str(flow), "--memory", "512M"],
            "jitless": ["node", "--jitless", str(node)],
        }
        if with_jit:
            self.commands["jit"] = ["node", str(node)]
        twin = path.with_suffix(".lua")
        if twin.exists():
            lua = folder / f"{self.name}.lua"
            lua.write_text(twin.read_text() + HARNESS_LUA % milliseconds)
            self.commands["lua"] = ["lua5.4", str(lua)]

    def measure(self, rounds):
        best = {}
        answers = {}
        for _ in range(rounds):
            for engine, command in self.commands.items():
                result = run_once(command)
                best[engine] = max(min(best.get(engine, math.inf), result["best"]), 0.5)
                answers[engine] = result["answer"]
        if len(set(map(str, answers.values()))) > 1:
            sys.exit(f"{self.name}: the answers differ: {answers}")
        return best


def report(name, best):
    ratio = best["jitless"] / best["abide"]
    figure = {"bench": f"flow.{name}", "value": best["abide"], "unit": "ms",
              "limit": best["jitless"], "ratio": round(ratio, 3)}
    if "lua" in best:
        figure["lua"] = best["lua"]
    if "jit" in best:
        figure["jit"] = best["jit"]
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
            program = Program(path, pathlib.Path(folder), options.milliseconds, options.abide,
                              options.jit)
            ratios.append(report(program.name, program.measure(options.rounds)))
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
