// Steps: one attempt of one, and what follows from how it ended.
//
//   [S1] An attempt ends once: by its function, by its timeout, or because nobody wants it any more.
//        What the function does after that is ignored.
//   [S2] The result is what JSON makes of it, the first time as in every replay.
import { describe } from "./failures.js"
import { milliseconds } from "./fields.js"
import { outside } from "./slips.js"

const ATTEMPTS = 1
const DELAY_MS = 1000
const FACTOR = 2
const DELAY_MAX_MS = 3600_000

/** Milliseconds before the attempt that follows so many; undefined: there is none. */
export function backoff(retry = {}, failed, error) {
  const { attempts = ATTEMPTS, delay, factor = FACTOR, maxDelay, jitter = 0, nonRetryable = [] } = retry
  if (failed >= attempts || error?.retryable === false) return undefined
  if (nonRetryable.includes(describe(error).type)) return undefined
  const first = delay === undefined ? DELAY_MS : milliseconds(delay)
  const most = maxDelay === undefined ? DELAY_MAX_MS : milliseconds(maxDelay)
  return Math.min(most, first * factor ** (failed - 1)) * (1 + jitter * (2 * Math.random() - 1))
}

class StepContext {
  #abort

  constructor(run, step) {
    const { runId, workflow, traceparent } = run.info
    Object.assign(this, { runId, workflow, traceparent, name: step.name, attempt: step.attempts + 1 })
  }

  get signal() {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }

  static abort(context, reason) {
    context.signal // there is one from now on
    context.#abort.abort(reason)
  }
}

function timeoutError(name, timeout) {
  const error = new Error(`the step "${name}" took longer than ${timeout}`)
  error.name = "TimeoutError"
  return error
}

/** An attempt that runs. `ended(attempt)` is called once, with `error` or with the result as `text`. */
export class Attempt {
  #timer
  #isOver = false

  constructor(run, step, ended) {
    this.step = step
    this.error = undefined
    this.text = undefined
    this.ended = ended
    this.context = new StepContext(run, step)
    this.number = this.context.attempt
  }

  begin(replace) {
    const { step, context } = this
    const { timeout } = step.options
    if (timeout !== undefined)
      this.#timer = setTimeout(() => this.giveUp(timeoutError(step.name, timeout)), milliseconds(timeout))
    let result
    try {
      result = outside(replace === undefined ? step.body : () => replace(context, step.body), context)
    } catch (error) {
      return this.#end(error)
    }
    if (typeof result?.then === "function") result.then(value => this.#end(undefined, value), error => this.#end(error))
    else this.#end(undefined, result)
  }

  /** Ends it as failed, and tells the function. */
  giveUp(error) {
    this.#end(error)
    StepContext.abort(this.context, error)
  }

  /** Tells the function that nobody waits for what it does. */
  abandon(reason) {
    this.#isOver = true
    clearTimeout(this.#timer)
    StepContext.abort(this.context, reason)
  }

  #end(error, value) {
    if (this.#isOver) return // [S1]
    this.#isOver = true
    clearTimeout(this.#timer)
    this.hasFailed = error !== undefined || arguments.length === 1
    if (this.hasFailed) this.error = error
    else this.#encode(value)
    this.ended(this)
  }

  #encode(value) {
    try {
      this.text = JSON.stringify(value) ?? "null"
    } catch (error) {
      this.hasFailed = true
      this.error = new TypeError(`the result of step "${this.step.name}" cannot be written as JSON: ${error.message}`)
      this.error.retryable = false
    }
  }

  /** What the workflow gets. [S2] */
  get value() {
    return JSON.parse(this.text)
  }
}
