// A program on the Node library for test_sdk.py; probe.py is its twin.
//
//   probe.mjs worker {options}      does the tasks below, tells what happens as JSON lines
//   probe.mjs client NAME {input}   runs a function below, prints its answer as JSON
//   probe.mjs calls                 tells the client's methods, then makes the calls it reads, one per line
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { ApiError, Client, NonRetryableError, RunFailed, TaskError, WaitTimeout, Worker } from "abide"

const tell = event => console.log(JSON.stringify(event))

class CardDeclined extends Error {
  name = "CardDeclined"
}

const handlers = {
  echo: value => value,
  soon: async value => value,

  flop({ kind }, context) {
    if (kind === "plain") throw new CardDeclined("no money")
    if (kind === "final") throw new NonRetryableError("never", { details: { limit: 5 } })
    if (kind === "typed") throw new TaskError("busy", { type: "Busy", details: [1, 2] })
    if (kind === "once" && context.attempt === 1) throw new Error("the first time")
    if (kind === "unwritable") return 1n
    if (kind === "huge") return "x".repeat(5 << 20)
    if (kind === "wordy") throw new Error("x".repeat(1 << 20))
    return { attempt: context.attempt }
  },

  // Until the time is over, or its result is not wanted any more.
  async slow(value, context) {
    tell({ event: "begin", id: context.id, attempt: context.attempt })
    if (value.progress) context.progress(value.progress)
    try {
      await delay(value.seconds * 1000, undefined, { signal: context.signal })
    } catch {
      tell({ event: "cancelled", id: context.id, reason: context.signal.reason.reason })
      throw context.signal.reason
    }
    tell({ event: "end", id: context.id })
    return "slept"
  },

  // Listens to nobody.
  async stubborn(value, context) {
    tell({ event: "begin", id: context.id, attempt: context.attempt })
    await delay(value.seconds * 1000, undefined, { ref: false })
    return "slept"
  },

  about(_value, { id, name, queue, step, attempt, runId, traceparent }) {
    return { id, name, queue, step, attempt, run: runId, trace: traceparent ?? null }
  },
}

async function work(options) {
  const worker = new Worker(options)
  for (const [name, handler] of Object.entries(handlers)) worker.task(name, handler)
  tell({ event: "ready" })
  try {
    await worker.run()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    tell({ event: "refused", code: error.code })
    process.exit(3)
  }
  tell({ event: "stopped" })
}

async function errorOf(promise, kind) {
  try {
    await promise
  } catch (error) {
    if (error instanceof kind) return error
    throw error
  }
}

