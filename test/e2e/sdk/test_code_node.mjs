// Workflows as functions of JavaScript, on a real server: what each operation does, and what a run
// survives. The conformance suite asks the same of every library; here is what is Node's own.
import assert from "node:assert/strict"
import { test } from "node:test"
import {
  CancelledError, ChildError, Client, RunFailed, StepError, TaskError, TimeoutError, Worker, workflow,
} from "../../../sdk/node/src/index.js"
import { startServer, waitUntil } from "../support/server.mjs"

const server = await startServer()
const client = new Client({ server: server.url })
const said = []
const logger = Object.fromEntries(["debug", "info", "warn", "error"].map(level =>
  [level, (message, error) => said.push({ level, message, error })]))
let count = 0

/** A worker that works until the test is over. */
function working(t, options, ...definitions) {
  const worker = new Worker({ server: server.url, logger, ...options })
  worker.workflow(...definitions)
  t.after(async () => {
    worker.stop()
    await worker.start()
  })
  return worker
}

/** A workflow of a name that no other test has, and a worker that has it. */
function having(t, body, options = {}) {
  const definition = workflow({ name: `flow-${++count}`, version: "1" }, body)
  const worker = working(t, options, definition)
  return { definition, worker }
}

async function resultOf(t, body, input, options) {
  const { definition, worker } = having(t, body, options)
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  return client.run(definition, input)
}

const suspended = handle => waitUntil(async () => (await client.show(handle.id)).status === "suspended")

test("steps, one after the other, and their results as JSON has them", async t => {
  const done = []
  const result = await resultOf(t, async (ctx, input) => {
    const receipt = await ctx.step("charge", () => {
      done.push("charge")
      return { card: input.card, at: new Date(0), left: undefined }
    })
    const label = await ctx.step("ship", async () => {
      done.push("ship")
      return "label"
    })
    const nothing = await ctx.step("nothing", () => {})
    return { receipt, label, nothing, isText: typeof receipt.at === "string" }
  }, { card: 7 })
  assert.deepEqual(result, {
    receipt: { card: 7, at: "1970-01-01T00:00:00.000Z" }, label: "label", nothing: null, isText: true,
  })
  assert.deepEqual(done, ["charge", "ship"])
})

test("signals, timers, tasks and children, and all of them at once", async t => {
  const child = workflow({ name: "plus-one", version: "1" }, async (ctx, n) => {
    await ctx.sleep("1ms")
    return n + 1
  })
  const { definition, worker } = having(t, async (ctx, input) => {
    const approval = await ctx.signal("approval", { timeout: "24h" })
    const all = await ctx.all([ctx.task("label", input), ctx.child(child, 41), ctx.step("here", () => 1), ctx.sleep(0.001)])
    const plain = await Promise.all([ctx.task("label", 2), ctx.child("plus-one", 1)])
    return { approval, all, plain }
  })
  worker.workflow(child).task("label", value => ({ labelled: value }))
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  const run = await client.start(definition, { a: 1 }, { tags: ["x"] })
  assert.equal(run.tags[0], "x")
  await suspended(run)
  await run.signal("approval", { by: "Ada" })
  assert.deepEqual(await run.result(), {
    approval: { by: "Ada" }, all: [{ labelled: { a: 1 } }, 42, 1, null], plain: [{ labelled: 2 }, 2],
  })
})

test("failures have classes, types, details and causes", async t => {
  const child = workflow({ name: "failing-child", version: "1" }, async () => {
    throw Object.assign(new RangeError("too far"), { details: { by: 3 } })
  })
  const { definition, worker } = having(t, async ctx => {
    const found = []
    const note = async promise => {
      try {
        await promise
      } catch (error) {
        found.push([error.constructor.name, error instanceof Error, error.type, error.message, error.details ?? null])
      }
    }
    await note(ctx.step("bad", () => { throw new TypeError("no", { cause: new Error("why") }) }))
    await note(ctx.task("bad", null, { retry: { attempts: 1 } }))
    await note(ctx.child(child))
    await note(ctx.signal("never", { timeout: "1ms" }))
    await note(ctx.step("slow", () => new Promise(() => {}), { timeout: "5ms" }))
    return found
  })
  worker.workflow(child).task("bad", () => { throw new TaskError("busy", { type: "Busy", details: [1] }) })
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  assert.deepEqual(await client.run(definition), [
    [StepError.name, true, "TypeError", "no", null],
    [TaskError.name, true, "Busy", "busy", [1]],
    [ChildError.name, true, "RangeError", "too far", { by: 3 }],
    [TimeoutError.name, true, "TimeoutError", 'timed out waiting for signal "never"', null],
    [StepError.name, true, "TimeoutError", 'the step "slow" took longer than 5ms', null],
  ])
})

