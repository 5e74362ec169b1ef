// TaskWorker: does the tasks of a server, with functions of this program.
//
//   [W1] At most `concurrency` functions run, and nothing is claimed that could not begin at once.
//   [W2] A result is sent until the server has accepted or refused it. Repeating one is harmless:
//        the token decides. Results that are ready together travel together.
//   [W3] While a function runs its lease is renewed, each time well before it ends.
//   [W4] Stopping claims nothing any more, lets functions finish, and hands back what did not finish
//        in time, so that another worker can begin it at once and no attempt is lost.
import { TaskCancelled, TaskError } from "./errors.js"
import { Backoff, isPermanent, sleep } from "./transport.js"

const BATCH_MAX = 1000 // items of one request
const BATCH_BYTES = 1 << 20
const OUTBOX_MAX = 2000 // results waiting to be sent; more are not made
const MESSAGE_MAX = 8000 // characters of an error's message
const DETAILS_MAX = 32_000
const PROGRESS_MAX = 32_000
const PROGRESS_EVERY_MS = 1000 // between heartbeats that only tell progress
const LAST_MOMENT_MS = 2000 // for functions that are told to stop after the grace is over

const inMilliseconds = ms => `${Math.round(ms)}ms`

/** What a task function may know about its task, as its second argument. */
class Context {
  #job

  constructor(job) {
    const { id, name, queue, attempt, run_id: runId, step, traceparent, tracestate } = job.task
    this.#job = job
    Object.assign(this, { id, name, queue, attempt, runId, step, traceparent, tracestate })
  }

  /** Aborted when the result is not wanted any more; its reason is a TaskCancelled. */
  get signal() {
    return this.#job.abort.signal
  }

  /** Tells the server how far the task is (any JSON); sent within about a second. */
  progress(value) {
    const text = JSON.stringify(value ?? null)
    if (text.length > PROGRESS_MAX) throw new RangeError(`a progress has at most ${PROGRESS_MAX} characters`)
    this.#job.noteProgress(text)
  }
}

class Job {
  constructor(worker, task) {
    this.worker = worker
    this.task = task
    this.abort = new AbortController()
    this.reason = undefined
    this.progress = undefined
    // The server may give less than was asked for: the task's own heartbeat time-out.
    const lease = Math.min(worker.lease, task.lease_ms ?? worker.lease)
    this.interval = Math.max(20, Math.min(worker.heartbeat, lease / 3))
    this.lastHeartbeat = performance.now()
    this.nextHeartbeat = this.lastHeartbeat + this.interval * (0.5 + Math.random() / 2)
    this.context = new Context(this)
  }

  giveUp(reason) {
    if (this.reason !== undefined) return
    this.reason = reason
    this.abort.abort(new TaskCancelled(reason))
  }

  noteProgress(text) {
    this.progress = text
    this.nextHeartbeat = Math.min(this.nextHeartbeat, this.lastHeartbeat + PROGRESS_EVERY_MS)
    this.worker.scheduleHeartbeat(this.nextHeartbeat)
  }
}

// Something to be told about a task: a result, an error, or that it is handed back.
function itemOf({ id, token }, member) {
  const kind = /^"(\w+)"/.exec(member)[1] // result, error or release
  return { id, token, kind, text: `{"id":${JSON.stringify(id)},"token":${token},${member}}` }
}

function describe(error) {
  const isError = error instanceof Error
  const described = {
    type: error instanceof TaskError ? error.type : isError ? error.name : "Error",
    message: String(isError ? error.message : error).slice(0, MESSAGE_MAX),
  }
  if (error?.retryable === false) described.retryable = false
  if (error?.details !== undefined) {
    try {
      if (JSON.stringify(error.details).length <= DETAILS_MAX) described.details = error.details
    } catch {
      described.details = String(error.details)
    }
  }
  return `"error":${JSON.stringify(described)}`
}

function encode(value) {
  try {
    const text = JSON.stringify(value)
    return `"result":${text === undefined ? "null" : text}`
  } catch (error) {
    throw new TaskError(`the result cannot be written as JSON: ${error.message}`,
      { type: "ResultError", retryable: false })
  }
}

export class TaskWorker {
  #functions = new Map()
  #jobs = new Map() // by token: a task may come back while it still runs
  #outbox = []
  #asked = 0 // tasks that claims under way may bring
  #isSending = false
  #hasEnded = false
  #claiming // promise: claims no more
  #heartbeatTimer
  #heartbeatAt = Infinity
  handlerOf = undefined // a test's: the function for any name
  #counts = { result: 0, error: 0, release: 0 } // what the server has accepted

  constructor(host, { queues, concurrency }) {
    Object.assign(this, { host, queues, concurrency, lease: host.lease, heartbeat: host.heartbeat })
  }

  get transport() {
    return this.host.transport
  }

