// Worker: does the tasks of a server and executes its workflows, with functions of this program.
//
// What it does with tasks is in task_worker.js, with workflows in turn_worker.js. Here is what both
// have in common: how the server is reached, when to stop, and what is said (voice.js): connected,
// lost, back, refused, stopped, and every exception of a task function with its stack.
import os from "node:os"
import { isDefinition } from "./definition.js"
import { AbideError } from "./errors.js"
import { milliseconds } from "./fields.js"
import { TaskWorker } from "./task_worker.js"
import { Transport } from "./transport.js"
import { TurnWorker } from "./turn_worker.js"
import { Link, defaultLogger, wayOut } from "./voice.js"

/** What a worker is made of, for abide/testing. */
export const parts = Symbol("parts")

const HEARTBEAT_MAX_MS = 5000
const SIGNALS = ["SIGTERM", "SIGINT"]

function count(name, value, least = 1) {
  if (!(value >= least)) throw new RangeError(`${name}: at least ${least}`)
  return value
}

export class Worker {
  #tasks
  #turns
  #failure
  #waiters = [] // called when anything changes
  #quit = new AbortController() // ends pauses when the worker is stopped
  #stopped // promise of run()

  constructor(options = {}) {
    const {
      queues = ["default"], concurrency = 10, runConcurrency = 1000, maxRunsInMemory = 10_000, idleTimeout = "5m",
      lease = 30, heartbeat, grace = 30, poll = 25, name, logger = defaultLogger,
      ...connection
    } = options
    if (!Array.isArray(queues)) throw new TypeError("queues: must be a list of texts")
    this.transport = new Transport(connection)
    this.lease = milliseconds(lease, "lease")
    this.heartbeat = heartbeat === undefined ? Math.min(HEARTBEAT_MAX_MS, this.lease / 3) : milliseconds(heartbeat, "heartbeat")
    this.grace = milliseconds(grace, "grace")
    this.poll = milliseconds(poll, "poll")
    this.name = name ?? `${os.hostname()}-${process.pid}-${Math.random().toString(16).slice(2, 6)}`
    this.logger = logger
    this.isStopping = false
    this.#tasks = new TaskWorker(this, { queues, concurrency: count("concurrency", concurrency) })
    this.#turns = new TurnWorker(this, {
      runConcurrency: count("runConcurrency", runConcurrency),
      maxRunsInMemory: count("maxRunsInMemory", maxRunsInMemory, 0),
      idleTimeout: milliseconds(idleTimeout, "idleTimeout"),
    })
  }

  // ---- what a program calls ----

  task(name, handler) {
    this.#tasks.add(name, handler)
    return this
  }

  workflow(...definitions) {
    for (const definition of definitions) {
      if (!isDefinition(definition)) throw new TypeError("workflow: needs what workflow() answers")
      this.#turns.add(definition)
    }
    return this
  }

  stats() {
    return { tasks: this.#tasks.stats(), workflows: this.#turns.stats() }
  }

  /** Works until stop() is called, or SIGTERM or SIGINT comes; a second signal kills. */
  async run({ handleSignals = true } = {}) {
    const used = [this.#tasks, this.#turns].filter(part => part.isUsed)
    if (used.length === 0) throw new AbideError("no task function and no workflow is registered")
    const onSignal = () => {
      removeHandlers()
      this.stop()
    }
    const removeHandlers = () => SIGNALS.forEach(name => process.removeListener(name, onSignal))
    if (handleSignals) SIGNALS.forEach(name => process.on(name, onSignal))
    this.link = new Link(this.logger, this.transport.url.origin, `worker ${this.name} ${this.#purpose()}`)
    for (const part of used) part.begin()
    await this.until(() => this.isStopping)
    removeHandlers()
    if (used.some(part => part.hasEnded)) return // a test has killed it
    await this.#windUp(used)
    if (this.#failure) throw this.#failure
  }

  /** Begins to work; resolves when the worker has stopped. */
  start(options) {
    this.#stopped ??= this.run(options)
    return this.#stopped
  }

  /** Makes run() end in order; resolves at once. */
  stop() {
    this.isStopping = true
    this.#quit.abort()
    this.changed()
  }

  get [parts]() {
    return { tasks: this.#tasks, turns: this.#turns }
  }

  // ---- for its parts ----

  /** Aborted when the worker is to stop. */
  get quit() {
    return this.#quit.signal
  }

  /** Something has happened that until() may wait for. */
  changed() {
    const waiters = this.#waiters
    if (waiters.length === 0) return
    this.#waiters = []
    for (const wake of waiters) wake()
  }

  async until(isTrue, deadline = Infinity) {
    while (!isTrue() && performance.now() < deadline) {
      await new Promise(resolve => {
        const timer = deadline === Infinity ? undefined : setTimeout(resolve, deadline - performance.now())
        this.#waiters.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  /** The server does not want this worker. */
  refused(error) {
    const { origin } = this.transport.url
    this.logger.error(`${origin} refuses worker ${this.name}: ${error.message}: ` +
      wayOut(error.status, origin, Boolean(this.transport.token)))
    this.#failure = error
    this.stop()
  }

  // ---- what it says, and how it ends ----

  #purpose() {
    const said = []
    const tasks = this.#tasks.names
    const workflows = this.#turns.names
    if (tasks.length > 0) said.push(`asks for ${tasks.join(", ")} of queue ${this.#tasks.queues.join(", ")}`)
    if (workflows.length > 0) said.push(`executes ${workflows.join(", ")}`)
    return said.join(" and ")
  }

  async #windUp(used) {
    const { executing } = this.#turns.stats()
    const runs = used.includes(this.#turns) ? ` and the ${executing} runs that execute` : ""
    if (!this.#failure)
      this.logger.info?.(`worker ${this.name} stops: it claims no more, and waits up to ${this.grace / 1000} s ` +
        `for the ${this.#tasks.running} tasks that run${runs}`)
    const deadline = performance.now() + this.grace
    await Promise.all(used.map(part => part.windUp(deadline)))
    this.transport.close()
    const { tasks, workflows } = this.stats()
    const steps = used.includes(this.#turns) ? `; ${workflows.steps} steps of workflows` : ""
    this.logger.info?.(`worker ${this.name} has stopped: ${tasks.completed} tasks done, ${tasks.failed} failed, ` +
      `${tasks.released} handed back${steps}`)
  }
}
