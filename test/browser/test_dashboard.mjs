// The dashboard in a real browser against a real server: every button does what it says, which the API
// confirms; the page follows what happens, and survives the server.
import assert from "node:assert/strict"
import { assert_accessible, Server, test, wait } from "./harness.mjs"
import { begin, button, confirm, done, open, open_without_stream, parked } from "./steps.mjs"
import { HOSTILE } from "./world.mjs"

const PAGES = [["#/now", ".group"], ["#/runs", "#rows a"], ["#/runs/order-1", ".l-here"], ["#/runs/broken-1", ".l-failed"], ["#/runs/order-2", ".tl-bar"], ["#/workflows", "td"], ["#/workflows/order", ".source"],
  ["#/tasks", "td"], ["#/schedules", "td"], ["#/schedules/nightly", ".ticks-list"], ["#/events", "td"], ["#/events/payments", "dd"], ["#/members", "td"], ["#/tokens", "td"]]

test("the list shows runs, finds them by a filter, and keeps it in the address", async world => {
  const page = await open(world, "#/runs")
  await page.getByRole("link", { name: "order-1", exact: true }).waitFor()
  await page.fill("#search", "status:failed")
  await page.press("#search", "Enter")
  await page.getByText("1 run.", { exact: true }).waitFor()
  assert.equal(await page.locator("#rows a").innerText(), "broken-1")
  assert.match(page.url(), /q=status%3Afailed/)
  await page.reload()
  await page.getByText("1 run.", { exact: true }).waitFor()
  await page.fill("#search", "nonsense:x")
  await page.press("#search", "Enter")
  await page.getByRole("alert").waitFor()
  page.troubles = page.troubles.filter(text => !/400/.test(text)) // the browser's own line about the answer
  await done(page)
})

test("a run that starts and ends appears in the open list", async world => {
  const page = await open(world, "#/runs")
  await page.getByRole("link", { name: "order-1", exact: true }).waitFor()
  await world.server.start_run("invoice", "live-1", { topic: "live" })
  const row = page.locator(".run-row", { hasText: "live-1" })
  await row.getByText("suspended").waitFor()
  await world.server.post("/v1/events/live", {})
  await row.getByText("completed").waitFor()
  await done(page)
})

test("an open run is asked for anew when it changes, not when others do", async world => {
  const { server } = world
  await server.start_run("invoice", "quiet-1", { topic: "quiet" })
  await server.until("quiet-1", run => run.status === "suspended")
  const page = await open(world, "#/runs")
  await page.locator(".link", { hasText: "live" }).waitFor()
  await page.goto(`${server.url}/#/runs/quiet-1`)
  await page.locator(".l-here").waitFor()
  await page.getByLabel("Answer with (JSON)").fill('{"half": "writ')
  const asked = []
  page.on("request", request => asked.push(new URL(request.url()).pathname))
  const told = page.evaluate(async () => { // a stream of its own, which ends with the news about the second run
    const reader = (await fetch("/v1/changes?run=quiet-2")).body.pipeThrough(new TextDecoderStream()).getReader()
    for (let text = ""; !text.includes("completed"); text += (await reader.read()).value);
    await reader.cancel()
  })
  await wait(() => asked.includes("/v1/changes"), "nobody listens")
  await server.start_run("note", "quiet-2", { text: "x" })
  await told
  await server.post("/v1/runs/quiet-1/pause")
  await page.locator(".title").getByText("paused").waitFor()
  assert.ok(asked.filter(path => path === "/v1/runs/quiet-1").length <= 2, asked.join(" "))
  assert.equal(await page.getByLabel("Answer with (JSON)").inputValue(), '{"half": "writ')
  await server.post("/v1/runs/quiet-1/cancel", {})
  await server.post("/v1/runs/quiet-1/resume").catch(() => {})
  await page.locator(".title").getByText("cancelled").waitFor()
  await done(page)
})

