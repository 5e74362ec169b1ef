// everyCrash: a scenario, once undisturbed and once for each place at which its worker may die.
//
// A worker that dies between two commits is, for the server, one whose last commit was answered or
// was not. So there are two points for each commit: just before it is sent, and after the server
// has taken it, before the worker learns that it did.
import { isDeepStrictEqual } from "node:util"
import { allowOnly } from "../fields.js"
import { parts } from "../worker.js"
import { TestServer } from "./test_server.js"

const OPTIONS = ["binary", "workflows", "tasks", "logger", "compare"]
const NEVER = new Promise(() => {})

export class CrashDiffers extends Error {
  constructor(commit, when, expected, found) {
    super(`with a worker that died ${when} commit ${commit} the outcome is another one\n` +
      `expected: ${JSON.stringify(expected)}\nfound:    ${JSON.stringify(found)}`)
    Object.assign(this, { name: "CrashDiffers", commit, when, expected, found })
  }
}

// Counts the commits of all workers of a server, and kills the one that makes the commit number `at`.
class Plan {
  count = 0
  hasCrashed = false
  replaced = undefined // promise: the next worker has taken over

  constructor(at, when) {
    Object.assign(this, { at, when })
  }

  watch(worker) {
    const { pump } = worker[parts].turns
    const send = text => Object.getPrototypeOf(pump).send.call(pump, text)
    pump.send = async text => {
      if (++this.count !== this.at) return send(text)
      if (this.when === "after") await send(text)
      this.hasCrashed = true
      this.replaced = this.server.replaceWorker()
      return NEVER
    }
  }
}

// What every run did: how it ended, and the steps that are recorded.
async function recordOf(client) {
  const runs = []
  for await (const { id, workflow, status } of client.list()) {
    const steps = []
    for await (const { name, outcome } of client.steps(id)) steps.push(`${name} ${outcome}`)
    runs.push({ workflow, status, steps })
  }
  return runs.map(run => JSON.stringify(run)).sort().map(text => JSON.parse(text))
}

async function play(scenario, { compare = result => result, ...options }, at, when) {
  const plan = new Plan(at, when)
  const server = plan.server = await new TestServer().open(options, worker => plan.watch(worker))
  try {
    const result = await scenario(server)
    await plan.replaced
    await server.settled()
    return { plan, result, outcome: { result: compare(result), runs: await recordOf(server.client) } }
  } finally {
    await server.close()
  }
}

export async function everyCrash(scenario, options = {}) {
  allowOnly("everyCrash", options, OPTIONS)
  const { result, outcome: expected } = await play(scenario, options)
  let crashes = 0
  for (let commit = 1; ; commit++) {
    for (const when of ["before", "after"]) {
      const { plan, outcome } = await play(scenario, options, commit, when)
      if (!plan.hasCrashed) return { crashes, result }
      crashes++
      if (!isDeepStrictEqual(outcome, expected)) throw new CrashDiffers(commit, when, expected, outcome)
    }
  }
}
