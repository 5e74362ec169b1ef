// TestServer: what a test of workflows needs: a server, a client, a worker that can die, and mocks.
//
// The worker of the workflows is in the process of the test. To kill it is to let it forget all its
// runs; what their functions still do is told to nobody. So runs are taken up from their journals as
// after kill -9, while the test keeps its variables. Tasks are done by another worker.
import { Client } from "../client.js"
import { NonRetryableError } from "../errors.js"
import { allowOnly } from "../fields.js"
import { Worker, parts } from "../worker.js"
import { ServerProcess } from "./server_process.js"

const OPTIONS = ["binary", "workflows", "tasks", "logger"]
const LEASE = "5s" // how long the server may wait for a worker that was killed
const SILENT = { warn() {}, error() {} }

class Mocks {
  steps = new Map()
  tasks = new Map()

  step(name, replacement) {
    if (typeof replacement !== "function") throw new TypeError(`mock.step ${name}: needs a function`)
    this.steps.set(name, replacement)
    return this
  }

  task(name, replacement) {
    if (typeof replacement !== "function") throw new TypeError(`mock.task ${name}: needs a function`)
    this.tasks.set(name, replacement)
    return this
  }

  clear() {
    this.steps.clear()
    this.tasks.clear()
  }
}

export class TestServer {
  #process
  #tasks // does all tasks, and is not killed
  #worker // has the workflows

  static async start(options = {}) {
    allowOnly("TestServer.start", options, OPTIONS)
    return new TestServer().open(options)
  }

  /** `prepare` is called with each worker before it begins. */
  async open({ binary, workflows = [], tasks = {}, logger = SILENT }, prepare = () => {}) {
    this.prepare = prepare
    this.logger = logger
    this.served = { workflows }
    this.mock = new Mocks()
    this.#process = await ServerProcess.start(binary, logger)
    this.url = this.#process.url
    this.client = new Client({ server: this.url })
    this.#tasks = this.#taskWorker(tasks)
    this.#tasks.start({ handleSignals: false })
    await this.startWorker()
    return this
  }

  #taskWorker(tasks) {
    const worker = new Worker({ server: this.url, logger: this.logger, grace: 0 })
    for (const [name, handler] of Object.entries(tasks)) worker.task(name, handler)
    worker[parts].tasks.handlerOf = name => this.mock.tasks.get(name) ?? tasks[name] ?? (() => {
      throw new NonRetryableError(`the test has no function and no mock for the task "${name}"`)
    })
    return worker
  }

  // ---- time ----

  async now() {
    return new Date((await this.client.server.time()).now)
  }

  async advance(duration) {
    const { is_settled: isSettled } = await this.client.server.advance({ by: duration })
    if (!isSettled) throw new Error(`advance ${duration}: something still executes; the clock stands before it`)
  }

  async settled() {
    await this.advance(0)
  }

  // ---- the worker ----

  async startWorker(served = {}) {
    allowOnly("startWorker", served, ["workflows"])
    if (this.#worker !== undefined) throw new Error("startWorker: there is a worker; kill it first")
    this.served = { ...this.served, ...served }
    if (this.served.workflows.length > 0) this.#worker = await this.#workflowWorker()
  }

  async #workflowWorker() {
    const worker = new Worker({ server: this.url, logger: this.logger, lease: LEASE })
    worker.workflow(...this.served.workflows)
    const { turns } = worker[parts]
    turns.mockOf = name => this.mock.steps.get(name)
    this.prepare(worker)
    worker.start({ handleSignals: false })
    await worker.until(() => turns.isKnown)
    return worker
  }

  async killWorker() {
    const worker = this.#worker
    if (worker === undefined) throw new Error("killWorker: there is no worker")
    this.#worker = undefined
    await this.#release(worker)
    worker[parts].turns.end()
    worker.stop()
    worker.transport.close()
  }

  /** As if another worker had taken over at once: the server is never without one, and the clock waits. */
  async replaceWorker() {
    const released = this.#release(this.#worker)
    this.prepare(this.#worker)
    await released
  }

  // What it held is for others at once: nobody waits for the end of a lease.
  async #release(worker) {
    const held = worker[parts].turns.crash()
    if (held.length > 0) await this.client.codeTurns.commit(held.map(turn => ({ turn, outcome: "released" })))
  }

  stats() {
    return this.#worker?.stats()
  }

  // ---- its end ----

  async close() {
    if (this.#worker !== undefined) await this.killWorker()
    this.#tasks[parts].tasks.end()
    this.#tasks.stop()
    this.#tasks.transport.close()
    this.client.close()
    await this.#process.close()
  }

  async [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    await this.close()
  }
}
