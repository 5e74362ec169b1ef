// Errors as JSON, and back: what a step threw is recorded, and thrown again in every replay.
//
// An error is `{type, message}`, and `stack`, `details` and `cause` where there are any. A workflow
// never sees what was thrown itself, even the first time, because a replay would see something else.
import { CancelledError, ChildError, StepError, TaskError, TimeoutError } from "./errors.js"

const MESSAGE_MAX = 8000 // characters
const STACK_MAX = 4000
const DETAILS_MAX = 32_000
const CAUSES_MAX = 4 // one behind the other

function isSmallJson(value) {
  try {
    return JSON.stringify(value).length <= DETAILS_MAX
  } catch {
    return false
  }
}

function typeOf(error) {
  if (typeof error.type === "string" && "details" in error) return error.type // a failure of ours
  return error.name || error.constructor?.name || "Error"
}

/** What was thrown, as it is recorded. */
export function describe(error, depth = 0) {
  if (!(error instanceof Error)) return { type: "Error", message: String(error).slice(0, MESSAGE_MAX) }
  const described = { type: typeOf(error), message: String(error.message).slice(0, MESSAGE_MAX) }
  if (typeof error.stack === "string" && depth === 0) described.stack = error.stack.slice(0, STACK_MAX)
  if (error.details !== undefined && isSmallJson(error.details)) described.details = error.details
  if (error.cause !== undefined && depth < CAUSES_MAX) {
    if (error.cause instanceof Error) described.cause = describe(error.cause, depth + 1)
    else if (isSmallJson(error.cause)) described.cause = error.cause
  }
  return described
}

/** Thrown by continueAs() through the function, which must let it pass. `input` is JSON. */
export class ContinueAs extends Error {
  constructor(input) {
    super("the workflow begins again with another input; let what continueAs() throws pass")
    this.input = input
  }
}

const CLASSES = { step: StepError, task: TaskError, child: ChildError }

/** What the workflow gets when an operation of that kind ended with that error. */
export function failureOf(kind, json) {
  const { type = "Error", message = "", details, cause } = json ?? {}
  if (type === "TimeoutError" && CLASSES[kind] === undefined) return new TimeoutError(message)
  return new (CLASSES[kind] ?? StepError)(message, { type, details, cause })
}

export const timedOut = (kind, name) => new TimeoutError(`timed out waiting for ${kind} "${name}"`)

export const cancelled = reason => new CancelledError(reason)
