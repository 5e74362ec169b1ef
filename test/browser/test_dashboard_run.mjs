// A run's page in the browser: children and zoom in its timeline, what-if with failures, moves and versions, setting
// a variable, a long history, and its report on paper.
import assert from "node:assert/strict"
import { assert_accessible, test, wait } from "./harness.mjs"
import { begin, button, confirm, done, forgive, open, open_with, parked } from "./steps.mjs"

test("what children did is nested in the timeline, and folds", async world => {
  const { server } = world
  await server.deploy("kid", 'const stone = await Signal.when("stone")\nreturn stone')
  await server.deploy("mother", 'return await Workflow.run("kid", {}, { id: "kid-1" })')
  await server.start_run("mother", "mother-1")
  await server.until("kid-1", run => run.status === "suspended")
  const page = await open(world, "#/runs/mother-1")
  const timeline = page.locator(".timeline")
  await timeline.getByText("stone").waitFor()
  const fold = timeline.getByRole("button", { name: /^What kid/ })
  assert.equal(await fold.getAttribute("aria-expanded"), "true")
  await fold.click()
  await timeline.getByText("stone").waitFor({ state: "detached" })
  await fold.press("Enter")
  await timeline.getByText("stone").waitFor()
  await assert_accessible(page, "nested timeline")
  await server.post("/v1/runs/kid-1/signals/stone", { hard: true })
  await server.until("mother-1", run => run.status === "completed")
  await page.getByRole("heading", { name: "Result" }).waitFor()
  await done(page)
})

test("the timeline is looked at closer by keys, buttons and wheel", async world => {
  await parked(world.server, "zoom-1")
  const page = await open(world, "#/runs/zoom-1")
  await page.locator(".timeline").waitFor()
  const label = () => page.locator(".tl-begin").innerText()
  assert.equal(await label(), "0")
  await page.keyboard.press("t")
  await page.keyboard.press("+")
  await page.keyboard.press("+")
  await page.keyboard.press("ArrowRight")
  await wait(async () => (await label()).startsWith("+"), "it did not come closer")
  await page.keyboard.press("0")
  await wait(async () => await label() === "0", "it is not all of it")
  await page.locator(".tl-row .tl-track").first().hover({ position: { x: 1, y: 5 } })
  await page.keyboard.down("Control")
  await page.mouse.wheel(0, -100)
  await page.keyboard.up("Control")
  await wait(() => button(page, "Wider").isEnabled(), "the wheel did nothing")
  await button(page, "Wider").click()
  await wait(() => button(page, "Wider").isDisabled(), "it is not wider")
  await done(page)
})

test("a retry that is due later is counted down, and tried at once from the timeline", async world => {
  const page = await open(world, "#/runs/order-2")
  const first = await page.locator(".waits .countdown b").innerText()
  assert.match(first, /^(59:\d\d|1:00:00)$/)
  await wait(async () => await page.locator(".waits .countdown b").innerText() !== first, "it stands still")
  await page.locator(".timeline").getByRole("button", { name: "Retry now" }).click()
  await world.server.work("ship", { result: "parcel" })
  await world.server.until("order-2", run => run.status === "completed")
  await done(page)
})

test("a task fails in a what-if, and the run stays as it is", async world => {
  const page = await open(world, "#/runs/order-3")
  const what = page.getByRole("region", { name: "What if" })
  await what.getByLabel(/^a failure/).check()
  await what.getByLabel("If the task pack came with (JSON)").fill('{"message": "no boxes left"}')
  await button(page, "Try").click()
  await what.locator(".state", { hasText: "failed" }).waitFor()
  await what.locator(".error-text", { hasText: "pack" }).waitFor()
  await what.locator("summary", { hasText: "other means" }).click()
  await what.getByText("--fail").waitFor()
  await assert_accessible(page, "failing what-if")
  assert.equal((await world.server.run("order-3")).waits[0].on, "task")
  await done(page)
})

