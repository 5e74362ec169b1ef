// Slips: what a workflow's function does that a replay would do differently, found in development.
//
// While a worker with workflows runs, the clock, random numbers, timers and the network warn when a
// workflow uses them outside a step: once for each place in the code, with what to use instead. In
// production (NODE_ENV or ABIDE_ENV is "production") nothing is replaced, and nothing costs anything.
import { AsyncLocalStorage } from "node:async_hooks"
import { lineOf } from "./lines.js"

/** What is not replaced, for the library itself. */
export const real = { random: Math.random, now: Date.now }

const isProduction = [process.env.NODE_ENV, process.env.ABIDE_ENV].includes("production")
const storage = isProduction ? undefined : new AsyncLocalStorage()
const seen = new Set() // places that were warned of
let users = 0 // workers that run
let originals

/** Calls the beginning of a workflow's function. */
export const inside = (run, call) => storage === undefined ? call() : storage.run(run, call)

/** Calls what is not part of a workflow's function: a step, a logger. */
export const outside = (call, argument) => storage === undefined ? call(argument) : storage.exit(call, argument)

function warn(what, instead) {
  const run = storage.getStore()
  if (run === undefined) return
  const line = lineOf()
  if (line === undefined || seen.has(`${line} ${what}`)) return
  seen.add(`${line} ${what}`)
  run.worker.say("warn", `${line}: ${what} in the workflow ${run.info.workflow} is different in every replay; ${instead}`)
}

const watched = (original, what, instead) => function (...values) {
  warn(what, instead)
  return Reflect.apply(original, this, values)
}

function watchedDate(original) {
  return new Proxy(original, {
    construct(target, values, as) {
      if (values.length === 0) warn("new Date()", "use ctx.now()")
      return Reflect.construct(target, values, as)
    },
    apply(target, self, values) {
      warn("Date()", "use ctx.now()")
      return Reflect.apply(target, self, values)
    },
  })
}

/** Watches until unwatch() was called as often. */
export function watch() {
  if (storage === undefined || users++ > 0) return
  originals = {
    Date, now: Date.now, random: Math.random, fetch: globalThis.fetch, setTimeout, setInterval,
  }
  Date.now = watched(originals.now, "Date.now()", "use ctx.now()")
  globalThis.Date = watchedDate(originals.Date)
  Math.random = watched(originals.random, "Math.random()", "use ctx.random()")
  if (originals.fetch) globalThis.fetch = watched(originals.fetch, "fetch()", "call it in a step: ctx.step(name, () => fetch(…))")
  for (const name of ["setTimeout", "setInterval"])
    globalThis[name] = Object.assign(watched(originals[name], `${name}()`, "use ctx.sleep()"), originals[name])
}

export function unwatch() {
  if (storage === undefined || --users > 0) return
  const { Date: date, now, random, ...globals } = originals
  date.now = now
  Math.random = random
  Object.assign(globalThis, globals, { Date: date })
}

/** Whether places in the code are to be noted: for the first run of each version, in development. */
export function isFirst(definition) {
  const key = `${definition.name}\n${definition.version}`
  if (storage === undefined || seen.has(key)) return false
  seen.add(key)
  return true
}

/** The function waits for a promise that is not its context's. It is waited for, without a record. */
export function warnOfForeignAwait(run) {
  if (storage === undefined) return
  const { workflow, version } = run.info
  const key = `await ${workflow} ${version}`
  if (seen.has(key)) return
  seen.add(key)
  const last = [...run.replay.lines?.values() ?? []].pop()
  run.worker.say("warn", `the workflow ${workflow} awaits something that is not an operation of its context` +
    `${last === undefined ? "" : `, after ${last}`}; what takes time belongs into a step: ctx.step(name, () => …)`)
}
