// What the browser tests share: a server, a browser, and tests that print TAP.
//
// playwright-core drives the Chromium of the system, or its Firefox (ABIDE_BROWSER=firefox); both it and axe-core are installed into the build
// directory the first time, in the versions that package-lock.json names.
import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { spawn, spawnSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const SOURCE = process.env.ABIDE_SOURCE_DIR ?? new URL("../..", import.meta.url).pathname
export const BUILD = process.env.ABIDE_BUILD_DIR ?? join(SOURCE, "build")
export const PATIENCE = Number(process.env.ABIDE_PATIENCE_MS ?? 120_000) // bounds only how long a broken page is waited for
export const IS_FIREFOX = process.env.ABIDE_BROWSER === "firefox" // the one of the system, by WebDriver BiDi
const FLAGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"]

// ---- packages ----

function packages() {
  const folder = join(BUILD, "browser"), stamp = join(folder, "installed")
  const names = ["package.json", "package-lock.json", ".npmrc"]
  const sum = createHash("sha256")
  for (const name of names) sum.update(readFileSync(join(SOURCE, "test/browser", name)))
  const wanted = sum.digest("hex")
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== wanted) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    for (const name of names) copyFileSync(join(SOURCE, "test/browser", name), join(folder, name))
    const done = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: folder, encoding: "utf8" })
    if (done.status !== 0) throw new Error(`npm could not install the packages of test/browser:\n${done.stderr}`)
    writeFileSync(stamp, wanted)
  }
  return folder
}
const require = createRequire(join(packages(), "package.json"))
const { chromium, firefox } = require("playwright-core")
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8")

// ---- the server ----

export class Server {
  constructor(...flags) {
    this.folder = mkdtempSync(join(tmpdir(), "abide-browser-"))
    this.flags = flags
    this.listen = "127.0.0.1:0"
    this.token = ""
  }
  async start() {
    this.process = spawn(join(BUILD, "abide"), ["serve", "--store", `sqlite:${this.folder}/test.db`, "--listen", this.listen, ...this.flags], { stdio: ["ignore", "ignore", "pipe"] })
    this.ended = new Promise(resolve => this.process.on("exit", resolve))
    let text = ""
    await new Promise((resolve, reject) => {
      this.process.stderr.on("data", data => {
        text += data
        const port = /listening on http:\/\/.*:(\d+)/.exec(text)?.[1]
        if (!port) return
        this.listen = `127.0.0.1:${port}`
        this.url = `http://${this.listen}`
        resolve()
      })
      this.ended.then(() => reject(new Error(`the server ended: ${text}`)))
    })
    return this
  }
  // With a token for everything and one for reading only; the first comes from the command line.
  async start_with_tokens() {
    const made = spawnSync(join(BUILD, "abide"), ["token", "create", "--name", "admin", "--scope", "admin", "--store", `sqlite:${this.folder}/test.db`], { encoding: "utf8" })
    this.token = made.stdout.trim()
    await this.start()
    await this.deploy("secret", 'return await Signal.when("go")')
    await this.start_run("secret", "secret-1")
    this.reader = (await this.post("/v1/tokens", { name: "reader", scopes: ["read"] })).token
    return this
  }
  async kill() {
    this.process.kill("SIGKILL")
    await this.ended
  }
  async stop() {
    this.process.kill("SIGTERM")
    await this.ended
    rmSync(this.folder, { recursive: true, force: true })
  }
  async call(method, path, body) {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
    const headers = this.token ? { Authorization: `Bearer ${this.token}` } : {}
    const answer = await fetch(this.url + path, { method, body: text, headers })
    const json = await answer.json().catch(() => null)
    if (!answer.ok) throw Object.assign(new Error(`${method} ${path}: ${answer.status} ${json?.detail}`), { status: answer.status, code: json?.code })
    return json
  }
  get(path) { return this.call("GET", path) }
  post(path, body) { return this.call("POST", path, body) }
  run(id) { return this.get(`/v1/runs/${encodeURIComponent(id)}`) }
  deploy(name, source) { return this.call("PUT", `/v1/workflows/${encodeURIComponent(name)}`, source) }
  start_run(workflow, id, input = {}, more = {}) { return this.post("/v1/runs", { workflow, id, input, ...more }) }
  // Until the condition holds for the run; answers it.
  async until(id, holds) {
    return wait(async () => {
      const run = await this.run(id).catch(error => {
        if (error.status !== 404) throw error // it may not have begun
      })
      return run && holds(run) ? run : null
    }, `${id} did not get there`)
  }
  // Takes a task as a worker does, and ends it.
  async work(name, outcome = { result: null }) {
    const { tasks: [task] } = await this.post("/v1/tasks/claim", { worker: "tester", names: [name], wait: "30s" })
    await this.post("/v1/tasks/complete", { results: [{ id: task.id, token: task.token, ...outcome }] })
    return task
  }
}