test("a child's answer is made up where the server can", async world => {
  const { server } = world
  await server.deploy("nurse", 'const one = await Workflow.run("kid-of-nurse", {}, { id: "nursed-1" })\nreturn one')
  await server.deploy("kid-of-nurse", 'return await Signal.when("never")')
  await server.start_run("nurse", "nurse-1")
  await server.until("nursed-1", run => run.status === "suspended")
  const bodies = []
  const page = await open_with(world, "#/runs/nurse-1", [["POST", "/v1/runs/{id}/try", ["tasks", "signals", "events", "children", "time"], (_, body) => {
    bodies.push(JSON.parse(body))
    return { status: "completed", result: { grown: true }, error: null, reason: null, now: new Date().toISOString(), effects: [], state: {}, waits: [], unused: [], variables: [] }
  }]])
  const what = page.getByRole("region", { name: "What if" })
  await what.getByLabel(/^If the child/).fill('{"grown": true}')
  await button(page, "Try").click()
  await what.locator(".state", { hasText: "completed" }).waitFor()
  assert.deepEqual(bodies[0].children.map(each => each.result), [{ grown: true }])
  await done(page)
})

test("a run is moved to any version that it can go on in, and the others say why not", async world => {
  const { server } = world
  await server.deploy("movable", 'const price = 40\nconst answer = await Signal.when("ok")\nreturn price * 100')
  await server.start_run("movable", "move-1")
  const before = (await server.until("move-1", run => run.status === "suspended")).version
  const page = await open(world, "#/runs/move-1"), dialog = page.locator("dialog")
  await button(page, "Move…").click()
  await dialog.getByText("There is no other version.").waitFor()
  await dialog.getByRole("button", { name: "Close" }).click()
  await server.deploy("movable", 'const price = 40\nconst answer = await Signal.when("ok")\nreturn price')
  const good = (await server.get("/v1/workflows/movable")).version
  await server.deploy("movable", 'const price = 40\nconst total = await Signal.when("other")\nreturn total')
  await button(page, "Move…").click()
  await dialog.locator(".error-text").waitFor()
  assert.equal(await dialog.getByRole("button", { name: /^Move to/ }).count(), 1)
  await assert_accessible(page, "move")
  await dialog.getByRole("button", { name: `Move to ${good.slice(0, 10)}` }).click()
  assert.equal((await server.until("move-1", run => run.version !== before)).version, good)
  await page.locator(".source", { hasText: "return price" }).waitFor()
  await server.post("/v1/runs/move-1/signals/ok", {})
  assert.equal((await server.until("move-1", run => run.status === "completed")).result, 40)
  forgive(page, /409/)
  await done(page)
})

test("a variable is set where the server can", async world => {
  const { server } = world, bodies = []
  await parked(server, "set-1")
  const page = await open_with(world, "#/runs/set-1", [["POST", "/v1/runs/{id}/set", ["values", "dry_run"], (_, body) => {
    bodies.push(JSON.parse(body))
    return { changed: true, values: [{ path: "amount", old: "160", new: "1" }] }
  }]])
  await button(page, "Set…").click()
  const dialog = page.locator("dialog")
  assert.deepEqual([await dialog.getByLabel("Variable").inputValue(), await dialog.getByLabel("Value (JSON)").inputValue()], ["amount", "160"])
  await dialog.getByLabel("Value (JSON)").fill('{"n": 1.50}')
  await dialog.locator("summary").click()
  await dialog.getByText(`abide wf set set-1 'amount={"n": 1.50}'`).waitFor()
  await assert_accessible(page, "set a variable")
  await confirm(page)
  await page.getByText("set-1: amount is set.").waitFor()
  assert.deepEqual(bodies, [{ values: [{ path: "amount", value: { n: 1.5 } }] }])
  await done(page)
})