test("what nobody catches fails the run as it was", async t => {
  const failed = resultOf(t, async ctx => ctx.step("bad", () => { throw new RangeError("broken") }))
  await assert.rejects(failed, error => error instanceof RunFailed && error.status === "failed" &&
    error.error.type === "RangeError" && error.error.message === "broken")
})

test("a step is tried again, and not for errors that are not worth it", async t => {
  const attempts = []
  const result = await resultOf(t, async ctx => {
    const third = await ctx.step("flaky", ({ attempt }) => {
      attempts.push(attempt)
      if (attempt < 3) throw new Error("not yet")
      return attempt
    }, { retry: { attempts: 5, delay: "1ms" } })
    const types = []
    for (const name of ["SyntaxError", "NonRetryableError"])
      await ctx.step(name, ({ attempt }) => {
        attempts.push(name)
        throw Object.assign(new Error(`attempt ${attempt}`), { name, retryable: name === "SyntaxError" })
      }, { retry: { attempts: 5, delay: "1ms", nonRetryable: ["SyntaxError"] } }).catch(error => types.push(error.type))
    return [third, types]
  })
  assert.deepEqual(result, [3, ["SyntaxError", "NonRetryableError"]])
  assert.deepEqual(attempts, [1, 2, 3, "SyntaxError", "NonRetryableError"])
})

test("a run that is cancelled cleans up", async t => {
  const done = []
  const { definition, worker } = having(t, async ctx => {
    try {
      await ctx.signal("never")
    } catch (error) {
      done.push(error instanceof CancelledError, ctx.aborted.aborted)
      await ctx.step("clean", () => done.push("clean"))
      throw error
    }
  })
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  const run = await client.start(definition)
  await suspended(run)
  assert.equal(await run.cancel(), true)
  await assert.rejects(run.result(), error => error.status === "cancelled")
  assert.deepEqual(done, [true, true, "clean"])
})

test("a worker that has nothing in memory replays, and repeats nothing", async t => {
  const done = []
  const seen = []
  const { definition, worker } = having(t, async ctx => {
    const first = await ctx.step("one", () => done.push("one"))
    const made = [ctx.now().getTime(), ctx.random(), ctx.uuid(), ctx.start("plus-one", 1)]
    ctx.log.info("before")
    const winner = await ctx.race([ctx.signal("a"), ctx.sleep("1ms").then(() => "slept")])
    await ctx.signal("go")
    ctx.log.info("after")
    const second = await ctx.step("two", () => done.push("two"))
    seen.push(made)
    return [first, winner, second, made]
  }, { maxRunsInMemory: 0 })
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  const run = await client.start(definition)
  await waitUntil(async () => (await client.show(run.id)).waits.some(wait => wait.name === "go"))
  await run.signal("go")
  const [first, winner, second, made] = await run.result()
  assert.deepEqual([first, winner, second, done], [1, "slept", 2, ["one", "two"]])
  assert.deepEqual(seen, [made])
  assert.equal(worker.stats().workflows.inMemory, 0)
  const lines = said.filter(({ message }) => message.includes(run.id) && /before|after/.test(message))
  assert.equal(lines.length, 2)
})

test("code that has changed pauses its runs and says where, and the right code goes on", async t => {
  const name = `flow-${++count}`
  const right = workflow({ name, version: "1" }, async ctx => {
    await ctx.step("a", () => 1)
    await ctx.signal("go")
    return "done"
  })
  const other = {
    step: async ctx => ctx.step("b", () => 2),
    command: async ctx => ctx.task("a"),
    nothing: async () => 1,
  }
  const said = []
  for (const [what, body] of Object.entries(other)) {
    const before = working(t, { name: `before-${what}` }, right)
    before.start({ handleSignals: false })
    await waitUntil(() => before.stats().workflows.isKnown)
    const run = await client.start(right)
    await suspended(run)
    before.stop()
    await before.start()
    const after = working(t, { name: `after-${what}` }, workflow({ name, version: "1" }, body))
    after.start({ handleSignals: false })
    await run.signal("go")
    const { pause_reason: reason } = await waitUntil(async () => {
      const found = await client.show(run.id)
      return found.status === "paused" && found
    })
    assert.equal(reason.type, "NondeterminismError")
    said.push(reason)
    after.stop()
    await after.start()
    const again = working(t, { name: `again-${what}` }, right)
    again.start({ handleSignals: false })
    await client.resume(run.id)
    assert.equal(await run.result(), "done")
    again.stop()
    await again.start()
  }
  assert.deepEqual(said.map(({ position, expected }) => [position, expected]),
    [[0, 'step "a"'], [1, 'mark "signal"'], [0, 'step "a"']])
  assert.match(said[0].lines[0], /test_code_node\.mjs:\d+$/)
  assert.match(said[1].lines[0], /test_code_node\.mjs:\d+$/)
  assert.match(said[1].found, /asks for task "a"/)
  assert.match(said[2].found, /has ended/)
})

