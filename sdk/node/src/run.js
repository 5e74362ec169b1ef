// Run: one run of a workflow in this process, from a claim to a commit and on.
//
//      ┌──────────── the function goes on ◀──────────────┐
//      ▼                                                 │
//   look: settle the next thing of the journal, or of a step that has ended ──▶ (until nothing is left)
//      │
//      └──▶ ended: commit its outcome;  entries to write: commit them, "running";
//           steps to begin: begin them;  nothing of all that: commit "suspended"
//
//   [N1] One commit at a time; what comes meanwhile is for the next one.
//   [N2] No step begins before all entries before it are durable. A step's result, what the function
//        does with it, and how the turn ends may share a commit.
//   [N3] While a step runs, the turn is held, and the server is asked for what the run waits for besides:
//        with each commit, when a timer is due, when it says that there is news, and now and then. Until
//        it has answered nothing else is settled: what it has stands before that in the journal.
//   [N4] A function that goes on while its run is not held waits for something that its context does
//        not know. Nothing of that is kept: the run is dropped, and replayed when it is its turn.
import { NondeterminismError, TaskCancelled } from "./errors.js"
import { describe, failureOf } from "./failures.js"
import { whenStill } from "./pulse.js"
import { Replay } from "./replay.js"
import { inside, isFirst, real, warnOfForeignAwait } from "./slips.js"
import { Attempt, backoff } from "./steps.js"

const ALARM_MAX_MS = 1 << 30 // longer timers fire at once
const textOf = JSON.stringify

export class Run {
  isReady = false // pulse.js
  isHeld = true
  isCommitting = false
  isBroken = false // [N4]
  nextTurn = undefined // it came before the answer to the last commit
  #isCancelWanted = false
  #isOutside = false // the function waits for something that is not its context's
  #isAsking = false // [N3]
  #isNews = false // there may be something to ask for
  #alarm // timer
  #attempts = new Set()
  #arrivals = [] // attempts that have ended

  constructor(worker, definition, turn) {
    this.worker = worker
    this.definition = definition
    this.id = turn.run_id
    this.info = infoOf(turn)
    this.#hold(turn)
  }

  /** Executes it from its beginning. */
  begin(turn, lines) {
    this.replay = new Replay(this.definition, turn.journal, this)
    this.replay.lines = lines ?? (isFirst(this.definition) ? new Map() : undefined)
    inside(this, () => this.replay.begin(turn.input))
    whenStill(this)
  }

  /** It was kept in memory, and this is its next turn. */
  goOn(turn) {
    this.#hold(turn)
    this.replay.feed(turn.journal)
    this.look()
  }