test("a retry and a fork go on in a version that is chosen, where the server can", async world => {
  const { server } = world, bodies = []
  await server.deploy("mended", "return Inputs.a.b")
  await server.start_run("mended", "mended-1", {})
  const before = (await server.until("mended-1", run => run.status === "failed")).version
  await server.deploy("mended", "return Inputs.a?.b ?? 3")
  const current = (await server.get("/v1/workflows/mended")).version
  const answer = (_, body) => {
    bodies.push(JSON.parse(body))
    return { id: "order-1" }
  }
  const page = await open_with(world, "#/runs/mended-1", [["POST", "/v1/runs/{id}/retry", ["id", "version"], answer], ["POST", "/v1/runs/{id}/fork", ["id", "step", "iteration", "version"], answer]])
  for (const word of ["Retry…", "Fork…"]) {
    await button(page, word).click()
    await page.locator("dialog").getByLabel("Version").waitFor()
    const choices = await page.locator("dialog").getByLabel("Version").locator("option").allInnerTexts()
    assert.deepEqual(choices.slice(1).sort(), [`${before.slice(0, 10)} (of this run)`, `${current.slice(0, 10)} (current)`].sort())
    await page.locator("dialog").getByLabel("Version").selectOption(current)
    await confirm(page)
    await page.getByRole("heading", { name: "order-1" }).waitFor()
    await page.goto(`${server.url}/#/runs/mended-1`)
    await page.getByRole("heading", { name: "mended-1" }).waitFor()
  }
  assert.deepEqual(bodies, [{ version: current }, { version: current }])
  await done(page)
})

test("a long history opens at once, is searched, and stays small in the document", async world => {
  const { server } = world
  await server.deploy("chatty", 'for (let n = 0; n < 100; n++) {\n  for (let m = 0; m < 100; m++) console.log("line", n * 100 + m)\n  await Timer.delay("1ms")\n}\nreturn "done"')
  await server.start_run("chatty", "chatty-1")
  await server.until("chatty-1", run => run.status === "completed")
  const began = Date.now(), page = await open(world, "#/runs/chatty-1")
  await page.locator(".log-row").first().waitFor()
  console.log(`# the first rows after ${Date.now() - began} ms`)
  const log = page.getByRole("region", { name: "History" })
  await log.getByText(/^1\d,\d\d\d entries$/).waitFor()
  console.log(`# all of them after ${Date.now() - began} ms`)
  assert.ok(await page.evaluate(() => document.querySelectorAll("*").length) < 3000)
  await log.getByLabel("Search the history").fill("line 9876")
  await log.getByText(/^1 of 1\d,\d\d\d entries$/).waitFor()
  await log.getByLabel("Search the history").fill("")
  await button(page, "Newest first").click()
  await log.locator(".log-row").first().getByText(/finished|completed/).waitFor()
  await page.locator("#log").evaluate(box => box.scrollTo(0, box.scrollHeight))
  await log.locator(".log-row", { hasText: "started" }).waitFor()
  await assert_accessible(page, "long history")
  await done(page)
})

test("a run is printed as a report", async world => {
  await parked(world.server, "paper-1")
  const page = await open(world, "#/runs/paper-1")
  await page.locator(".log-row").first().waitFor()
  const rows = await page.locator(".log-row").count()
  await page.emulateMedia({ media: "print" })
  await button(page, "Pause").waitFor({ state: "hidden" })
  await page.locator(".top").waitFor({ state: "hidden" })
  for (const name of ["Source", "Variables", "Timeline", "Input", "History"]) assert.ok(await page.getByRole("heading", { name, exact: true }).isVisible(), name)
  await wait(async () => await page.locator(".log-row").count() >= rows, "the history is not whole")
  assert.equal(await page.locator("#log").evaluate(box => getComputedStyle(box).overflowY), "visible")
  assert.ok((await page.pdf()).length > 10_000)
  await done(page)
})

await begin()
