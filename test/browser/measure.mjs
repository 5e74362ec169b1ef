// Measures what the page takes in the browser: node test/browser/measure.mjs
//
// Not a test: times depend on the machine. `cpu` is what the main thread of the page computed, which does not depend
// on what else the machine does. What the server takes for it is measured by bench/pages.py. Each line is a JSON
// object, as those of bench/ are.
import { Browser, Server, wait } from "./harness.mjs"

const ROWS = 10_000, ENTRIES = 10_000, ROUNDS = 5
const LIMITS = { "page.log10000.first": 1000, "page.log10000.all": 1000, "page.log10000.cpu": 1000, "page.scroll10000.nodes": 2000, "page.live": 1000 }
const say = (bench, value, unit) => console.log(JSON.stringify({ bench, value: Math.round(value), unit, limit: LIMITS[bench] }))

const server = await new Server().start()
await server.deploy("chatty", `for (let n = 0; n < ${ENTRIES}; n++) console.log("line " + n)\nawait Signal.when("go")`)
await server.deploy("note", 'await Signal.when("go")')
await server.start_run("chatty", "chatty-1")
await server.until("chatty-1", run => run.status === "suspended")
for (let n = 0; n < ROWS / 80; n++) await Promise.all(Array.from({ length: 80 }, (_, at) => server.start_run("note", `crowd-${n}-${at}`, {}, { start_at: "2036-01-01T00:00:00Z", tags: ["crowd"] })))
const browser = await new Browser().open()
const nodes = page => page.evaluate(() => document.querySelectorAll("*").length)
// Seconds that the page has computed, from when this is called.
async function computed(page) {
  const session = await page.context().newCDPSession(page)
  await session.send("Performance.enable", { timeDomain: "threadTicks" })
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics")
    return Object.fromEntries(metrics.map(each => [each.name, each.value])).TaskDuration * 1000
  }
}
const least = async measure => {
  const all = []
  for (let round = 0; round < ROUNDS; round++) all.push(await measure())
  return all[0].map((_, at) => Math.min(...all.map(each => each[at])))
}

// From the address to the first rows, and to all entries: a page that was never opened before.
const [first, all, cpu] = await least(async () => {
  const page = await browser.page(), spent = await computed(page), began = Date.now()
  await page.goto(`${server.url}/#/runs/chatty-1`)
  await page.locator(".log-row").first().waitFor()
  const at = Date.now() - began
  await page.getByText(/^10,0\d\d entries$/).waitFor()
  const times = [at, Date.now() - began, await spent()]
  await page.context().close()
  return times
})
say("page.log10000.first", first, "ms")
say("page.log10000.all", all, "ms")
say("page.log10000.cpu", cpu, "ms")

const page = await browser.page(), spent = await computed(page)
await page.goto(`${server.url}/#/runs?q=tag:crowd`)
await page.locator("#rows a").first().waitFor()
let most = 0
await wait(async () => {
  most = Math.max(most, await nodes(page))
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  return await page.getByText("10,000 runs.", { exact: true }).count() === 1 && await page.locator("#rows a", { hasText: /^crowd-0-/ }).count() > 0
}, "not all were loaded")
say("page.scroll10000.cpu", await spent(), "ms")
say("page.scroll10000.nodes", Math.max(most, await nodes(page)), "nodes")
// From end to end once more, all of them loaded: the longest time between two frames, and the work of one.
const before = await spent()
const frame = await page.evaluate(async () => {
  let worst = 0, before = performance.now()
  const step = document.body.scrollHeight / 200
  for (let at = 0; at < 200; at++) {
    scrollTo(0, at * step)
    await new Promise(requestAnimationFrame)
    const now = performance.now()
    worst = Math.max(worst, now - before)
    before = now
  }
  return worst
})
say("page.scroll10000.frame", frame, "ms")
say("page.scroll10000.frame.cpu", (await spent() - before) / 200, "ms")

// From a change, acknowledged, to the page that shows it.
await page.goto(`${server.url}/#/runs?q=tag:live`)
await page.locator(".link", { hasText: "live" }).waitFor()
let number = 0
const [live] = await least(async () => {
  const id = `live-${number++}`
  await server.start_run("note", id, {}, { tags: ["live"] })
  const begun = Date.now()
  await page.locator("#rows a", { hasText: id }).waitFor()
  return [Date.now() - begun]
})
say("page.live", live, "ms")
await browser.close()
await server.stop()