test("a page whose stream breaks says so, looks again, and listens again", async world => {
  const { server } = world
  const page = await open_without_stream(world)
  await page.locator(".link.away").waitFor()
  await server.start_run("invoice", "torn-1", { topic: "torn" })
  await server.until("torn-1", run => run.status === "suspended")
  await page.unroute("**/v1/changes")
  await page.locator(".link", { hasText: "live" }).waitFor()
  await page.locator(".run-row", { hasText: "torn-1" }).getByText("suspended").waitFor()
  await server.post("/v1/events/torn", {})
  await page.locator(".run-row", { hasText: "torn-1" }).getByText("completed").waitFor()
  page.isServerAway = false
  await done(page)
})

test("many runs are paused, resumed and cancelled at once, after one question", async world => {
  const ids = ["many-1", "many-2", "many-3"]
  for (const id of ids) await world.server.start_run("invoice", id)
  for (const id of ids) await world.server.until(id, run => run.status === "suspended")
  const page = await open(world, "#/runs?q=workflow%3Ainvoice")
  for (const [word, status] of [["Pause", "paused"], ["Resume", "suspended"], ["Cancel", "cancelled"], ["Remove", null]]) {
    for (const id of ids) await page.getByLabel(`Select ${id}`, { exact: true }).check()
    await page.locator(".bar").getByRole("button", { name: word, exact: true }).click()
    await page.locator("dialog").getByText("many-1, many-2, many-3").or(page.locator("dialog").getByText("3 runs")).first().waitFor()
    await confirm(page)
    await page.locator("dialog[open]").waitFor({ state: "detached" })
    for (const id of ids) {
      if (status) await world.server.until(id, run => run.status === status)
      else await wait(() => world.server.run(id).then(() => false, error => error.status === 404), "it stayed")
    }
  }
  await done(page)
})

