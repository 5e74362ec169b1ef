// The catalogue of the conformance suite (CATALOGUE.md) on the library for Node.
import { CancelledError, NonRetryableError, Worker, workflow } from "../../sdk/node/src/index.js"

const ENV = process.env
const CODE = ENV.CONFORMANCE_CODE ?? "1"

/** An error as the suite describes it. */
function thrown({ type, message, details, cause, final }) {
  const error = final ? new NonRetryableError(message, { type }) : Object.assign(new Error(message), { name: type })
  if (details !== undefined) error.details = details
  if (cause !== undefined) error.cause = thrown(cause)
  return error
}

/** An effect. */
async function call(run, name, say, signal) {
  const answer = await fetch(ENV.CONFORMANCE_EFFECTS, {
    method: "POST", body: JSON.stringify({ run, name, say: say ?? null }), signal,
  })
  const said = await answer.json()
  if (said.error) throw thrown(said.error)
  return said.result
}

function bodyOf(run, name, body) {
  if (body.call !== undefined) return step => call(run, name, body.call, step.signal)
  return () => body.text !== undefined ? "x".repeat(body.text) : body.value
}

function retryOf({ attempts, delay, factor, max_delay, non_retryable }) {
  const given = { attempts, delay, factor, maxDelay: max_delay, nonRetryable: non_retryable }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}

function described(error) {
  const found = { type: error.type ?? error.name, message: error.message }
  if (error.details !== undefined && error.details !== null) found.details = error.details
  return found
}

/** Kinds of expressions that await nothing. */
const plain = {
  value: (_, value) => value,
  data: play => play.input.data ?? null,
  get: (play, name) => play.names[name] ?? null,
  at: (play, from, key) => play.plain(from)[key],
  list: (play, ...members) => members.map(each => play.plain(each)),
  add: (play, left, right) => play.plain(left) + play.plain(right),
  less: (play, left, right) => play.plain(left) < play.plain(right),
  equal: (play, left, right) => play.plain(left) === play.plain(right),
  throw: (_, error) => { throw thrown(error) },
  again: play => { throw play.errors.pop() },
  log: (play, text) => { play.ctx.log.info(text); return null },
  now: play => play.ctx.now().getTime(),
  random: play => play.ctx.random(),
  uuid: play => play.ctx.uuid(),
  changed: (play, name) => play.ctx.changed(name),
  aborted: play => play.ctx.aborted.aborted,
  info: ({ ctx: { info } }) => ({ run_id: info.runId, workflow: info.workflow, version: info.version,
    attempt: info.attempt, tags: info.tags, parent_id: info.parentId }),
}

/** Those that can be awaited: they are begun, and answer a promise. */
const begins = {
  step: ({ ctx }, name, body, { timeout, ...retry } = {}) =>
    ctx.step(name, bodyOf(ctx.info.runId, name, body), { retry: retryOf(retry), ...timeout ? { timeout } : {} }),
  task: (play, name, input, options) => play.ctx.task(name, play.plain(input), options),
  child: (play, name, input, options) => play.ctx.child(name, play.plain(input), options),
  sleep: ({ ctx }, duration) => ctx.sleep(duration),
  sleep_until: (play, at) => play.ctx.sleepUntil(new Date(play.plain(at))),
  signal: ({ ctx }, name, timeout) => ctx.signal(name, timeout ? { timeout } : {}),
  event: ({ ctx }, topic, options) => ctx.event(topic, options),
  all: (play, members) => play.ctx.all(play.members(members)),
  any: (play, members) => play.ctx.any(play.members(members)),
  race: (play, members) => play.ctx.race(play.members(members)),
  all_settled: (play, members) => play.ctx.allSettled(play.members(members)).then(all => all.map(each =>
    each.status === "fulfilled" ? { value: each.value ?? null } : { error: described(each.reason) })),
}

