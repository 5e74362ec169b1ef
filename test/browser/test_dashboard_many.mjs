// The list of runs in the browser: saved views, expressions, exports, many runs at once, and very many rows.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { assert_accessible, test, wait } from "./harness.mjs"
import { begin, button, confirm, done, forgive, open } from "./steps.mjs"

const rows = page => page.locator("#rows a").allInnerTexts()
const search = async (page, text) => {
  await page.fill("#search", text)
  await page.press("#search", "Enter")
}
const waiting = async (server, ids, topic) => {
  for (const id of ids) await server.start_run("invoice", id, { topic })
  for (const id of ids) await server.until(id, run => run.status === "suspended")
}
const saved = async (page, name) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()])
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") }
}

test("a view is saved under a name, kept by the browser and in the address, and removed", async world => {
  const page = await open(world, "#/runs")
  await search(page, "status:failed")
  await page.getByText("1 run.", { exact: true }).waitFor()
  await button(page, "Save view…").click()
  await page.locator("dialog").getByLabel("Name").fill("<b>broken</b>")
  await confirm(page)
  const views = page.getByRole("navigation", { name: "Saved views" })
  await views.getByRole("link", { name: "<b>broken</b>" }).waitFor()
  assert.match(page.url(), /view=/)
  await page.goto(`${world.server.url}/#/now`)
  await page.reload()
  await page.goto(`${world.server.url}/#/runs`)
  await views.getByRole("link", { name: "<b>broken</b>" }).click()
  await page.getByText("1 run.", { exact: true }).waitFor()
  assert.equal(await page.inputValue("#search"), "status:failed")
  await assert_accessible(page, "saved views")
  await page.keyboard.press("Control+k")
  await page.fill("#palette", "broken</b>")
  await page.getByRole("option", { name: /saved view/ }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "Remove the view <b>broken</b>" }).click()
  await confirm(page)
  await views.waitFor({ state: "detached" })
  assert.equal(await page.evaluate(() => localStorage.length), 0)
  await done(page)
})

test("what the browser kept may be anything", async world => {
  const page = await world.browser.page()
  await page.addInitScript(() => localStorage.setItem("abide.views", '[{"name": 3}, null, {"name": "good", "q": "tag:eu"}]'))
  await page.goto(`${world.server.url}/#/runs`)
  await page.getByRole("link", { name: "good" }).waitFor()
  assert.equal(await page.locator(".chip-pair").count(), 1)
  await done(page)
})

test("an expression finds runs by their variables", async world => {
  const page = await open(world, "#/runs")
  await search(page, 'where(amount > 100 && reason.indexOf(":)") < 0) status:suspended')
  await wait(async () => (await rows(page)).includes("order-1"), "order-1 is not found")
  assert.deepEqual((await rows(page)).filter(id => !id.startsWith("order")), [])
  await search(page, "where(amount > 10000)")
  await page.getByText("No run is like that.").waitFor()
  await search(page, "where(amount > 100) age>2h")
  await page.getByText("No run is like that.").waitFor()
  await search(page, "where(amount >)")
  await page.getByRole("alert").waitFor()
  forgive(page, /400/)
  await done(page)
})

