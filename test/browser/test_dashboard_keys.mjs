// Everything by keyboard alone: each control of each page is reached by Tab, and acts by Enter or Space.
import assert from "node:assert/strict"
import { test, wait } from "./harness.mjs"
import { begin, button, done, open, parked } from "./steps.mjs"

const PAGES = [["#/now", ".group"], ["#/runs", "#rows a"], ["#/runs/order-1", ".l-here"], ["#/workflows", "td"], ["#/workflows/order", ".source"], ["#/tasks", "td"], ["#/schedules", "td"], ["#/schedules/nightly", ".ticks-list"], ["#/events", "td"], ["#/tokens", "td"]]
const STEPS_MAX = 400
const CONTROLS = "a[href], button:not(:disabled), input:not(:disabled), textarea, select, summary, [tabindex='0']"

// Marks what Tab reaches from the first element on, until it comes round, and answers what it never reached.
async function unreached(page) {
  await page.evaluate(() => {
    const first = document.querySelector(".skip")
    window.reached = new Set([first])
    first.focus()
  })
  for (let step = 0; step < STEPS_MAX; step++) {
    await page.keyboard.press("Tab")
    const isDone = await page.evaluate(() => {
      const here = document.activeElement
      if (here === document.body || window.reached.has(here)) return window.reached.size > 3
      window.reached.add(here)
      return false
    })
    if (isDone) break
  }
  return page.evaluate(selector => [...document.querySelectorAll(selector)].filter(each => each.checkVisibility() && each.getBoundingClientRect().width > 0 && !window.reached.has(each) && !(each.type === "radio" && !each.checked))
    .map(each => each.outerHTML.slice(0, 120)), CONTROLS)
}

test("every control of every page is reached by Tab", async world => {
  const page = await open(world, "#/now")
  await page.locator(".link", { hasText: "live" }).waitFor()
  for (const [to, ready] of PAGES) {
    await page.goto(`${world.server.url}/${to}`)
    await page.locator(ready).first().waitFor()
    assert.deepEqual(await unreached(page), [], to)
  }
  await done(page)
})

test("a run is paused, resumed, signalled and cancelled without a pointer", async world => {
  const { server } = world
  await parked(server, "hands-1")
  const page = await open(world, "#/runs")
  await page.getByRole("link", { name: "hands-1", exact: true }).waitFor()
  await button(page, "Save view…").waitFor()
  await page.keyboard.press("/")
  await page.keyboard.type("hands-1")
  await page.keyboard.press("Enter")
  await page.getByText("1 run.", { exact: true }).waitFor()
  await page.locator("#main").focus()
  await page.keyboard.press("j")
  await page.keyboard.press("Enter")
  await button(page, "Signal…").waitFor()
  await page.keyboard.press("p")
  await server.until("hands-1", run => run.status === "paused")
  await button(page, "Resume").waitFor()
  await page.keyboard.press("p")
  await server.until("hands-1", run => run.status === "suspended")
  await button(page, "Pause").waitFor()
  await page.keyboard.press("s")
  await page.getByLabel("Signal", { exact: true }).waitFor()
  await page.keyboard.type("later")
  await page.keyboard.press("Enter")
  await wait(async () => (await server.get("/v1/runs/hands-1/signals")).items.length === 1, "no signal")
  await page.locator("dialog[open]").waitFor({ state: "detached" })
  await page.keyboard.press("x")
  await page.getByRole("heading", { name: "Cancel hands-1?" }).waitFor()
  await page.keyboard.press("Enter")
  await server.until("hands-1", run => run.status === "cancelled")
  await done(page)
})

await begin()