test("a run that was beyond a change does not execute it", async t => {
  const name = `flow-${++count}`
  const version = isNew => workflow({ name, version: "1" }, async ctx => {
    if (isNew && ctx.changed("greeting")) await ctx.step("greet", () => 1)
    await ctx.step("charge", () => 1)
    await ctx.signal("go")
    return isNew && ctx.changed("greeting")
  })
  const before = working(t, {}, version(false))
  before.start({ handleSignals: false })
  await waitUntil(() => before.stats().workflows.isKnown)
  const old = await client.start(version(false))
  await suspended(old)
  before.stop()
  await before.start()
  const after = working(t, { maxRunsInMemory: 0 }, version(true))
  after.start({ handleSignals: false })
  await old.signal("go")
  assert.equal(await old.result(), false)
  const fresh = await client.start(version(true))
  await suspended(fresh)
  await fresh.signal("go")
  assert.equal(await fresh.result(), true)
})

test("slips are found in development, once, with their line, and not in steps", async t => {
  said.length = 0
  const { definition, worker } = having(t, async ctx => {
    for (let i = 0; i < 3; i++) Date.now()
    new Date()
    Math.random()
    await ctx.step("fine", () => [Date.now(), new Date(5), Math.random()])
    await new Promise(resolve => setTimeout(resolve, 1))
    return new Date(0).getTime()
  })
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  assert.equal(await client.run(definition), 0)
  const warnings = said.filter(({ level }) => level === "warn").map(({ message }) => message)
  const of = what => warnings.filter(message => message.includes(what) && /test_code_node\.mjs:\d+/.test(message)).length
  assert.deepEqual(["Date.now()", "new Date()", "Math.random()", "setTimeout()", "awaits something"].map(of), [1, 1, 1, 1, 1])
  worker.stop()
  await worker.start()
  assert.doesNotMatch(String(Date.now), /warn/)
})

test("stopping lets the step finish, hands the run back, and another worker goes on", async t => {
  const done = []
  let finish
  const body = async ctx => {
    await ctx.step("slow", () => new Promise(resolve => {
      done.push("slow")
      finish = resolve
    }))
    await ctx.step("next", () => done.push("next"))
    return done.length
  }
  const { definition, worker } = having(t, body)
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  const run = await client.start(definition)
  await waitUntil(() => finish)
  worker.stop()
  finish(1)
  await worker.start()
  assert.deepEqual(done, ["slow"])
  working(t, {}, definition).start({ handleSignals: false })
  assert.equal(await run.result(), 2)
})

test("what does not finish in time is handed back, and its function is told", async t => {
  const told = []
  let began
  const { definition, worker } = having(t, async ctx => ctx.step("stuck", ({ signal }) => new Promise(resolve => {
    began = true
    if (told.length > 0) resolve("second")
    signal.addEventListener("abort", () => told.push(signal.reason.reason))
  })), { grace: "10ms" })
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  const run = await client.start(definition)
  await waitUntil(() => began)
  worker.stop()
  await worker.start()
  assert.deepEqual(told, ["stopping"])
  working(t, {}, definition).start({ handleSignals: false })
  assert.equal(await run.result(), "second")
})

test("a step that takes longer than its lease is kept, and learns that its run is cancelled", async t => {
  let reason
  const { definition, worker } = having(t, async ctx => ctx.step("long", ({ signal }) => new Promise(resolve => {
    signal.addEventListener("abort", () => {
      reason = signal.reason.reason
      resolve()
    })
  })), { lease: "600ms" })
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  const run = await client.start(definition)
  await waitUntil(() => worker.stats().workflows.renewals > 3) // each is a third of the lease later
  assert.equal(worker.stats().workflows.fenced, 0)
  await run.cancel()
  await assert.rejects(run.result(), error => error.status === "cancelled")
  assert.equal(reason, "cancelled")
})