  #hold(turn) {
    this.token = turn.turn
    this.number = 0 // of the last commit under that token
    this.isHeld = true
    this.renewedAt = performance.now()
    this.#isCancelWanted = turn.cancelled
    this.worker.counts.replayed += turn.journal.length
  }

  // ---- what its function uses ----

  now() {
    return this.worker.clock.now()
  }

  random() {
    return real.random()
  }

  say(level, message) {
    this.worker.say(level, `run ${this.id} (${this.info.workflow}): ${message}`)
  }

  touch() {
    if (!this.isHeld) this.isBroken = true
    else if (this.#isOutside) {
      this.#isOutside = false
      whenStill(this)
    }
  }

  /** Whether something would be lost if it ended now. */
  get isBusy() {
    return this.isCommitting || this.isReady || this.#attempts.size > 0
  }

  // ---- when nothing in the function can go on ----

  look() {
    const { replay } = this
    if (!this.isHeld) return
    if (replay.mismatch !== undefined) return this.#mismatched()
    if (replay.ending !== undefined) return this.#end()
    if (replay.hasMore) return this.#walk()
    if (this.#isCancelWanted && !replay.isTold) this.#tellCancelled()
    else if (this.#isAsking) return
    else if (this.#arrivals.length > 0) this.#arrive(this.#arrivals.shift())
    else return this.#proceed()
    whenStill(this)
  }

  #walk() {
    const { replay } = this
    if (!replay.advance()) return this.#waitOutside()
    if (replay.isTold) this.#abandonSteps("cancelled")
    whenStill(this)
  }

  #proceed() {
    const { replay } = this
    if (this.isCommitting) return // [N1]
    const hasSteps = replay.hasSteps
    const { isAstray } = replay
    if (isAstray) warnOfForeignAwait(this)
    if (replay.entries.length > 0 && (hasSteps || this.#attempts.size > 0 || isAstray))
      return this.#goOn() // [N2]
    if (hasSteps && this.worker.isStopping) return this.worker.changed()
    if (hasSteps) {
      this.#beginSteps()
      return whenStill(this) // for what these wait beside
    }
    if (this.#attempts.size > 0) return this.#isNews ? this.#goOn() : this.#setAlarm()
    if (isAstray) return this.#waitOutside()
    this.#suspend()
  }

  #waitOutside() {
    this.#isOutside = true
    warnOfForeignAwait(this)
  }

  // ---- steps ----

  #beginSteps() {
    const { mockOf } = this.worker
    for (const step of this.replay.takeSteps()) {
      const attempt = new Attempt(this, step, () => {
        this.#attempts.delete(attempt)
        this.#arrivals.push(attempt)
        whenStill(this)
      })
      this.#attempts.add(attempt)
      attempt.begin(mockOf?.(step.name))
    }
  }

  #arrive(attempt) {
    const { step, number, hasFailed, error } = attempt
    if (!step.isOpen) return
    this.worker.counts.steps++
    const about = `"op":${step.number},"name":${textOf(step.name)},"attempt":${number}`
    if (!hasFailed) {
      this.replay.entries.push(`{"kind":"step",${about},"result":${attempt.text}}`)
      return this.replay.settle(step, "ok", attempt.value)
    }
    this.worker.counts.stepFailures++
    this.#sayFailure(attempt)
    const pause = backoff(step.options.retry, number, error)
    const described = describe(error)
    if (pause !== undefined) return this.#tryAgain(attempt, about, described, pause)
    this.replay.entries.push(`{"kind":"step",${about},"error":${textOf(described)}}`)
    this.replay.settle(step, "failed", failureOf("step", described))
  }

  #tryAgain({ step, number }, about, described, pause) {
    described.next_at = new Date(this.now() + pause).toISOString()
    this.replay.entries.push(`{"kind":"attempt",${about},"error":${textOf(described)}}`)
    step.attempts = number
    step.wait = { on: "retry", until: described.next_at }
    if (this.#attempts.size === 0) return
    setTimeout(() => { // [N3] the server cannot say it
      if (!this.isHeld || !step.isOpen || step.wait?.until !== described.next_at) return
      this.replay.retry(step)
      whenStill(this)
    }, pause)
  }

  #sayFailure({ step, number, error }) {
    const { attempts = 1 } = step.options.retry ?? {}
    this.worker.say("warn", `run ${this.id} (${this.info.workflow}): step "${step.name}" failed, ` +
      `attempt ${number} of ${attempts}: ${error instanceof Error ? error.message : String(error)}`)
  }

  #abandonSteps(why) {
    for (const attempt of this.#attempts) attempt.abandon(new TaskCancelled(why))
    this.#attempts.clear()
    clearTimeout(this.#alarm)
    this.#arrivals.length = 0
  }

  // ---- cancelling ----

  /** The server says that it is to end. */
  cancel() {
    this.#isCancelWanted = true
    whenStill(this)
  }

  #tellCancelled() {
    this.#abandonSteps("cancelled")
    this.replay.entries.push('{"kind":"cancel","name":"cancel"}')
    this.replay.cancel()
  }

  // ---- commits ----

  #commit(outcome, more = "") {
    const entries = this.replay.takeEntries()
    const list = entries.length > 0 ? `,"entries":[${entries.join(",")}]` : ""
    this.isCommitting = true
    this.worker.pump.commit(`{"turn":${this.token},"number":${++this.number},"outcome":"${outcome}"${list}${more}}`,
      verdict => this.#told(outcome, verdict))
  }

  #suspend() {
    this.#commit("suspended", `,"keep":${!this.worker.isStopping},"deliver":"each","waits":${textOf(this.#waits())}`)
  }

  #waits() {
    const waits = []
    for (const { number, wait } of this.replay.open.values()) if (wait !== undefined) waits.push({ op: number, ...wait })
    return waits
  }

  // ---- what comes while steps run [N3] ----

  /** There may be something that it waits for. */
  news() {
    this.#isNews = true
    if (this.#attempts.size > 0) whenStill(this)
  }

  // The backoff of a step is not asked for: #tryAgain() sees to it.
  #waitsBeside() {
    return this.#waits().filter(({ on }) => on !== "retry")
  }

  // The entries are durable, and what is there of what it waits for is in the answer.
  #goOn() {
    const waits = this.#waitsBeside()
    this.#isNews = false
    this.#isAsking = waits.length > 0
    if (this.replay.entries.length === 0 && !this.#isAsking) return
    this.#commit("running", this.#isAsking ? `,"deliver":"each","waits":${textOf(waits)}` : "")
  }

  #setAlarm() {
    clearTimeout(this.#alarm)
    const due = Math.min(...this.#waitsBeside().map(({ until }) => until === undefined ? Infinity : Date.parse(until)))
    if (due === Infinity) return
    this.#alarm = setTimeout(() => this.news(), Math.min(ALARM_MAX_MS, Math.max(1, due - this.now() + 1)))
  }

  #end() {
    if (this.isCommitting) return
    this.replay.checkEnd()
    if (this.replay.mismatch !== undefined) return this.#mismatched()
    this.#abandonSteps("stopping")
    const { outcome, text } = this.replay.ending
    this.#commit(outcome, `,${text}`)
  }

  #told(outcome, verdict) {
    this.isCommitting = this.#isAsking = false
    if (this.isHeld) this.#follow(outcome, verdict)
    const { nextTurn } = this
    if (nextTurn === undefined) return
    this.nextTurn = undefined
    this.worker.take(nextTurn)
  }

  #follow(outcome, verdict) {
    if (verdict.status === "fenced") return this.drop("fenced")
    if (verdict.status === "refused") return this.#refused(outcome, verdict)
    this.seq = verdict.seq
    if (outcome === "running") {
      if (!verdict.is_held) return this.drop("fenced")
      if (verdict.cancelled) this.#isCancelWanted = true
      if (verdict.journal?.length > 0) this.replay.append(verdict.journal)
      if (!this.isReady) this.look()
    } else this.#leave(outcome)
  }

  // The turn is over.
  #leave(outcome) {
    const { worker } = this
    worker.counts[outcome] = (worker.counts[outcome] ?? 0) + 1
    this.isHeld = false
    if (outcome === "suspended" && !this.isBroken && this.replay.entries.length === 0) worker.park(this)
    else worker.forget(this)
  }

  /** It is somebody else's now, or nobody's. */
  drop(why) {
    if (why === "fenced") this.worker.counts.fenced++
    this.#abandonSteps("lease lost")
    this.isHeld = false
    this.worker.forget(this)
    this.worker.say("debug", `run ${this.id} (${this.info.workflow}) is not executed here any more: ${why}`)
  }

  /** The worker has ended. */
  end() {
    this.isHeld = false
    this.#abandonSteps("stopping")
  }

  // Nothing was taken. The run cannot go on as it is, and says why.
  #refused(outcome, { code, detail }) {
    this.worker.say("error", `run ${this.id} (${this.info.workflow}): the server refused a commit: ${detail} (${code})`)
    if (this.wasRefused) return this.drop("refused")
    this.wasRefused = true
    this.#abandonSteps("stopping")
    this.replay.takeEntries()
    this.replay.ending = { outcome: "failed", text: `"error":${textOf({ type: code, message: detail })}` }
    this.#end()
  }

  // ---- a journal that does not fit ----

  // The lines are found by executing it once more: to note them always would cost every run.
  async #mismatched() {
    const { mismatch, lines } = this.replay
    if (lines !== undefined || mismatch.lines.length > 0) return this.#pause(mismatch)
    try {
      const turn = await this.worker.journalOf(this.token)
      if (this.isHeld) this.begin(turn, new Map())
    } catch {
      this.#pause(mismatch)
    }
  }

  #pause({ message, position, expected, found, lines }) {
    this.#abandonSteps("stopping")
    this.replay.takeEntries()
    this.worker.say("error", `run ${this.id} (${this.info.workflow}) is paused: ${message}`)
    this.#commit("paused", `,"error":${textOf({ type: NondeterminismError.name, message, position, expected, found, lines })}`)
  }
}

function infoOf(turn) {
  return Object.freeze({
    runId: turn.run_id, workflow: turn.workflow, version: turn.version, attempt: turn.attempt,
    tags: turn.tags, parentId: turn.parent_id,
    startedAt: turn.started_at === null ? null : new Date(turn.started_at), traceparent: turn.traceparent,
  })
}
