// TurnWorker: executes runs of workflows. It takes turns of them, and keeps in memory what waits.
//
//   [T1] At most `runConcurrency` turns are held. Runs that wait are held by nobody: up to
//        `maxRunsInMemory` of them are kept, the ones used last, for at most `idleTimeout`; so their
//        next turn replays nothing. Those that are let go are replayed.
//   [T2] Turns that are held for long are renewed well before their lease ends. So it is learned
//        that a run is to end, or that somebody else has it.
//   [T3] Stopping takes no more turns and begins no more steps. What runs may end, and is committed;
//        then, or when the time is over, the connection of the last claim is closed and what is held
//        is handed back. Not before: the server takes the worker for gone, and the claim would take
//        again what is handed back.
//   [T4] The time is the server's: timers end when it says so.
import { ApiError } from "./errors.js"
import { Commits } from "./commits.js"
import { Run } from "./run.js"
import { outside, real, unwatch, watch } from "./slips.js"
import { Backoff, sleep } from "./transport.js"

const CLAIM_MAX = 1000
const BATCH_MAX = 1000
const CLOCK_SLACK_MS = 20
const PERMANENT = new Set([400, 401, 403, 405, 422])

const keyOf = (name, version) => `${name}\n${version}`
const inMilliseconds = ms => `${Math.round(ms)}ms`

// [T4] How far the server's clock is from this one. A clock that is virtual stands still between answers.
class Clock {
  #ahead = 0
  #said = undefined // by the last answer; only if it is virtual
  isVirtual = false

