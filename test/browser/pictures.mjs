// Makes the pictures of docs/pictures: node test/browser/pictures.mjs [FOLDER]
//
// Not a test: it is run by hand when the pages have changed, and the pictures are looked at before they are
// committed. The wide ones are 1280 pixels, the narrow ones 390.
import { statSync } from "node:fs"
import { join } from "node:path"
import { RATES, SETTINGS } from "./figures.mjs"
import { Browser, Server, SOURCE } from "./harness.mjs"
import { change_routes } from "./steps.mjs"
import { checkout } from "./turns.mjs"
import { fill } from "./world.mjs"

const SIZE_MAX = 150_000
const SHOTS = [["now", "#/", ".group"], ["runs", "#/runs", "#rows a"], ["run", "#/runs/order-1", ".l-here"], ["failed", "#/runs/broken-1", ".l-failed"], ["code", "#/runs/checkout-1", ".tl-part"], ["workflow", "#/workflows/order", ".heat"], ["tasks", "#/tasks", "td"], ["schedules", "#/schedules", "td"], ["schedule", "#/schedules/nightly", ".ticks-list"], ["events", "#/events", "td"], ["settings", "#/settings", "td"]]
const KINDS = [["", { viewport: { width: 1280, height: 800 }, colorScheme: "light" }], ["-dark", { viewport: { width: 1280, height: 800 }, colorScheme: "dark" }],
  ["-narrow", { viewport: { width: 390, height: 844 }, colorScheme: "light" }]]

const folder = process.argv[2] ?? join(SOURCE, "docs/pictures")
const server = await new Server().start()
await fill(server)
await checkout(server, "checkout-1")
const browser = await new Browser().open()
for (const [kind, options] of KINDS) {
  const page = await browser.page(options)
  await change_routes(page, server, [["GET", "/v1/rates", [], () => RATES], ["GET", "/v1/settings", [], () => SETTINGS]])
  for (const [name, to, ready] of SHOTS) {
    await page.goto(`${server.url}/${to}`)
    await page.locator(ready).first().waitFor()
    await page.locator(".link", { hasText: "live" }).waitFor()
    const path = join(folder, `${name}${kind}.png`)
    await page.screenshot({ path })
    const { size } = statSync(path)
    if (size > SIZE_MAX) throw new Error(`${path} has ${size} bytes, and may have ${SIZE_MAX}`)
    console.log(path, size)
  }
}
await browser.close()
await server.stop()
