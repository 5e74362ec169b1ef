// abide for the workloads of driver.mjs: workflows are functions in this process, runs on a server.
import { Client, Worker, workflow } from "../../sdk/node/src/index.js"
import { runsOf } from "./abide_runs.mjs"
import { drive, touch } from "./driver.mjs"

const quick = () => ({ ok: true })
const DEFINITIONS = {
  chain: workflow("code-chain", async (ctx, steps) => {
    for (let i = 0; i < steps; i++) await ctx.step("quick", quick)
    return true
  }),
  gate: workflow("code-gate", async ctx => ctx.signal("go")),
  until: workflow("code-until", async (ctx, at) => {
    const left = at - ctx.now().getTime()
    await ctx.sleepUntil(new Date(at))
    return left
  }),
  fan: workflow("code-fan", async (ctx, width) =>
    (await ctx.all(Array.from({ length: width }, () => ctx.step("quick", quick)))).length),
  loop: workflow("code-loop", async (ctx, id) => {
    for (;;) await ctx.step("touch", () => touch(id))
  }),
}

const client = new Client()
const silent = { info() {}, warn() {}, error: console.error }
const worker = new Worker({ lease: "5s", maxRunsInMemory: 100_000, logger: silent }).workflow(...Object.values(DEFINITIONS))
worker.start()
while (!worker.stats().workflows.isKnown) await new Promise(resolve => setTimeout(resolve, 10))

await drive(runsOf(client, name => DEFINITIONS[name]))
