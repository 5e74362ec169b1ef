// Runs of functions that workers execute, by the protocol itself (docs/protocol.md).
import assert from "node:assert/strict"

export const CODE = [{ name: "checkout", version: "2" }]

// One turn of a run of `checkout`, as a worker takes it.
export async function turn(server, outcome, entries, more = {}) {
  const { turns: [it] } = await server.post("/v1/turns/claim", { worker: "host-7", workflows: CODE, max: 1, wait: "30s", lease: "30s" })
  await commit(server, it, outcome, entries, more)
  return it
}
export async function commit(server, it, outcome, entries, more = {}) {
  const { turns: [verdict] } = await server.post("/v1/turns/commit", { turns: [{ turn: it.turn, outcome, entries, ...more }] })
  assert.equal(verdict.status, "accepted", JSON.stringify(verdict))
}
export const CHARGE = { kind: "step", op: 1, name: "charge", result: { receipt: "r-5" } }
export const RESERVE = [{ kind: "attempt", op: 2, name: "reserve", error: { type: "Timeout", message: "the warehouse did not answer" }, attempt: 1 }, { kind: "step", op: 2, name: "reserve", result: { shelf: 17 }, attempt: 2 }]
export const WAITS = { waits: [{ op: 3, on: "signal", name: "approval", until: "2036-01-01T00:00:00Z" }] }

// A run that charged and reserved, each taking its time, and waits for a person.
export async function checkout(server, id) {
  const rest = ms => new Promise(resolve => setTimeout(resolve, ms))
  await server.post("/v1/turns/register", { workflows: CODE })
  await server.start_run("checkout", id, { customer: "Ada", items: [{ name: "lamp", price: 40, count: 3 }] }, { tags: ["eu"] })
  const it = await turn(server, "running", [])
  for (const [ms, entry] of [[70, CHARGE], [45, RESERVE[0]], [130, RESERVE[1]]]) {
    await rest(ms)
    await commit(server, it, "running", [entry])
  }
  await commit(server, it, "suspended", [{ kind: "line", name: "log", text: "reserved shelf 17" }, { kind: "state", name: "customer", value: "Ada" }], WAITS)
}
