// abide/testing: virtual time, mocks, a worker that dies, and a scenario that is played for every crash.
import assert from "node:assert/strict"
import path from "node:path"
import { test } from "node:test"
import { workflow } from "../../../sdk/node/src/index.js"
import { CrashDiffers, TestServer, everyCrash } from "../../../sdk/node/src/testing/index.js"

process.env.ABIDE_BIN = path.join(process.env.ABIDE_BUILD_DIR, "abide")

async function starting(t, options) {
  const env = await TestServer.start(options)
  t.after(() => env.close())
  return env
}

const order = workflow("order", async (ctx, input) => {
  const receipt = await ctx.step("charge", () => ({ paid: input.amount }))
  await ctx.sleep("24h")
  const at = ctx.now()
  const label = await ctx.task("label", receipt)
  const answer = await ctx.signal("answer", { timeout: "2h" }).catch(error => error.type)
  return { receipt, label, answer, at }
})

test("time passes when it is told to, with mocks instead of the world", async t => {
  const env = await starting(t, { workflows: [order] })
  env.mock.step("charge", (step, body) => ({ ...body(step), attempt: step.attempt })).task("label", ({ paid }) => `label ${paid}`)
  const began = await env.now()
  const run = await env.client.start(order, { amount: 7 })
  await env.settled()
  assert.equal((await env.client.show(run.id)).waits[0].on, "timer")
  await env.advance("23h")
  assert.equal((await env.client.show(run.id)).waits[0].on, "timer")
  await env.advance("1h")
  assert.equal((await env.client.show(run.id)).waits[0].on, "signal")
  await env.killWorker()
  await env.startWorker()
  await env.advance("2h")
  const { at, ...result } = await run.result()
  assert.deepEqual(result, { receipt: { paid: 7, attempt: 1 }, label: "label 7", answer: "TimeoutError" })
  assert.equal(new Date(at) - began, 24 * 3600_000)
})

test("a task that nobody does fails, and says so", async t => {
  const env = await starting(t, { workflows: [workflow("lonely", async ctx => ctx.task("nobody"))] })
  const run = await env.client.start("lonely")
  await env.settled()
  assert.match((await env.client.show(run.id)).error.message, /no function and no mock for the task "nobody"/)
})

test("another version takes over where it may", async t => {
  const version = text => workflow({ name: "greeting", version: text }, async ctx => {
    await ctx.signal("go")
    return text
  })
  const env = await starting(t, { workflows: [version("1")] })
  const old = await env.client.start("greeting")
  await env.settled()
  await env.killWorker()
  await env.startWorker({ workflows: [version("1"), version("2")] })
  const fresh = await env.client.start("greeting")
  await env.settled()
  for (const { id } of [old, fresh]) await env.client.signal(id, "go")
  assert.deepEqual([await env.client.result(old.id), await env.client.result(fresh.id)], ["1", "2"])
})

test("every crash leaves the outcome as it is", async () => {
  const { crashes, result } = await everyCrash(async env => {
    const run = await env.client.start(order, { amount: 7 })
    await env.advance("25h")
    await run.signal("answer", "yes")
    return run.result()
  }, { workflows: [order], tasks: { label: ({ paid }) => paid }, compare: ({ at: _at, ...more }) => more })
  assert.equal(result.answer, "yes")
  assert.ok(crashes >= 6, String(crashes))
})

test("an outcome that depends on a crash is found", async () => {
  let executed = 0
  const counting = workflow("counting", async ctx => ctx.step("count", () => ++executed))
  await assert.rejects(everyCrash(async env => {
    executed = 0
    return env.client.run(counting)
  }, { workflows: [counting] }), error => error instanceof CrashDiffers && error.when === "before" && error.expected.result === 1 &&
    error.found.result === 2)
})

test("a program that is not there is named", async () => {
  await assert.rejects(TestServer.start({ binary: "/nowhere/abide" }), /cannot start \/nowhere\/abide.*ABIDE_BIN/)
  await assert.rejects(TestServer.start({ workflow: [] }), /"workflow"/)
})
