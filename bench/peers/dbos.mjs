// DBOS for the workloads of driver.mjs: a library in this process on a PostgreSQL (PEERS_POSTGRES).
// PEERS_POOL is the size of its connection pool when it is not the default.
import { DBOS } from "@dbos-inc/dbos-sdk"
import { drive, touch } from "./driver.mjs"

const gates = new Set()
const quick = async () => ({ ok: true })
const WAIT_SECONDS = 7 * 24 * 3600

const workflows = {
  async chain(steps) {
    for (let i = 0; i < steps; i++) await DBOS.runStep(quick, { name: "quick" })
    return true
  },
  async gate(id) {
    gates.add(id)
    return DBOS.recv("go", { timeoutSeconds: WAIT_SECONDS })
  },
  async until(at) {
    const left = await DBOS.runStep(async () => at - Date.now(), { name: "left" })
    await DBOS.sleep(Math.max(0, left))
    return left
  },
  async fan(width) {
    const steps = Array.from({ length: width }, () => DBOS.runStep(quick, { name: "quick" }))
    return (await Promise.all(steps)).length
  },
  async loop(id) {
    for (;;) await DBOS.runStep(async () => touch(id), { name: "touch" })
  },
}
for (const name of Object.keys(workflows)) workflows[name] = DBOS.registerWorkflow(workflows[name], { name })

DBOS.setConfig({
  name: "peers",
  systemDatabaseUrl: process.env.PEERS_POSTGRES,
  logLevel: "error",
  applicationVersion: "1", // what was running is taken up again by this version
  ...(process.env.PEERS_POOL ? { systemDatabasePoolSize: Number(process.env.PEERS_POOL) } : {}),
})
await DBOS.launch()

const begin = (workflow, input, id) => DBOS.startWorkflow(workflows[workflow], id ? { workflowID: id } : {})(input)

await drive({
  run: async (workflow, input, id) => (await begin(workflow, input, id)).getResult(),
  begin: async (workflow, input, id) => void (await begin(workflow, input, id)),
  waiting: () => gates.size,
  isWaiting: (id) => gates.has(id),
  signal: (id) => DBOS.send(id, 1, "go"),
})