test("the source shows where a run stands, with its values, stack and variables", async world => {
  const page = await open(world, "#/runs/order-1")
  const here = page.locator(".l-here")
  await here.waitFor()
  assert.match(await here.innerText(), /Signal\.when\("approval"/)
  assert.match(await page.locator(".line", { hasText: "const reason" }).innerText(), /over the limit by 60/)
  assert.match(await page.locator(".l-caller").innerText(), /await ask\(amount\)/)
  await page.locator(".frame", { hasText: "order.flow:18" }).or(page.locator(".frame").nth(1)).first().click()
  await page.locator(".variables").getByText("receipt").first().waitFor()
  assert.deepEqual(await page.locator(".tl-kind", { hasText: "timer" }).count(), 1)
  await done(page)
})

test("what a run waits for is answered in place", async world => {
  await parked(world.server, "answer-1")
  const page = await open(world, "#/runs/answer-1")
  await page.getByLabel("Answer with (JSON)").fill('{"ok": tru')
  await button(page, "Send approval").click()
  await page.getByText(/This is not JSON/).waitFor()
  assert.equal((await world.server.run("answer-1")).waits[0].name, "approval")
  await page.getByLabel("Answer with (JSON)").fill('{"ok": false, "by": "Ada"}')
  await button(page, "Send approval").click()
  await world.server.until("answer-1", run => run.status === "failed")
  await page.getByText("Error: refused by Ada").first().waitFor()
  assert.match(await page.locator(".l-failed").innerText(), /throw new Error/)
  await done(page)
})

test("an event that a run waits for is published from its page", async world => {
  await world.server.start_run("invoice", "event-1", { topic: "paid" })
  await world.server.until("event-1", run => run.status === "suspended")
  const page = await open(world, "#/runs/event-1")
  await page.getByLabel("Answer with (JSON)").fill('{"paid": 7}')
  await button(page, "Send paid").click()
  assert.deepEqual((await world.server.until("event-1", run => run.status === "completed")).result, { paid: 7 })
  await page.getByRole("heading", { name: "Result" }).waitFor()
  await done(page)
})

test("pause, resume, release, load, signal, cancel and remove do what they say", async world => {
  const { server } = world
  await parked(server, "all-1")
  const page = await open(world, "#/runs/all-1")
  await button(page, "Pause").click()
  await server.until("all-1", run => run.status === "paused")
  await button(page, "Resume").click()
  await server.until("all-1", run => run.status === "suspended")
  await button(page, "Release").click()
  await server.until("all-1", run => run.released)
  await button(page, "Load").click()
  await server.until("all-1", run => !run.released)
  await button(page, "Signal…").click()
  await page.locator("dialog").getByLabel("Signal", { exact: true }).fill("later")
  await page.locator("dialog").getByLabel("Payload (JSON)").fill('{"n": 1}')
  await confirm(page)
  const kept = await wait(async () => (await server.get("/v1/runs/all-1/signals")).items[0], "no signal")
  assert.deepEqual([kept.name, kept.payload], ["later", { n: 1 }])
  await button(page, "Remove the signal later").click()
  await confirm(page)
  await wait(async () => (await server.get("/v1/runs/all-1/signals")).items.length === 0, "the signal stayed")
  await button(page, "Cancel…").click()
  await page.getByRole("heading", { name: "Cancel all-1?" }).waitFor()
  await page.getByLabel("Reason (kept with the run)").fill("a test")
  await confirm(page)
  await server.until("all-1", run => run.status === "cancelled")
  assert.match(JSON.stringify(await server.get("/v1/runs/all-1/log")), /a test/)
  await button(page, "Remove…").click()
  await page.getByRole("heading", { name: "Remove all-1?" }).waitFor()
  await confirm(page)
  await page.getByRole("heading", { name: "Runs" }).waitFor()
  await wait(() => server.run("all-1").then(() => false, error => error.status === 404), "it stayed")
  page.troubles = page.troubles.filter(text => !/404/.test(text))
  await done(page)
})

test("a run is rewound to a step, and forked from one", async world => {
  const { server } = world
  await parked(server, "back-1")
  const page = await open(world, "#/runs/back-1")
  await button(page, "Rewind to charge").click()
  await page.getByRole("heading", { name: "Rewind back-1 to charge?" }).waitFor()
  await confirm(page)
  await server.until("back-1", run => run.waits[0]?.on === "task")
  await server.work("charge", { result: "again" })
  await server.until("back-1", run => run.waits[0]?.on === "signal")
  await button(page, "Fork from approval").last().click()
  await page.getByLabel("Id of the new run").fill("back-1-fork")
  await confirm(page)
  await page.getByRole("heading", { name: "back-1-fork" }).waitFor()
  await server.until("back-1-fork", run => run.waits[0]?.on === "signal")
  await done(page)
})

test("a task that waits for its next attempt is tried at once", async world => {
  const page = await open(world, "#/runs/order-2")
  await page.getByText("NoCourier").first().waitFor()
  await page.locator(".waits").getByRole("button", { name: "Retry now" }).click()
  await world.server.work("ship", { result: "parcel" })
  await world.server.until("order-2", run => run.status === "completed")
  await page.getByRole("heading", { name: "Result" }).waitFor()
  await done(page)
})

test("a workflow is deployed and started from the page", async world => {
  const page = await open(world, "#/workflows")
  await button(page, "Deploy…").click()
  await page.locator("dialog").getByLabel("Name").fill("fresh")
  await page.locator("dialog").getByLabel("Source").fill("return Inputs.n + nothing")
  await confirm(page)
  await page.locator("dialog .problem", { hasText: "line 1" }).waitFor()
  await page.locator("dialog").getByLabel("Source").fill("return Inputs.n + 1")
  await confirm(page)
  await page.getByRole("heading", { name: "fresh" }).waitFor()
  await button(page, "Start…").click()
  await page.locator("dialog").getByLabel("Input (JSON)").fill('{"n": 41}')
  await page.locator("dialog").getByLabel("Id", { exact: true }).fill("fresh-1")
  await confirm(page)
  await page.getByRole("heading", { name: "fresh-1" }).waitFor()
  assert.equal((await world.server.until("fresh-1", run => run.status === "completed")).result, 42)
  page.troubles = page.troubles.filter(text => !/422/.test(text))
  await done(page)
})

test("a failed run is retried", async world => {
  const page = await open(world, "#/runs/broken-1")
  await button(page, "Retry…").click()
  await page.getByLabel("Id of the new run").fill("broken-again")
  await confirm(page)
  await page.getByRole("heading", { name: "broken-again" }).waitFor()
  await world.server.until("broken-again", run => run.status === "failed")
  await done(page)
})

test("what needs a person is listed, with buttons that help", async world => {
  const { server } = world
  for (const id of ["held-1", "held-2"]) {
    await server.start_run("invoice", id, { topic: "held" })
    await server.until(id, run => run.status === "suspended")
    await server.post(`/v1/runs/${id}/pause`)
  }
  const page = await open(world, "#/")
  const group = page.locator(".group", { hasText: "2 runs of invoice paused" })
  await group.getByRole("button", { name: /^Resume/ }).click()
  await page.locator("dialog").getByText("2 runs of invoice paused").waitFor()
  await confirm(page)
  for (const id of ["held-1", "held-2"]) await server.until(id, run => run.status === "suspended")
  await group.waitFor({ state: "detached" })
  await page.locator(".group", { hasText: "TypeError" }).getByRole("link", { name: /^Show/ }).click()
  await page.locator("#rows a", { hasText: /^broken-1$/ }).waitFor()
  await done(page)
})

test("the variables of a failed run are those at the throw", async world => {
  const page = await open(world, "#/runs/broken-1")
  await page.locator(".variables").getByText("item", { exact: true }).waitFor()
  assert.deepEqual(await page.locator(".line", { hasText: "let sum" }).locator(".aside").allInnerTexts(), ["sum = 0"])
  assert.deepEqual(await page.locator(".l-failed .aside").allInnerTexts(), ["item = {}"])
  await done(page)
})

test("the slider goes back to a kept turn, and shows what it changed", async world => {
  await parked(world.server, "past-1")
  const page = await open(world, "#/runs/past-1")
  const slider = page.getByLabel("Turn", { exact: true })
  assert.match(await page.locator(".l-here").innerText(), /Signal\.when/)
  await slider.focus()
  await page.keyboard.press("Home")
  await page.locator(".l-here", { hasText: "Task.run(" }).waitFor()
  assert.match(page.url(), /turn=1/)
  await page.locator(".changes", { hasText: "receipt" }).waitFor()
  await page.reload()
  await page.locator(".l-here", { hasText: "Task.run(" }).waitFor()
  await button(page, "Now").click()
  await page.locator(".l-here", { hasText: "Signal.when" }).waitFor()
  await done(page)
})

test("a run is tried with answers that are made up, and stays as it is", async world => {
  const { server } = world
  await parked(server, "try-1")
  const page = await open(world, "#/runs/try-1")
  const what = page.getByRole("region", { name: "What if" }), answer = what.getByLabel("If the signal approval came with (JSON)")
  await answer.fill("{")
  await button(page, "Try").click()
  await what.getByText(/This is not JSON/).waitFor()
  await answer.fill('{"ok": true, "by": "Bo"}')
  await button(page, "Try").click()
  await what.getByText('task ship {"receipt":"r"}').waitFor()
  await what.locator(".state", { hasText: "suspended" }).waitFor()
  await what.getByRole("heading", { name: "It would wait for" }).waitFor()
  await answer.fill('{"ok": false, "by": "Bo"}')
  await button(page, "Try").click()
  await what.getByText("refused by Bo").first().waitFor()
  await what.locator(".state", { hasText: "failed" }).waitFor()
  await answer.fill("")
  await what.getByLabel("And so much time passed").fill("2d")
  await button(page, "Try").click()
  await what.getByText(/TimeoutError/).first().waitFor()
  await assert_accessible(page, "what if")
  const run = await server.run("try-1")
  assert.deepEqual([run.status, run.waits[0].label ?? run.waits[0].name], ["suspended", "approval"])
  await done(page)
})

test("a task's result is made up", async world => {
  const page = await open(world, "#/runs/order-3")
  const what = page.getByRole("region", { name: "What if" })
  await what.getByLabel("If the task pack came with (JSON)").fill('{"parcel": 12}')
  await button(page, "Try").click()
  await what.locator(".state", { hasText: "completed" }).waitFor()
  await what.locator(".tree", { hasText: "parcel" }).waitFor()
  assert.equal((await world.server.run("order-3")).waits[0].on, "task")
  await done(page)
})

test("a queue is paused, resumed and limited; a task is shown and retried", async world => {
  const { server } = world
  const page = await open(world, "#/tasks")
  await button(page, "Pause default").click()
  await confirm(page)
  await wait(async () => (await server.get("/v1/queues/default")).paused, "not paused")
  await button(page, "Resume default").click()
  await wait(async () => !(await server.get("/v1/queues/default")).paused, "paused")
  await button(page, "Limits… of default").click()
  await page.getByLabel("Most tasks at a time", { exact: true }).fill("7")
  await page.getByLabel("Most tasks handed out …").fill("50")
  await page.getByLabel("… in this time").fill("2s")
  await confirm(page)
  const queue = await wait(async () => {
    const it = await server.get("/v1/queues/default")
    return it.max_running === 7 && it
  }, "no limit")
  assert.deepEqual([queue.rate_count, queue.rate_period], [50, "2s"])
  await server.call("DELETE", "/v1/queues/default").catch(() => {}) // answers without a body
  const made = await server.post("/v1/tasks", { name: "later", delay: "1h", input: { n: 3 } })
  await page.goto(`${server.url}/#/tasks/${made.id}`)
  await page.getByRole("heading", { name: "later" }).waitFor()
  await button(page, "Retry now").click()
  assert.equal((await server.work("later")).id, made.id)
  await page.locator(".title").getByText("completed").waitFor()
  await done(page)
})

test("a schedule is made, changed, triggered, paused, backfilled and removed", async world => {
  const { server } = world
  const schedule = () => server.get("/v1/schedules/weekly")
  const page = await open(world, "#/schedules")
  await button(page, "New schedule…").click()
  const dialog = page.locator("dialog")
  await dialog.getByLabel("Name", { exact: true }).fill("weekly")
  await dialog.getByLabel("Workflow").fill("note")
  await dialog.getByLabel("When").fill("0 4 * * 1")
  await dialog.getByLabel("Input (JSON)").fill('{"text": "weekly"}')
  await confirm(page)
  const made = await wait(() => schedule().catch(() => null), "no schedule")
  assert.deepEqual([made.workflow, made.cron, made.input], ["note", "0 4 * * 1", { text: "weekly" }])
  await button(page, "Edit… weekly").click()
  await dialog.getByLabel("When").fill("0 5 * * 1")
  await confirm(page)
  await wait(async () => (await schedule()).cron === "0 5 * * 1", "not changed")
  await button(page, "Pause weekly").click()
  await wait(async () => (await schedule()).paused, "not paused")
  await button(page, "Resume weekly").click()
  await wait(async () => !(await schedule()).paused, "paused")
  await button(page, "Backfill… weekly").click()
  await dialog.getByLabel("From").fill("2026-01-05T00:00:00Z")
  await dialog.getByLabel("To").fill("2026-01-06T00:00:00Z")
  await confirm(page)
  await dialog.getByText("1 runs started").waitFor()
  await dialog.getByRole("button", { name: "Close" }).click()
  await button(page, "Trigger weekly").click()
  await page.locator(".crumbs", { hasText: "note" }).waitFor()
  await page.goto(`${server.url}/#/schedules`)
  await button(page, "Remove… weekly").click()
  await page.getByRole("heading", { name: "Remove the schedule weekly?" }).waitFor()
  await confirm(page)
  await wait(() => schedule().then(() => false, error => error.status === 404), "it stayed")
  await done(page)
})

test("events are published, kept, and removed; a topic's policy is set", async world => {
  const { server } = world
  const page = await open(world, "#/events")
  const dialog = page.locator("dialog")
  for (const n of [1, 2]) {
    await button(page, "Publish…").click()
    await dialog.getByLabel("Topic").fill("box")
    await dialog.getByLabel("Payload (JSON)").fill(`{"n": ${n}}`)
    await confirm(page)
    await dialog.getByText("It is kept").waitFor()
    await dialog.getByRole("button", { name: "Close" }).click()
  }
  const kept = async () => (await server.get("/v1/topics/box/events")).items
  const [first] = await kept()
  await page.getByRole("link", { name: "box", exact: true }).click()
  await button(page, `Remove… ${first.id}`).click()
  await confirm(page)
  await wait(async () => (await kept()).length === 1, "it stayed")
  await button(page, "Policy…").click()
  await dialog.getByLabel("An event is taken by").selectOption("all")
  await dialog.getByLabel("Kept for").fill("2h")
  await confirm(page)
  await wait(async () => (await server.get("/v1/topics/box")).consume === "all", "no policy")
  await button(page, "Remove all events…").click()
  await confirm(page)
  await wait(async () => (await kept()).length === 0, "they stayed")
  await done(page)
})

test("dead letters are replayed and removed", async world => {
  const { server } = world
  for (const id of ["dead-1", "dead-2"]) {
    await server.start_run("invoice", id, { topic: "never" }, { leftover_signals: "dead_letter" })
    await server.until(id, run => run.status === "suspended")
    await server.post(`/v1/runs/${id}/signals/late`, { id })
    await server.post(`/v1/runs/${id}/cancel`, {})
    await server.until(id, run => run.status === "cancelled")
  }
  const letters = async () => (await server.get("/v1/dead-letters")).items
  const [one] = await wait(async () => (await letters()).length === 2 && letters(), "no dead letters")
  const page = await open(world, "#/events")
  await button(page, `Remove… ${one.id}`).click()
  await confirm(page)
  await wait(async () => (await letters()).length === 1, "it stayed")
  const [other] = await letters()
  const answered = page.waitForResponse(answer => answer.url().includes(`/v1/dead-letters/${other.id}/replay`))
  await button(page, `Replay ${other.id}`).click()
  await answered
  page.troubles = page.troubles.filter(text => !/40\d/.test(text)) // its run has ended: the server says so
  await done(page)
})

test("tokens are made, shown once, and removed", async world => {
  const { server } = world
  const page = await open(world, "#/tokens")
  await button(page, "New token…").click()
  await page.locator("dialog").getByLabel("Name").fill("screen")
  await page.locator("dialog").getByLabel("Scope").selectOption("read")
  await confirm(page)
  await page.locator("dialog pre", { hasText: /^abide_/ }).waitFor()
  await page.locator("dialog").getByRole("button", { name: "Close" }).click()
  assert.deepEqual((await server.get("/v1/tokens")).items.find(each => each.name === "screen").scopes, ["read"])
  await button(page, "Remove… screen").click()
  await confirm(page)
  await wait(async () => !(await server.get("/v1/tokens")).items.some(each => each.name === "screen"), "it stayed")
  await done(page)
})

test("names, payloads and sources from others are text", async world => {
  const { server } = world
  await server.deploy("hostile", `// ${HOSTILE} </script><script>alert(1)</script>\nconst it = Inputs\nreturn await Signal.when(${JSON.stringify(HOSTILE)})`)
  await server.start_run("hostile", HOSTILE, { [HOSTILE]: HOSTILE }, { tags: [HOSTILE] })
  await server.until(HOSTILE, run => run.status === "suspended")
  const page = await open(world, "#/runs")
  page.on("dialog", () => page.troubles.push("a dialog of the browser"))
  await page.locator("#rows a", { hasText: "onerror" }).click()
  await page.locator("h1", { hasText: HOSTILE }).waitFor()
  await page.locator(".l-here").waitFor()
  assert.equal(await page.locator("main img, main script").count(), 0)
  await page.goto(`${server.url}/#/workflows/hostile`)
  await page.locator(".source").getByText("alert(1)").first().waitFor()
  assert.equal(await page.locator("main img, main script").count(), 0)
  await done(page)
})

test("the palette, the list of keys and the keys lead somewhere", async world => {
  const page = await open(world, "#/runs")
  await page.getByRole("link", { name: "order-1", exact: true }).waitFor()
  await page.keyboard.press("Control+k")
  await page.fill("#palette", "order-3")
  await page.getByRole("option", { name: /^order-3/ }).first().waitFor()
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "order-3" }).waitFor()
  await page.keyboard.press("?")
  await page.getByRole("heading", { name: "Keys" }).waitFor()
  await page.keyboard.press("Escape")
  await page.keyboard.press("g")
  await page.keyboard.press("w")
  await page.getByRole("heading", { name: "Workflows" }).waitFor()
  await done(page)
})

