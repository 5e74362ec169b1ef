// Steps that the tests of several pages are made of, and the server and browser that they share.
import { assert_clean, Browser, main, Server } from "./harness.mjs"
import { fill, INPUT } from "./world.mjs"

export const open = async ({ browser, server }, to, options) => {
  const page = await browser.page(options)
  await page.goto(`${server.url}/${to}`)
  await page.locator("h1").first().waitFor()
  return page
}
// A page whose stream is refused, until that is taken back.
export const open_without_stream = async ({ browser, server }) => {
  const page = await browser.page()
  page.isServerAway = true
  await page.route("**/v1/changes", route => route.abort())
  await page.goto(`${server.url}/#/runs`)
  await page.locator("h1").first().waitFor()
  return page
}
export const button = (page, name) => page.getByRole("button", { name, exact: true })
export const confirm = page => page.locator("dialog button.danger, dialog button.primary").click()
export const done = async page => {
  await assert_clean(page)
  await page.context().close()
}
export const parked = async (server, id) => {
  await server.start_run("order", id, INPUT)
  await server.work("charge", { result: "r" })
  return server.until(id, run => run.waits[0]?.on === "signal")
}
// What the browser itself says about answers that are meant to be refused.
export const forgive = (page, pattern) => {
  page.troubles = page.troubles.filter(text => !pattern.test(text))
}

// A server that has these routes as well, or lacks some; `routes` is [method, path, body fields, answer of (request)].
// Must be called before the page is opened.
export async function change_routes(page, server, routes, missing = []) {
  const api = await server.get("/openapi.json")
  for (const path of missing) delete api.paths[path]
  for (const [method, path, fields] of routes) {
    api.paths[path] ??= {}
    const schema = { type: "object", properties: Object.fromEntries(fields.map(name => [name, {}])) }
    api.paths[path][method.toLowerCase()] = { parameters: fields.map(name => ({ name })), requestBody: { content: { "application/json": { schema } } } }
  }
  await page.route("**/openapi.json", route => route.fulfill({ json: api }))
  for (const [method, path, , answer] of routes) {
    const pattern = new RegExp(`^${path.replaceAll(/\{[^}]*\}/g, "[^/]+")}$`)
    await page.route(url => pattern.test(url.pathname), route => {
      const request = route.request()
      const json = request.method() === method ? answer(new URL(request.url()), request.postData()) : undefined
      return json === undefined ? route.fallback() : route.fulfill({ json })
    })
  }
}
export async function open_with(world, to, routes, missing, options) {
  const page = await world.browser.page(options)
  await change_routes(page, world.server, routes, missing)
  await page.goto(`${world.server.url}/${to}`)
  await page.locator("h1").first().waitFor()
  return page
}

// Runs the tests against a server with a little of everything.
export const begin = () => main({
  before: async () => {
    const server = await new Server().start()
    await fill(server)
    return { server, browser: await new Browser().open() }
  },
  after: async ({ server, browser }) => {
    await browser.close()
    await server.stop()
  },
})
