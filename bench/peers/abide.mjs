// abide for the workloads of driver.mjs: scripts on a server, their tasks in this process.
import { Client, Worker } from "../../sdk/node/src/index.js"
import { runsOf } from "./abide_runs.mjs"
import { drive, touch } from "./driver.mjs"

const FLOWS = {
  chain: "for (let i = 0; i < Inputs; i++) await Task.run('quick', i)\nreturn true",
  gate: "return await Signal.next('go')",
  until: "const left = Inputs - Date.now()\nawait Timer.until(new Date(Inputs))\nreturn left",
  fan: "return (await Task.all(Array.from({length: Inputs}, (_, i) => Task.run('quick', i)))).length",
  loop: "for (;;) await Task.run('touch', Inputs)",
}

const client = new Client()
for (const [name, source] of Object.entries(FLOWS)) await client.deploy(name, source)
const silent = { info() {}, warn() {}, error: console.error }
const worker = new Worker({ concurrency: Number(process.env.PEERS_CONCURRENCY), lease: "5s", logger: silent })
worker.task("quick", () => ({ ok: true }))
worker.task("touch", touch)
worker.run()

await drive(runsOf(client, name => name))