  learn(text) {
    const said = Date.parse(text)
    if (this.isVirtual) this.#said = said
    const ahead = said - real.now()
    if (Math.abs(ahead - this.#ahead) > CLOCK_SLACK_MS) this.#ahead = ahead
  }

  now() {
    return this.#said ?? real.now() + this.#ahead
  }
}

export class TurnWorker {
  #definitions = new Map() // name and version -> definition
  #runs = new Map() // id -> Run: held, or kept
  #parked = new Map() // id -> Run: those that are kept, the one used last at the end
  #held = 0
  #max = CLAIM_MAX // of one claim
  #quit = new AbortController() // of the claim
  #timers = []

  constructor(host, { runConcurrency, maxRunsInMemory, idleTimeout }) {
    Object.assign(this, { host, runConcurrency, maxRunsInMemory, idleTimeout })
    this.clock = new Clock()
    this.isStopping = false
    this.isKnown = false // the server has it in its books: runs find it
    this.mockOf = undefined // a test's replacement of a step, by its name
    this.counts = {
      claimed: 0, completed: 0, failed: 0, cancelled: 0, suspended: 0, continue_as: 0, paused: 0, fenced: 0, steps: 0,
      stepFailures: 0, replayed: 0, renewals: 0, requests: 0, commits: 0,
    }
    this.pump = new Commits(this)
  }

  add(definition) {
    const key = keyOf(definition.name, definition.version)
    if (this.#definitions.has(key))
      throw new TypeError(`the workflow ${definition.name} is registered already in version ${definition.version}`)
    this.#definitions.set(key, definition)
  }

  get names() {
    return [...new Set([...this.#definitions.values()].map(({ name }) => name))].sort()
  }

  get isUsed() {
    return this.#definitions.size > 0
  }

  stats() {
    return { isKnown: this.isKnown, executing: this.#held, inMemory: this.#parked.size, ...this.counts }
  }

  // ---- for runs and commits ----

  get transport() {
    return this.host.transport
  }

  get link() {
    return this.host.link
  }

  changed() {
    this.host.changed()
  }

  say(level, message) {
    outside(() => this.host.logger[level]?.(message))
  }

  /** The run waits. [T1] */
  park(run) {
    this.#held--
    run.parkedAt = performance.now()
    this.#parked.set(run.id, run)
    if (this.#parked.size > this.maxRunsInMemory) this.#letGo(this.#parked.values().next().value)
    this.changed()
  }

  /** The run is not executed here any more. */
  forget(run) {
    this.#held--
    if (this.#runs.get(run.id) === run) this.#runs.delete(run.id)
    this.changed()
  }

  #letGo(run) {
    this.#parked.delete(run.id)
    this.#runs.delete(run.id)
  }

  #letIdleGo() {
    const before = performance.now() - this.idleTimeout
    for (const run of this.#parked.values()) {
      if (run.parkedAt > before) return
      this.#letGo(run)
    }
  }

  async journalOf(turn) {
    return this.transport.call("POST", "/v1/turns/journal", { body: { turn }, isRepeatable: true })
  }

  // ---- turns ----

  async begin() {
    watch()
    const every = (ms, work) => this.#timers.push(setInterval(work, ms).unref())
    every(Math.max(10, this.host.heartbeat / 2), () => this.#renew())
    every(Math.max(1000, this.idleTimeout / 4), () => this.#letIdleGo())
    const backoff = new Backoff()
    for (let isRegistered = false; !this.isStopping;) {
      try {
        if (!isRegistered) await this.#register()
        isRegistered = true
        await this.host.until(() => this.isStopping || this.#held < this.runConcurrency)
        if (this.isStopping) return
        await this.#claim()
        backoff.reset()
      } catch (error) {
        if (this.#quit.signal.aborted) return
        if (error instanceof ApiError && PERMANENT.has(error.status)) return this.host.refused(error)
        if (error.code === "WORKFLOW_NOT_FOUND") isRegistered = false // another server is there now
        else if (error.code === "TURN_TOO_LARGE" && this.#max > 1) this.#max = 1
        else this.link.down(error.message)
        await sleep(backoff.pause(), this.host.quit)
      }
    }
  }

  async #register() {
    const workflows = [...this.#definitions.values()]
      .map(({ name, version, current, description, input }) => ({ name, version, current, description, input }))
    await this.transport.call("POST", "/v1/turns/register", { body: { workflows }, retryFor: 0 })
    this.link.up()
    this.clock.isVirtual = await this.#isTimeVirtual()
    const list = workflows.map(({ name, version }) => ({ name, version }))
    this.served = `"worker":${JSON.stringify(this.host.name)},"workflows":${JSON.stringify(list)},` +
      `"lease":"${inMilliseconds(this.host.lease)}"`
  }

  async #isTimeVirtual() {
    try {
      return (await this.transport.call("GET", "/v1/time", { retryFor: 0 })).is_virtual
    } catch (error) {
      if (error instanceof ApiError) return false // this worker may not ask; then it is no test
      throw error
    }
  }

  async #claim() {
    const { poll } = this.host
    const max = Math.min(this.#max, this.runConcurrency - this.#held)
    const wait = this.isKnown && this.link.isUp ? poll : 0
    const { turns, news = [] } = await this.transport.call("POST", "/v1/turns/claim", {
      text: `{${this.served},"max":${max},"wait":"${inMilliseconds(wait)}"}`, wait, retryFor: 0, signal: this.#quit.signal,
    })
    this.link.up()
    this.#max = Math.min(CLAIM_MAX, this.#max * 2)
    if (turns.length > 0) this.clock.learn(turns[0].now)
    if (!this.isKnown) {
      this.isKnown = true
      this.changed()
    }
    for (const turn of turns) this.take(turn)
    if (news.length === 0) return
    const tokens = new Set(news)
    for (const run of this.#runsHeld()) if (tokens.has(run.token)) run.news()
  }

  take(turn) {
    const known = this.#runs.get(turn.run_id)
    if (known?.isCommitting) { // the answer to its last commit is on its way
      known.nextTurn = turn
      return
    }
    this.counts.claimed++
    this.#held++
    if (known?.isHeld) known.drop("fenced")
    this.#parked.delete(turn.run_id)
    if (known !== undefined && !known.isHeld && !known.isBroken && turn.after > 0 && known.seq === turn.after)
      return known.goOn(turn)
    const run = new Run(this, this.#definitions.get(keyOf(turn.workflow, turn.version)), turn)
    this.#runs.set(run.id, run)
    if (turn.after === 0) run.begin(turn)
    else this.#replayWhole(run)
  }

  // The server believes that the run is in memory here, and it is not.
  async #replayWhole(run) {
    try {
      const turn = await this.journalOf(run.token)
      if (run.isHeld) run.begin(turn)
    } catch (error) {
      this.say("debug", `the journal of run ${run.id} cannot be had: ${error.message}`)
      if (run.isHeld) run.drop("lost")
    }
  }

  // ---- leases ----

  async #renew() { // [T2]
    const before = performance.now() - this.host.heartbeat
    const due = []
    for (const run of this.#runs.values()) {
      if (run.isHeld && !run.isCommitting && run.renewedAt <= before) due.push(run)
      if (due.length === BATCH_MAX) break
    }
    if (due.length === 0) return
    const now = performance.now()
    for (const run of due) run.renewedAt = now
    const tokens = due.map(run => run.token)
    try {
      const { turns } = await this.transport.call("POST", "/v1/turns/heartbeat", { retryFor: 0,
        text: `{"lease":"${inMilliseconds(this.host.lease)}","turns":[${tokens.map(turn => `{"turn":${turn}}`).join(",")}]}` })
      this.counts.renewals += turns.length
      turns.forEach(({ status }, index) => {
        const run = due[index]
        if (run.token !== tokens[index] || !run.isHeld || run.isCommitting) return
        if (status === "cancelled") run.cancel()
        else if (status === "fenced") run.drop("fenced")
        else run.news() // of events nobody tells
      })
    } catch (error) {
      for (const run of due) run.renewedAt = before
      if (!(error instanceof ApiError)) this.link.down(error.message)
    }
  }

  // ---- stopping ----

  /** It has lost its memory, as another process in its place would; answers the turns that it held. */
  crash() {
    const turns = this.#runsHeld().map(run => run.token)
    for (const run of this.#runs.values()) run.end()
    this.#runs.clear()
    this.#parked.clear()
    this.#held = 0
    this.pump = new Commits(this)
    return turns
  }

  #runsHeld() {
    return [...this.#runs.values()].filter(run => run.isHeld)
  }

  async windUp(deadline) { // [T3]
    this.isStopping = true
    await this.host.until(() => this.#runsHeld().every(run => !run.isBusy) && this.pump.isIdle, deadline)
    const held = this.crash()
    this.end()
    // The claim has ended: it could take them again.
    if (held.length > 0) await this.#handBack(held)
  }

  async #handBack(held) {
    const text = held.map(turn => `{"turn":${turn},"outcome":"released"}`).join(",")
    try {
      await this.transport.call("POST", "/v1/turns/commit", { text: `{"turns":[${text}]}`, retryFor: 0 })
    } catch (error) {
      this.say("warn", `${held.length} runs could not be handed back: ${error.message}; others have them when the lease is over`)
    }
  }

  get hasEnded() {
    return this.pump.isClosed
  }

  /** At once: what is held is lost. */
  end() {
    this.isStopping = true
    this.pump.isClosed = true
    for (const run of this.#runs.values()) run.end()
    this.#quit.abort()
    this.#timers.forEach(clearInterval)
    unwatch()
  }
}
