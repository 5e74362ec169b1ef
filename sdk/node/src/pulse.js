// Pulse: looks at runs when nothing in their functions can go on any more.
//
// A function goes on in microtasks. When there are none left, every run that was settled has gone as
// far as it could. All runs share one such moment, so a thousand of them cost what one does.
import { outside } from "./slips.js"

const ROUNDS_MAX = 64 // then sockets and timers get their turn

let ready = []
let isPlanned = false
let rounds = 0

// A tick that a microtask asks for comes when there are no microtasks left; setImmediate does the
// same where there are no such ticks, and lets everything else go first.
const hasTicks = typeof process?.nextTick === "function" && process.versions?.bun === undefined &&
  process.versions?.deno === undefined

function plan() {
  if (!hasTicks || ++rounds > ROUNDS_MAX) {
    rounds = 0
    setImmediate(look)
  } else queueMicrotask(() => process.nextTick(look))
}

function look() {
  const runs = ready
  ready = []
  isPlanned = false
  for (const run of runs) {
    run.isReady = false
    outside(lookAt, run) // whatever asked for this was a workflow, or was not
  }
  if (ready.length === 0) rounds = 0
}

const lookAt = run => run.look()

/** run.look() is called when nothing can go on. */
export function whenStill(run) {
  if (run.isReady) return
  run.isReady = true
  ready.push(run)
  if (isPlanned) return
  isPlanned = true
  plan()
}