export async function wait(condition, what) {
  for (const began = Date.now(); ;) {
    const answer = await condition()
    if (answer) return answer
    if (Date.now() - began > PATIENCE) throw new Error(what)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

// ---- the browser ----

export class Browser {
  async open() {
    this.browser = IS_FIREFOX ? await firefox.launch({ channel: "moz-firefox", executablePath: process.env.ABIDE_FIREFOX ?? "/usr/bin/firefox-esr", headless: true })
      : await chromium.launch({ executablePath: process.env.ABIDE_CHROMIUM ?? "/usr/bin/chromium", args: FLAGS, chromiumSandbox: false, headless: true })
    return this
  }
  // A page of its own; what it writes to the console and what its policy refuses are kept.
  async page(options = {}) {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE)
    // To another address of the same document there is no loading to wait for, which the driver of Firefox does.
    const load = page.goto.bind(page)
    page.goto = to => page.url().split("#")[0] === to.split("#")[0] ? page.evaluate(hash => {
      location.hash = hash
    }, new URL(to).hash) : load(to)
    page.troubles = []
    page.on("console", message => {
      if (message.type() !== "error" || (page.isServerAway && /Failed to load resource|ERR_/.test(message.text()))) return
      page.troubles.push(message.text())
    })
    page.on("pageerror", error => page.troubles.push(String(error)))
    await page.addInitScript(() => {
      window.refusals = []
      document.addEventListener("securitypolicyviolation", event => window.refusals.push(`${event.violatedDirective} ${event.blockedURI}`))
    })
    return page
  }
  close() { return this.browser.close() }
}

export async function assert_clean(page) {
  assert.deepEqual(page.troubles, [])
  assert.deepEqual(await page.evaluate(() => window.refusals), [])
}

// No violation that axe-core finds.
export async function assert_accessible(page, where) {
  await page.evaluate(`if (!window.axe) { ${AXE} }`)
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }))
  const text = found.violations.flatMap(each => each.nodes.slice(0, 4).map(node => `${where}: ${each.id}: ${node.html.slice(0, 160)} ${node.any[0]?.message ?? node.all[0]?.message ?? ""}`))
  assert.deepEqual(text, [])
}

// ---- tests ----

const tests = []
export const test = (name, body) => tests.push({ name, body })

// Tests whose name contains the first argument, all without one.
export async function main({ before, after }) {
  const chosen = tests.filter(each => each.name.includes(process.argv[2] ?? ""))
  console.log(`1..${chosen.length}`)
  let failed = 0
  const world = await before()
  for (const [number, { name, body }] of chosen.entries()) {
    const began = Date.now()
    try {
      await body(world)
      console.log(`ok ${number + 1} ${name} # ${Date.now() - began} ms`)
    } catch (error) {
      failed++
      console.log(`not ok ${number + 1} ${name}\n${String(error.stack ?? error).replace(/^/gm, "# ")}`)
    }
  }
  await after(world)
  process.exit(failed ? 1 : 0)
}