test("a run that begins again has an empty record", async t => {
  const done = []
  assert.equal(await resultOf(t, async (ctx, n) => {
    await ctx.step("count", () => done.push(n))
    if (n < 3) ctx.continueAs(n + 1)
    return n
  }, 1), 3)
  assert.deepEqual(done, [1, 2, 3])
})

test("an event goes to who waits for it, with a filter; state and stream are seen from outside", async t => {
  const topic = `news-${count}`
  const { definition, worker } = having(t, async ctx => {
    ctx.state.set("phase", "waiting")
    ctx.stream({ n: 1 }, "progress")
    const news = await ctx.event(topic, { filter: { kind: "b" } })
    ctx.emit(`${topic}-answer`, news)
    return [news, ctx.state.get("phase")]
  })
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  const run = await client.start(definition)
  await suspended(run)
  assert.deepEqual((await client.show(run.id)).state, { phase: "waiting" })
  await client.emit(topic, { kind: "a" })
  await client.emit(topic, { kind: "b" })
  assert.deepEqual(await run.result(), [{ kind: "b" }, "waiting"])
  const entries = []
  for await (const entry of run.events()) entries.push(entry)
  assert.deepEqual(entries.filter(({ kind }) => kind === "stream").map(({ name, data }) => [name, data]), [["progress", { n: 1 }]])
  assert.equal(entries.at(-1).kind, "finished")
})

test("what cannot be right is refused by name", async t => {
  const errors = []
  await resultOf(t, async ctx => {
    const calls = [
      () => ctx.step("", () => 1), () => ctx.step("x"), () => ctx.step("x", () => 1, { retries: 1 }),
      () => ctx.step("x", () => 1, { retry: { attempts: 0 } }), () => ctx.task("x", null, { tiemout: 1 }),
      () => ctx.task("x", 1n), () => ctx.sleep("soon"), () => ctx.child("x", null, { parentClose: "kill" }),
      () => ctx.signal("x", { timeout: "1 day" }), () => ctx.all(7).catch(error => errors.push(error.name)),
    ]
    for (const call of calls) {
      try {
        await call()
      } catch (error) {
        errors.push(error.message)
      }
    }
    return null
  })
  for (const [index, wanted] of ["name", "function", "retries", "attempts", "tiemout", "JSON", "soon", "parentClose", "timeout",
    "TypeError"].entries()) assert.ok(errors[index]?.includes(wanted), `${wanted}: ${errors[index]}`)
  assert.throws(() => workflow({ name: "x", verion: 1 }, () => 1), /verion/)
  assert.throws(() => workflow("x"), /function/)
  assert.throws(() => new Worker().workflow({ name: "x" }), /workflow\(\)/)
  assert.match(workflow("x", () => 1).version, /^[0-9a-f]{12}$/)
  assert.notEqual(workflow("x", () => 1).version, workflow("x", () => 2).version)
})

test("a race with a step that takes long is won by a timer, a signal or a task meanwhile", async t => {
  const steps = []
  const { definition, worker } = having(t, async ctx => {
    const long = name => ctx.step(name, ({ signal }) => new Promise(resolve => {
      steps.push(name)
      signal.addEventListener("abort", () => resolve(steps.push(signal.reason.reason)))
    }))
    const first = await ctx.race([long("one"), ctx.sleep("20ms").then(() => "timer")])
    const second = await ctx.race([long("two"), ctx.signal("go")])
    const third = await ctx.race([long("three"), ctx.task("quick")])
    return [first, second, third]
  }, { heartbeat: "1h" })
  worker.task("quick", () => "task")
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  const run = await client.start(definition)
  await waitUntil(() => steps.includes("two"))
  await run.signal("go", "signal")
  assert.deepEqual(await run.result(), ["timer", "signal", "task"])
  assert.deepEqual(steps.slice(0, 3), ["one", "two", "three"])
  assert.equal(worker.stats().workflows.suspended, 0)
})

test("what does not fit the input's schema is refused at start, and the description is shown", async t => {
  const card = { type: "object", required: ["card"], properties: { card: { type: "integer" } } }
  const definition = workflow({ name: `flow-${++count}`, version: "1", description: "Takes a card", input: card },
    async (ctx, input) => input.card)
  const worker = working(t, {}, definition)
  worker.start({ handleSignals: false })
  await waitUntil(() => worker.stats().workflows.isKnown)
  await assert.rejects(client.start(definition, { card: "x" }), { code: "BAD_INPUT", status: 400 })
  assert.equal(await client.run(definition, { card: 7 }), 7)
  const { config } = await client.workflows.show(definition.name)
  assert.deepEqual([config.description, config.input], ["Takes a card", card])
})