/** All others. */
const others = {
  async set(play, name, expression) { return play.names[name] = await play.value(expression) },
  async at(play, expression, key) { return (await play.value(expression))[key] },
  async list(play, ...expressions) {
    const found = []
    for (const each of expressions) found.push(await play.value(each))
    return found
  },
  async do(play, ...expressions) { return (await others.list(play, ...expressions)).at(-1) ?? null },
  async add(play, left, right) { return await play.value(left) + await play.value(right) },
  async less(play, left, right) { return await play.value(left) < await play.value(right) },
  async equal(play, left, right) { return await play.value(left) === await play.value(right) },
  async if(play, condition, then, otherwise) { return play.value(await play.value(condition) ? then : otherwise) },
  async repeat(play, count, expression) {
    const found = []
    for (let i = 0; i < count; i++) {
      play.names.i = i
      found.push(await play.value(expression))
    }
    return found
  },
  async while(play, condition, expression) {
    while (await play.value(condition)) await play.value(expression)
    return null
  },
  async try(play, expression, handler) {
    try {
      return await play.value(expression)
    } catch (error) {
      if (error === play.leaving) throw error
      play.names.error = described(error)
      play.errors.push(error)
    }
    return play.value(handler)
  },
  async finally(play, expression, cleanup) {
    let value
    try {
      value = await play.value(expression)
    } catch (error) {
      if (error !== play.leaving) await play.value(cleanup)
      throw error
    }
    await play.value(cleanup)
    return value
  },
  async begin(play, name, expression) {
    play.begun[name] = play.member(expression)
    play.begun[name].catch(() => {}) // it may never be awaited
    return null
  },
  async await(play, name) { return await play.begun[name] ?? null },
  async start(play, name, input, options) { play.ctx.start(name, await play.value(input), options); return null },
  async emit(play, topic, payload) { play.ctx.emit(topic, await play.value(payload)); return null },
  async stream(play, value, type) { play.ctx.stream(await play.value(value), type); return null },
  async state(play, name, value) { play.ctx.state.set(name, await play.value(value)); return null },
  async continue_as(play, expression) {
    const input = { ...play.input, data: await play.value(expression) }
    try {
      play.ctx.continueAs(input)
    } catch (leaving) {
      play.leaving = leaving
      throw leaving
    }
  },
}

/** Evaluates one program. */
class Play {
  constructor(ctx, input) {
    Object.assign(this, { ctx, input, names: {}, begun: {}, errors: [], leaving: undefined })
  }

  plain([kind, ...rest]) { return plain[kind](this, ...rest) }

  member(expression) {
    const [kind, ...rest] = expression
    return begins[kind] ? begins[kind](this, ...rest) : this.value(expression)
  }

  members(expressions) { return expressions.map(each => this.member(each)) }

  async value(expression) {
    const [kind, ...rest] = expression
    if (begins[kind]) return await this.member(expression) ?? null
    return others[kind] ? others[kind](this, ...rest) : this.plain(expression)
  }
}

const definitions = []

function define(name, body) {
  definitions.push(workflow({ name: (ENV.CONFORMANCE_PREFIX ?? "") + name, version: ENV.CONFORMANCE_VERSION ?? "1" }, body))
}

define("play", (ctx, input) => new Play(ctx, input).value(input.code[CODE] ?? input.code[1]))

// The ten.

const step = (ctx, name, retry) => ctx.step(name, step => call(ctx.info.runId, name, null, step.signal), retry ? { retry } : {})

define("order", async (ctx, input) => {
  const receipt = await step(ctx, "charge")
  await ctx.sleep("5ms")
  return { card: input.card, receipt, label: await step(ctx, "ship") }
})

define("saga", async (ctx, input) => {
  const booked = []
  const results = []
  try {
    for (const each of input) {
      results.push(await step(ctx, `book ${each}`))
      booked.push(each)
    }
  } catch (error) {
    if (error instanceof CancelledError) throw error
    const undone = []
    for (const each of booked.reverse()) undone.push(await step(ctx, `undo ${each}`))
    return { undone }
  }
  return { booked: results }
})

define("loop", async (ctx, input) => {
  let sum = 0
  for (let i = 0; i < input; i++) sum += await step(ctx, "page")
  return sum
})

define("countdown", async (ctx, { left, sum }) => {
  const total = sum + await step(ctx, "tick")
  if (left > 1) ctx.continueAs({ left: left - 1, sum: total })
  return total
})

define("fan", async (ctx, input) => {
  const parts = await Promise.all(Array.from({ length: input }, (_, place) => step(ctx, `part ${place}`)))
  return [...parts, await step(ctx, "merge")]
})

define("flaky", async ctx => [await step(ctx, "unsteady", { attempts: 5, delay: "1ms" }), await step(ctx, "after")])

define("family", async (ctx, input) => {
  const children = await ctx.all(input.names.map(name => ctx.child(input.child, name)))
  return { children, report: await step(ctx, "report") }
})

define("leaf", async (ctx, input) => {
  const got = await step(ctx, "leaf")
  await ctx.sleep("1ms")
  return { of: input, got }
})

define("race", async ctx => {
  const quick = await ctx.race([step(ctx, "quick"), ctx.signal("never")])
  await ctx.all([ctx.sleep("1ms"), ctx.sleep("2ms")])
  return [quick, await step(ctx, "done")]
})

define("agent", async (ctx, input) => {
  const thoughts = []
  for (let round = 1; round <= input; round++) {
    ctx.now()
    thoughts.push(await step(ctx, "think"))
    ctx.emit("thoughts", thoughts.at(-1))
    ctx.stream(thoughts.at(-1))
    ctx.state.set("round", round)
  }
  return thoughts
})

const worker = new Worker({ name: ENV.CONFORMANCE_WORKER, lease: ENV.CONFORMANCE_LEASE })
worker.workflow(...definitions)
process.on("SIGTERM", () => worker.stop())
await worker.run()
