// Figures in the browser: charts of rates, settings, and what a server without them shows.
import assert from "node:assert/strict"
import { assert_accessible, test, wait } from "./harness.mjs"
import { RATES, SETTINGS } from "./figures.mjs"
import { begin, button, done, open, open_with } from "./steps.mjs"

const routes = asked => [["GET", "/v1/rates", [], url => {
  asked?.push(url.search)
  return RATES
}], ["GET", "/v1/settings", [], () => SETTINGS]]

test("charts show the rates of the last hours, and are read by pointer and keys", async world => {
  const asked = [], page = await open_with(world, "#/", routes(asked))
  const rates = page.getByRole("region", { name: "Rates" })
  await rates.waitFor()
  assert.equal(await rates.locator("figure").count(), 4)
  const runs = rates.getByRole("slider", { name: "Runs: time" })
  await runs.focus()
  await page.keyboard.press("Home")
  await page.waitForFunction(started => document.querySelector(".legend b").textContent === String(started), RATES.series.started[0])
  await page.keyboard.press("ArrowRight")
  assert.match(await runs.getAttribute("aria-valuetext"), new RegExp(`started ${RATES.series.started[1]}, completed ${RATES.series.completed[1]}`))
  const latency = rates.getByRole("slider", { name: /going on/ })
  await latency.focus()
  await page.keyboard.press("Home")
  for (let at = 0; at < 20; at++) await page.keyboard.press("ArrowRight")
  assert.match(await latency.getAttribute("aria-valuetext"), /half within –/) // unknown then
  assert.equal((await latency.locator("path.stroke").first().getAttribute("d")).split("M").length, 3) // a gap
  await runs.hover({ position: { x: 2, y: 20 } })
  await page.locator(".crosshair").first().waitFor()
  await assert_accessible(page, "rates")
  await rates.getByRole("link", { name: "24 h" }).click()
  await wait(() => asked.some(search => /since=24h/.test(search)), "not asked for a day")
  await done(page)
})

test("settings are listed with where they come from, and found", async world => {
  const page = await open_with(world, "#/settings", routes())
  await page.getByRole("cell", { name: "run-retention" }).waitFor()
  await page.getByLabel("Search settings").fill("retention")
  await page.getByRole("cell", { name: "listen", exact: true }).waitFor({ state: "detached" })
  assert.match(await page.locator("tbody tr").innerText(), /30d\s+abide\.toml/)
  await assert_accessible(page, "settings")
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Settings" }).waitFor()
  await done(page)
})

test("rates, settings and what workers did lately are those of the server", async world => {
  const { server } = world, page = await open(world, "#/")
  const chart = page.getByRole("region", { name: "Rates" }).locator("figure", { hasText: "Runs" }).first()
  await chart.waitFor()
  const sum = values => values.reduce((all, value) => all + (value ?? 0), 0)
  const { series } = await server.get("/v1/rates?since=1h&step=30s")
  assert.ok(sum(series.started) >= 17 && sum(series.failed) >= 1)
  assert.ok((await chart.locator("path.stroke").first().getAttribute("d")).startsWith("M"))
  await page.goto(`${server.url}/#/settings`)
  await page.getByRole("cell", { name: "run-retention" }).waitFor()
  assert.equal(await page.locator("tbody tr").count(), (await server.get("/v1/settings")).items.length)
  await page.goto(`${server.url}/#/tasks`)
  await page.getByText("figures of the last five minutes").waitFor()
  const { recent, held } = (await server.get("/v1/workers")).items.find(each => each.id === "tester")
  const cells = await page.locator("tr", { hasText: "tester" }).locator("td").allInnerTexts()
  assert.deepEqual(cells.slice(4, 8), [held, recent.per_minute, recent.completed, recent.failed].map(String))
  await assert_accessible(page, "workers")
  await done(page)
})

test("what an older server lacks is not there, and nothing complains", async world => {
  const missing = ["/v1/rates", "/v1/settings", "/v1/workflows/{name}/places", "/v1/runs/{id}/set", "/v1/runs/{id}/try"]
  const page = await open_with(world, "#/", [], missing)
  await page.locator(".link", { hasText: "live" }).waitFor()
  await page.locator(".group").first().waitFor()
  assert.equal(await page.getByRole("region", { name: "Rates" }).count(), 0)
  assert.equal(await page.getByRole("link", { name: "Settings" }).count(), 0)
  for (const [to, ready] of [["runs/order-1", ".l-here"], ["workflows/order", ".source"]]) {
    await page.goto(`${world.server.url}/#/${to}`)
    await page.locator(ready).first().waitFor()
    assert.equal(await page.locator(".heat").count() + await button(page, "Set…").count() + await page.getByRole("heading", { name: "What if" }).count(), 0)
  }
  await done(page)
})

test("every page says how to do the same by other means, and can be acted on by the palette", async world => {
  const page = await open(world, "#/schedules")
  await button(page, "New schedule…").waitFor()
  await page.locator("td").first().waitFor()
  await page.keyboard.press("c")
  const dialog = page.locator("dialog")
  await dialog.getByText("abide schedule trigger nightly").waitFor()
  await dialog.getByText("curl -X POST").first().waitFor()
  await dialog.getByText('await client.schedules.trigger("nightly")').waitFor()
  await page.keyboard.press("Escape")
  await dialog.waitFor({ state: "hidden" })
  await page.keyboard.press("Control+k")
  await page.fill("#palette", "new schedule")
  await page.getByRole("option", { name: /new schedule/ }).waitFor()
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "New schedule" }).waitFor()
  await page.keyboard.press("Escape")
  for (const to of ["now", "runs", "runs/order-1", "workflows", "workflows/order", "tasks", "events", "events/payments", "members", "tokens"]) {
    await page.goto(`${world.server.url}/#/${to}`)
    await page.locator("main h1").first().waitFor()
    await wait(() => button(page, "Copy as… c").count(), `${to} has no other means`)
  }
  await done(page)
})

test("no page is wider than a narrow screen", async world => {
  for (const width of [320, 390, 700]) {
    const page = await open(world, "#/", { viewport: { width, height: 800 } })
    for (const [to, ready] of [["", ".tiles b"], ["runs", "#rows a"], ["runs/order-1", ".l-here"], ["workflows", "td"], ["workflows/order", ".source"], ["tasks", "td"], ["schedules", "td"], ["schedules/nightly", ".ticks-list"], ["events", "td"], ["members", "td"], ["tokens", "td"], ["settings", "h1"]]) {
      await page.goto(`${world.server.url}/#/${to}`)
      await page.locator(ready).first().waitFor()
      assert.deepEqual([to, await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)], [to, 0])
    }
    await done(page)
  }
})

await begin()