test("what a search finds is exported as JSON lines and as CSV", async world => {
  const { server } = world
  await server.deploy("=cmd", 'return await Signal.when("x")')
  await server.start_run("=cmd", "formula-1", {}, { tags: ['say "hi", you'] })
  await server.until("formula-1", run => run.status === "suspended")
  const page = await open(world, "#/runs?q=workflow%3Anote%2C%3Dcmd")
  await page.getByText("13 runs.", { exact: true }).waitFor()
  await page.locator("summary", { hasText: "Export" }).click()
  const lines = await saved(page, "JSON lines")
  const items = lines.text.trim().split("\n").map(line => JSON.parse(line))
  assert.equal(lines.name, "runs.jsonl")
  assert.deepEqual(items.map(run => run.id).sort(), (await server.get("/v1/runs?workflow=note,%3Dcmd")).items.map(run => run.id).sort())
  const csv = await saved(page, "CSV")
  const table = csv.text.trim().split("\r\n")
  assert.equal(table.length, 14)
  assert.match(table[0], /^id,workflow,status,/)
  assert.match(csv.text, /formula-1,'=cmd,suspended,0,1,"say ""hi"", you",signal x,/) // no formula
  await done(page)
})

test("it is counted what would happen, and a pause is undone", async world => {
  const { server } = world, ids = ["undo-1", "undo-2"]
  await waiting(server, ids, "undo")
  await server.start_run("note", "undo-3", { text: "x" })
  await server.until("undo-3", run => run.status === "completed")
  const page = await open(world, "#/runs?q=undo")
  for (const id of [...ids, "undo-3"]) await page.getByLabel(`Select ${id}`).check()
  await page.locator(".bar").getByRole("button", { name: "Pause" }).click()
  const dialog = page.locator("dialog")
  await dialog.getByText("Of 3 runs, 2 would change, 1 would be refused").waitFor()
  assert.equal((await server.run("undo-1")).status, "suspended")
  await assert_accessible(page, "preview")
  await dialog.locator("button.primary").click()
  await dialog.getByText("2 changed, 1 refused.").waitFor()
  for (const id of ids) await server.until(id, run => run.status === "paused")
  await dialog.getByRole("button", { name: "Close" }).click()
  await page.getByRole("button", { name: "Undo" }).click()
  for (const id of ids) await server.until(id, run => run.status === "suspended")
  await page.getByText("Undone: 2 changed.").waitFor()
  await done(page)
})

test("all that a search finds are changed, also those that are not loaded", async world => {
  const { server } = world
  for (let n = 0; n < 5; n++) await Promise.all(Array.from({ length: 30 }, (_, at) => server.start_run("note", `mass-${n}-${at}`, {}, { start_at: "2036-01-01T00:00:00Z", tags: ["mass"] })))
  const page = await open(world, "#/runs?q=tag%3Amass")
  await page.getByText("100 loaded").waitFor()
  await page.getByLabel("Select all that are loaded").check()
  await button(page, "Select all that the search finds").click()
  await page.locator(".bar").getByRole("button", { name: "Cancel" }).click()
  await page.locator("dialog").getByText("Of 150 runs, 150 would change.").waitFor()
  await confirm(page)
  await wait(async () => (await server.get("/v1/runs?tag=mass&status=cancelled&limit=1000")).items.length === 150, "not all were cancelled")
  await done(page)
})

test("many are moved and rewound", async world => {
  const { server } = world, ids = ["herd-1", "herd-2"]
  await server.deploy("herd", 'const price = 1\nawait Signal.when("first")\nconst ok = await Signal.when("ok")\nreturn price')
  for (const id of ids) {
    await server.start_run("herd", id)
    await server.until(id, run => run.waits[0]?.name === "first")
    await server.post(`/v1/runs/${id}/signals/first`, {})
    await server.until(id, run => run.waits[0]?.name === "ok")
  }
  const before = (await server.run("herd-1")).version
  await server.deploy("herd", 'const price = 1\nawait Signal.when("first")\nconst ok = await Signal.when("ok")\nreturn price + 1')
  const page = await open(world, "#/runs?q=herd")
  const choose = async word => {
    for (const id of ids) await page.getByLabel(`Select ${id}`).check()
    await page.locator(".bar").getByRole("button", { name: word, exact: true }).click()
  }
  await choose("Move")
  await page.locator("dialog").getByText("Of 2 runs, 2 would change.").waitFor()
  await confirm(page)
  for (const id of ids) await server.until(id, run => run.version !== before)
  await page.locator("dialog[open]").waitFor({ state: "detached" })
  await choose("Rewind")
  await page.getByLabel("Step").fill("first")
  await button(page, "Count them").click()
  await page.locator("dialog").getByText("Of 2 runs, 2 would change.").waitFor()
  await page.getByRole("heading", { name: "Rewind 2 runs to first?" }).waitFor()
  const sent = page.waitForRequest(request => request.method() === "POST" && !JSON.parse(request.postData() ?? "{}").dry_run)
  await confirm(page)
  assert.deepEqual(JSON.parse((await sent).postData()), { verb: "rewind", ids, step: "first" })
  for (const id of ids) await server.until(id, run => run.waits[0]?.name === "first")
  await done(page)
})

test("a list of ten thousand stays small in the document", async world => {
  const { server } = world
  for (let n = 0; n < 125; n++) await Promise.all(Array.from({ length: 80 }, (_, at) => server.start_run("note", `crowd-${n}-${at}`, {}, { start_at: "2036-01-01T00:00:00Z", tags: ["crowd"] })))
  const page = await open(world, "#/runs?q=tag%3Acrowd")
  await wait(async () => {
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
    return await page.getByText("10,000 runs.", { exact: true }).count() === 1 && await page.locator("#rows a", { hasText: /^crowd-0-/ }).count() > 0
  }, "not all were loaded")
  assert.ok(await page.evaluate(() => document.querySelectorAll("*").length) < 2000)
  await done(page)
})

await begin()