test("an open page says that the server is away, and goes on when it is back", async world => {
  const { server } = world
  const page = await open(world, "#/runs/order-1")
  await page.locator(".l-here").waitFor()
  page.isServerAway = true
  await server.kill()
  await page.locator(".link.away").waitFor()
  await server.start()
  await page.locator(".link:not(.away)").waitFor()
  page.isServerAway = false
  await server.post("/v1/runs/order-1/pause")
  await page.locator(".title").getByText("paused").waitFor()
  await server.post("/v1/runs/order-1/resume")
  await page.locator(".title").getByText("suspended").waitFor()
  await done(page)
})

test("a server that asks for tokens is told one, and a reader's cannot act", async world => {
  const guarded = await new Server("--require-tokens").start_with_tokens()
  const page = await open({ ...world, server: guarded }, "#/runs/secret-1")
  await page.fill("#token", "abide_wrong")
  await button(page, "Use it").click()
  await page.getByText("does not know this token").waitFor()
  const told = page.waitForResponse(answer => answer.url().endsWith("/v1/access") && answer.ok())
  await page.fill("#token", guarded.reader)
  await button(page, "Use it").click()
  await page.getByRole("heading", { name: "secret-1" }).waitFor()
  assert.equal(await page.evaluate(() => sessionStorage.length + localStorage.length), 0)
  await page.locator(".link", { hasText: "live" }).waitFor()
  await page.locator(".l-here").waitFor()
  await told
  const buttons = async () => (await page.locator("main button").allInnerTexts()).filter(text => /Pause|Signal|Fork|Cancel|Send|Deploy|Start|Publish|New (schedule|token)|Rewind|Set|Retry|Move/.test(text))
  assert.deepEqual(await buttons(), [])
  for (const [to, title] of [["workflows", "Workflows"], ["schedules", "Schedules"], ["events", "Events"], ["tasks", "Tasks and queues"]]) {
    await page.goto(`${guarded.url}/#/${to}`)
    await page.getByRole("heading", { name: title, exact: true }).first().waitFor()
    assert.deepEqual(await buttons(), [])
  }
  page.troubles = page.troubles.filter(text => !/401/.test(text))
  await done(page)
  const other = await open({ ...world, server: guarded }, "#/runs/secret-1")
  await other.fill("#token", guarded.token)
  await button(other, "Use it").click()
  await button(other, "Pause").click()
  await guarded.until("secret-1", run => run.status === "paused")
  other.troubles = other.troubles.filter(text => !/401/.test(text))
  await done(other)
  await guarded.stop()
})

for (const colorScheme of ["light", "dark"]) test(`no page has anything that axe-core finds, ${colorScheme}`, async world => {
  const page = await open(world, "#/runs?q=workflow%3Apickup", { colorScheme })
  await page.getByLabel("Select order-3").check()
  for (const [to, ready] of PAGES) {
    await page.goto(`${world.server.url}/${to}`)
    await page.locator(ready).first().waitFor()
    await assert_accessible(page, to)
  }
  await page.keyboard.press("Control+k")
  await assert_accessible(page, "palette")
  await page.keyboard.press("Escape")
  await page.goto(`${world.server.url}/#/runs/order-3`)
  await button(page, "Cancel…").click()
  await assert_accessible(page, "dialog")
  await done(page)
})

await begin()
