// Operations: what a workflow can await. Each is settled once, by the journal or by a step's end.
//
//   [O1] An operation is a thenable that becomes a promise only where somebody awaits it. A failure
//        that nobody looks at is no unhandled rejection: it would end the worker and all its runs.
//   [O2] `isAwaited` is true as soon as somebody waits: so it is known when a function waits for
//        nothing of its context's.

export class Operation {
  #promise
  #resolve
  #reject

  constructor(number, kind, name) {
    this.number = number // from 1, in the order in which the function began them
    this.kind = kind // step, task, child, timer, signal, event
    this.name = name
    this.wait = undefined // what the server waits for: { on, name, until, filter }
    this.state = "open" // then "ok" or "failed"
    this.value = undefined
    this.isAwaited = false
  }

  get isOpen() {
    return this.state === "open"
  }

  settle(state, value) {
    this.state = state
    this.value = value
    if (state === "ok") this.#resolve?.(value)
    else this.#reject?.(value)
  }

  then(onResult, onFailure) {
    this.isAwaited = true
    this.#promise ??= this.#begin()
    return this.#promise.then(onResult, onFailure)
  }

  catch(onFailure) {
    return this.then(undefined, onFailure)
  }

  finally(onEnd) {
    this.isAwaited = true
    this.#promise ??= this.#begin()
    return this.#promise.finally(onEnd)
  }

  get [Symbol.toStringTag]() {
    return "Promise"
  }

  #begin() {
    if (this.state === "ok") return Promise.resolve(this.value)
    if (this.state === "failed") return Promise.reject(this.value)
    return new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
  }
}

/** The step of an operation: what is to be called, and how far it is. */
export class StepOperation extends Operation {
  constructor(number, name, body, options) {
    super(number, "step", name)
    this.body = body
    this.options = options
    this.attempts = 0 // that have failed
  }

  settle(state, value) {
    this.body = this.options = undefined
    super.settle(state, value)
  }
}

// A combination whose failure nobody looks at is none either. [O1]
function quiet(promise) {
  promise.catch(() => {})
  return promise
}

export const combinations = {
  all: items => quiet(Promise.all(items)),
  any: items => quiet(Promise.any(items)),
  race: items => quiet(Promise.race(items)),
  allSettled: items => Promise.allSettled(items),
}