  get logger() {
    return this.host.logger
  }

  get names() {
    return [...this.#functions.keys()].sort()
  }

  get isUsed() {
    return this.#functions.size > 0 || this.handlerOf !== undefined
  }

  get running() {
    return this.#jobs.size
  }

  add(name, handler) {
    if (typeof handler !== "function") throw new TypeError(`the task ${name} needs a function`)
    if (this.#functions.has(name)) throw new TypeError(`the task ${name} is registered already`)
    this.#functions.set(name, handler)
  }

  stats() {
    const { result, error, release } = this.#counts
    return { running: this.#jobs.size, completed: result, failed: error, released: release }
  }

  // ---- claiming ----

  #ask(max) {
    return {
      worker: this.host.name, queues: this.queues, max,
      names: this.handlerOf === undefined ? [...this.#functions.keys()] : undefined,
      lease: inMilliseconds(this.lease),
    }
  }

  async #claim(max, wait) {
    const { tasks } = await this.transport.call("POST", "/v1/tasks/claim", {
      wait, retryFor: 0, body: { ...this.#ask(max), wait: inMilliseconds(wait) },
    })
    return tasks
  }

  // For tasks beyond those that run and those that were asked for.
  #room() { // [W1]
    if (this.#outbox.length >= OUTBOX_MAX) return 0
    return Math.min(BATCH_MAX, this.concurrency - this.#jobs.size - this.#asked)
  }

  // What `send` was given by the server begins; until then it has its room.
  async #reserve(count, send) {
    this.#asked += count
    try {
      const answer = await send()
      this.#asked -= count
      for (const task of answer.tasks ?? []) this.#begin(task)
      return answer
    } catch (error) {
      this.#asked -= count
      throw error
    }
  }

  begin() {
    this.#claiming = this.#claimForever()
  }

  async #claimForever() {
    const backoff = new Backoff()
    for (;;) {
      // A report brings tasks, too.
      await this.host.until(() => this.host.isStopping || (!this.#isSending && this.#room() > 0))
      if (this.host.isStopping) return
      try {
        // A first claim that does not wait finds out at once whether there is a server.
        const room = this.#room()
        await this.#reserve(room, async () => {
          const tasks = await this.#claim(room, this.host.link.isUp ? this.host.poll : 0)
          this.host.link.up()
          return { tasks }
        })
        backoff.reset()
      } catch (error) {
        if (this.#hasEnded) return
        if (isPermanent(error)) return this.host.refused(error)
        this.host.link.down(error.message)
        await sleep(backoff.pause(), this.host.quit)
      }
    }
  }

  #begin(task) {
    if (this.host.isStopping) { // [W4]
      this.#send(itemOf(task, `"release":true`))
      return
    }
    const job = new Job(this, task)
    this.#jobs.set(task.token, job)
    this.scheduleHeartbeat(job.nextHeartbeat)
    this.#perform(job).then(member => {
      if (!this.#jobs.delete(task.token)) return // handed back meanwhile
      if (member !== undefined) this.#send(itemOf(task, member))
      this.host.changed()
    })
  }

  // Runs the function; resolves with what to tell the server, if anything.
  async #perform(job) {
    try {
      const { name, input } = job.task
      const handler = this.handlerOf?.(name) ?? this.#functions.get(name)
      return encode(await handler(input, job.context))
    } catch (error) {
      this.#sayFailure(job, error)
      if (job.reason === "lease lost") return undefined
      if (job.reason === "stopping") return `"release":true`
      return describe(error)
    }
  }

