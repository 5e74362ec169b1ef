// Restate for the workloads of driver.mjs: a server (PEERS_INGRESS, PEERS_ADMIN), and the service in
// this process at the port PEERS_PORT. PEERS_IDLE is after how many milliseconds a handler that
// waits is suspended, when that is not the default (a minute).
import "./resolvers.mjs"
import * as restate from "@restatedev/restate-sdk"
import * as clients from "@restatedev/restate-sdk-clients"
import { drive, touch } from "./driver.mjs"

const gates = new Map() // id: the awakeable that ends its wait
const quick = async () => ({ ok: true })

const service = restate.service({
  name: "peers",
  options: process.env.PEERS_IDLE ? { inactivityTimeout: Number(process.env.PEERS_IDLE) } : {},
  handlers: {
    async chain(context, steps) {
      for (let i = 0; i < steps; i++) await context.run("quick", quick)
      return true
    },
    async gate(context, id) {
      const wait = context.awakeable()
      gates.set(id, wait.id)
      return wait.promise
    },
    async until(context, at) {
      const left = await context.run("left", () => at - Date.now())
      await context.sleep(Math.max(0, left))
      return left
    },
    async fan(context, width) {
      const steps = Array.from({ length: width }, () => context.run("quick", quick))
      return (await restate.RestatePromise.all(steps)).length
    },
    async loop(context, id) {
      for (;;) await context.run("touch", () => touch(id))
    },
  },
})

await restate.serve({ services: [service], port: Number(process.env.PEERS_PORT) })
const answer = await fetch(`${process.env.PEERS_ADMIN}/deployments`, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ uri: `http://127.0.0.1:${process.env.PEERS_PORT}`, force: true }),
})
if (!answer.ok) throw new Error(`the deployment was refused: ${await answer.text()}`)

const ingress = clients.connect({ url: process.env.PEERS_INGRESS })
const call = ingress.serviceClient(service)
const send = ingress.serviceSendClient(service)

await drive({
  run: (workflow, input) => call[workflow](input),
  begin: (workflow, input) => send[workflow](input),
  waiting: () => gates.size,
  isWaiting: (id) => gates.has(id),
  signal: (id) => ingress.resolveAwakeable(gates.get(id), 1),
})