const scenarios = {
  async basics(client, { key }) {
    const deployed = await client.deploy("basics", "return await Signal.next('go')")
    const first = await client.start("basics", null, { key, tags: [key, "t"] })
    const again = await client.start("basics", null, { key, tags: [key, "t"] })
    const waited = (await errorOf(client.result(first.id, { timeout: "50ms" }), WaitTimeout)) ? "timeout" : "no"
    await client.signal(first.id, "go", { n: [1, null] }, { id: "s1" })
    return {
      deployed: deployed.workflows[0].name, same: first.id === again.id, waited, result: await client.result(first.id),
      status: (await client.show(first.id)).status, cancelled: await client.cancel(first.id, { reason: "late" }),
    }
  },

  async errors(client) {
    await client.deploy("failing", "throw new TypeError('not today')")
    await client.deploy("endless", "await Signal.next('never')")
    const failed = await errorOf(client.run("failing"), RunFailed)
    const run = await client.start("endless")
    const changed = await client.cancel(run.id, { reason: "enough" })
    const cancelled = await errorOf(client.result(run.id, { timeout: "20s" }), RunFailed)
    const found = { failed: [failed.status, failed.error.message], changed, cancelled: cancelled.status }
    const calls = {
      flow: () => client.deploy("bad", "const x = ;"), run: () => client.show("nobody"),
      workflow: () => client.start("nobody"), signal: () => client.signal(run.id, "x"),
    }
    for (const [name, call] of Object.entries(calls)) {
      const error = await errorOf(call(), ApiError)
      found[name] = [error.status, error.code]
    }
    return found
  },

  async lists(client, { tag }) {
    await client.deploy("endless", "await Signal.next('never')")
    const ids = [], listed = [], none = []
    for (let i = 0; i < 5; i++) ids.push((await client.start("endless", i, { tags: [tag] })).id)
    for await (const run of client.list({ tag, pageSize: 2 })) listed.push(run.id)
    for await (const run of client.list({ tag: "nothing has it" })) none.push(run.id)
    return { ids, listed, none }
  },

  async events(client, { topic }) {
    await client.deploy("listener", "return await Event.wait(Inputs)")
    const run = await client.start("listener", topic)
    const first = await client.emit(topic, { n: 1 }, { id: `${topic}-1` })
    const again = await client.emit(topic, { n: 1 }, { id: `${topic}-1` })
    return { result: await client.result(run.id), first: first.duplicate, again: again.duplicate }
  },

  async tasks(client, { queue }) {
    const made = await client.tasks.create("echo", { a: 1 }, { queue, priority: 3 })
    const listed = []
    for await (const task of client.tasks.list({ queue, status: "queued" })) listed.push(task.id)
    const { changed } = await client.tasks.retry(made.id)
    return { id: made.id, status: (await client.tasks.show(made.id)).status, listed, retried: changed }
  },

  async traced(client, { traceparent }) {
    await client.deploy("traced", "return await Task.run('about')")
    const run = await client.start("traced", null, { traceparent })
    return (await client.result(run.id)).trace
  },

  async stream(client, { run, after = 0 }) {
    const seen = []
    for await (const entry of client.stream(run, { after })) {
      seen.push([entry.seq, entry.kind])
      tell({ event: "entry", seq: entry.seq })
    }
    return seen
  },
}

// ---- any call of the library, asked for on standard input ----

const toCamel = text => text.replace(/_(\w)/g, (_all, letter) => letter.toUpperCase())
const toSnake = text => text.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

function methodsOf(object) {
  const names = []
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at))
    names.push(...Object.getOwnPropertyNames(at).filter(name => typeof object[name] === "function"))
  return names.filter(name => name !== "constructor" && !name.startsWith("_")).map(toSnake)
}

function methods(client) {
  const groups = Object.keys(client).filter(name => name !== "transport")
  return [...methodsOf(client),
    ...groups.flatMap(group => methodsOf(client[group]).map(name => `${toSnake(group)}.${name}`))]
}

async function perform(client, { call, args, options }) {
  const path = call.split(".").map(toCamel)
  const method = path.pop()
  const target = path.length ? client[path[0]] : client
  const named = Object.fromEntries(Object.entries(options).map(([key, value]) => [toCamel(key), value]))
  const answer = target[method](...args, ...(Object.keys(named).length ? [named] : []))
  if (answer?.[Symbol.asyncIterator] === undefined) return (await answer) ?? null
  const items = []
  for await (const item of answer) {
    items.push(item)
    if (call === "changes") break // has no end
  }
  return items
}

async function serveCalls(client) {
  tell({ event: "methods", names: methods(client) })
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      tell({ event: "answer", answer: await perform(client, JSON.parse(line)) })
    } catch (error) {
      const { name, message, status = null, code = null, detail = null } = error
      tell({ event: "error", kind: name, message, status, code, detail })
    }
  }
}

const [mode, ...rest] = process.argv.slice(2)
if (mode === "worker") {
  await work(JSON.parse(rest[0]))
} else if (mode === "calls") {
  const client = new Client()
  await serveCalls(client)
  client.close()
} else {
  const client = new Client()
  tell({ event: "answer", answer: await scenarios[rest[0]](client, JSON.parse(rest[1])) })
  client.close()
}