  #sayFailure(job, error) {
    const { id, name, attempt, runId } = job.context
    if (job.reason !== undefined && (error instanceof TaskCancelled || error?.name === "AbortError"))
      this.logger.info?.(`task ${id} (${name}, attempt ${attempt}) gave up: ${job.reason}`)
    else
      this.logger.error(`task ${id} (${name}, attempt ${attempt}, run ${runId ?? "none"}) failed:`, error)
  }

  // ---- results ----

  #send(item) {
    this.#outbox.push(item)
    if (this.#isSending) return
    this.#isSending = true
    setImmediate(() => this.#sendAll()) // those of one turn of the loop travel together
  }

  async #sendAll() {
    while (this.#outbox.length > 0 && !this.#hasEnded) {
      let count = 0
      for (let size = 0; count < Math.min(this.#outbox.length, BATCH_MAX); count++) {
        if (count > 0 && size >= BATCH_BYTES) break
        size += this.#outbox[count].text.length
      }
      const batch = this.#outbox.splice(0, count)
      this.host.changed()
      await this.#deliver(batch)
    }
    this.#isSending = false
    this.host.changed()
  }

  // The answer also brings what there is to do in the room that they have left.
  async #report(batch) {
    const room = this.host.isStopping ? 0 : Math.max(0, this.#room())
    const claim = room > 0 ? `,"claim":${JSON.stringify(this.#ask(room))}` : ""
    const text = `{"results":[${batch.map(item => item.text).join(",")}]${claim}}`
    return this.#reserve(room, () => this.transport.call("POST", "/v1/tasks/complete", { text, retryFor: 0 }))
  }

  async #deliver(batch) { // [W2]
    const backoff = new Backoff()
    while (!this.#hasEnded) {
      try {
        const answer = await this.#report(batch)
        this.host.link.up()
        answer.results.forEach(({ id, status, detail }, index) => {
          if (status === "accepted") this.#counts[batch[index].kind]++
          else this.logger.warn(`the result of task ${id} was refused: ${detail ?? status}`)
        })
        return
      } catch (error) {
        if (isPermanent(error)) return this.#deliverApart(batch, error)
        this.host.link.down(error.message)
        await sleep(backoff.pause())
      }
    }
  }

  // One bad result must not hold up the others; alone, it becomes an error of its task.
  async #deliverApart(batch, error) {
    if (batch.length > 1) {
      for (const item of batch) await this.#deliver([item])
      return
    }
    const [item] = batch
    if (item.kind !== "result") {
      this.logger.error(`the server refused what became of task ${item.id}: ${error.message}`)
      return
    }
    const refused = new TaskError(`the server refused the result: ${error.detail}`,
      { type: "ResultError", retryable: false })
    await this.#deliver([itemOf(item, describe(refused))])
  }

  // ---- heartbeats ----

  scheduleHeartbeat(at) {
    if (at >= this.#heartbeatAt || this.#hasEnded) return
    clearTimeout(this.#heartbeatTimer)
    this.#heartbeatAt = at
    this.#heartbeatTimer = setTimeout(() => this.#heartbeat(), Math.max(0, at - performance.now()))
  }

  async #heartbeat() { // [W3]
    const now = performance.now()
    // Those that would be due soon share the request.
    const due = [...this.#jobs.values()].filter(job => job.nextHeartbeat <= now + job.interval / 2).slice(0, BATCH_MAX)
    for (const job of due) {
      job.lastHeartbeat = now
      job.nextHeartbeat = now + job.interval
    }
    this.#heartbeatAt = Infinity
    for (const job of this.#jobs.values()) this.scheduleHeartbeat(job.nextHeartbeat)
    if (due.length > 0) await this.#tellAlive(due)
  }

  async #tellAlive(jobs) {
    const sent = jobs.map(job => job.progress)
    const items = jobs.map(({ task, progress }) =>
      `{"id":${JSON.stringify(task.id)},"token":${task.token}${progress === undefined ? "" : `,"progress":${progress}`}}`)
    try {
      const answer = await this.transport.call("POST", "/v1/tasks/heartbeat",
        { text: `{"lease":"${inMilliseconds(this.lease)}","tasks":[${items.join(",")}]}`, retryFor: 0 })
      this.host.link.up()
      answer.tasks.forEach(({ status }, index) => {
        const job = jobs[index]
        if (job.progress === sent[index]) job.progress = undefined
        if (this.#jobs.get(job.task.token) !== job) return
        if (status === "cancelled") job.giveUp("cancelled")
        else if (status === "fenced" || status === "not_found") job.giveUp("lease lost")
      })
    } catch (error) {
      if (isPermanent(error)) this.logger.error(`the server refuses heartbeats: ${error.message}`)
      else this.host.link.down(error.message)
      for (const job of jobs) {
        job.nextHeartbeat = performance.now() + job.interval / 4
        this.scheduleHeartbeat(job.nextHeartbeat)
      }
    }
  }

  // ---- stopping ----

  async windUp(deadline) { // [W4]
    let isClaiming = true
    this.#claiming.then(() => { isClaiming = false })
    while (isClaiming && performance.now() < deadline) {
      await this.#claim(0, 0).catch(() => {}) // ends the long poll; repeated, since it may overtake it
      await Promise.race([this.#claiming, sleep(100)])
    }
    await this.host.until(() => this.#jobs.size === 0, deadline)
    for (const job of this.#jobs.values()) job.giveUp("stopping")
    await this.host.until(() => this.#jobs.size === 0, performance.now() + LAST_MOMENT_MS)
    for (const { task } of this.#jobs.values()) {
      this.logger.warn(`task ${task.id} (${task.name}) is handed back unfinished`)
      this.#send(itemOf(task, `"release":true`))
    }
    this.#jobs.clear()
    await this.host.until(() => !this.#isSending, Math.max(deadline, performance.now() + LAST_MOMENT_MS))
    this.end()
  }

  get hasEnded() {
    return this.#hasEnded
  }

  /** At once: what runs is not told any more. */
  end() {
    this.#hasEnded = true
    clearTimeout(this.#heartbeatTimer)
  }
}
