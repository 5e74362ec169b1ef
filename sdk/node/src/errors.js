// What can go wrong: on the way to the server, in a run, and in a task function.

/** Everything this library throws by itself. */
export class AbideError extends Error {
  get name() {
    return this.constructor.name
  }
}

/**
 * The server refused a request; `code` is stable and documented in docs/errors.md. The classes
 * below say which kind of refusal it is; `status`, `code` and `detail` are the same for all of them.
 */
export class ApiError extends AbideError {
  constructor(status, code, detail, body) {
    super(`${detail} (${code}, HTTP ${status})`)
    Object.assign(this, { status, code, detail, body })
  }
}

/** 400, 413, 422: what was sent is wrong. Sending it again does not help. */
export class InvalidRequest extends ApiError {}

/** 401: no token, or one that the server does not know. */
export class Unauthorized extends ApiError {}

/** 403: the token's scopes do not cover this. */
export class Forbidden extends ApiError {}

/** 404: there is no such run, task, workflow, … */
export class NotFound extends ApiError {}

/** 409: it is not in a state in which this can be done. */
export class Conflict extends ApiError {}

/** 5xx: the server, or the store behind it, cannot do it now. The outcome may be unknown. */
export class ServerError extends ApiError {}

const CLASSES = {
  400: InvalidRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict, 413: InvalidRequest,
  422: InvalidRequest,
}

export function apiError(status, code, detail, body) {
  return new (status >= 500 ? ServerError : CLASSES[status] ?? ApiError)(status, code, detail, body)
}

/** No answer came, however often it was tried. What was asked for may have happened. */
export class ServerUnreachable extends AbideError {}

/** The run had not ended when the time was over. It goes on. */
export class WaitTimeout extends AbideError {}

/**
 * The run has ended without a result; `error` is its error object, `status` how it ended. The
 * message says why, down to what the task function threw.
 */
export class RunFailed extends AbideError {
  constructor(runId, status, error) {
    let message = `run ${runId} ${status}`
    for (let cause = error; cause?.message; cause = (cause.value ?? cause).cause) message += `: ${cause.message}`
    super(message)
    Object.assign(this, { runId, status, error })
  }
}

// A failure that has a type of its own, of what lies behind it, and what else is known of it.
class Failure extends AbideError {
  constructor(message, { type, details, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.type = type ?? this.constructor.name
    this.details = details
  }
}

/**
 * Throw it in a task function to say how the attempt failed. `type` is what the workflow sees as the
 * error's type and what `nonRetryable` lists are matched with; `details` is any JSON that helps. In a
 * workflow it is what a task that failed for good ends with.
 */
export class TaskError extends Failure {
  constructor(message, { retryable = true, ...more } = {}) {
    super(message, more)
    this.retryable = retryable
  }
}

/** Throw it in a task function when trying again cannot help. */
export class NonRetryableError extends TaskError {
  constructor(message, options = {}) {
    super(message, { ...options, retryable: false })
  }
}

/** Why a task's AbortSignal was aborted: `reason` is "cancelled", "lease lost" or "stopping". */
export class TaskCancelled extends AbideError {
  constructor(reason) {
    super(`the task's result is not wanted any more: ${reason}`)
    this.reason = reason
  }
}

// ---- what reaches a workflow ----

/** A step has failed for good; `type` is the name of what it threw. */
export class StepError extends Failure {}

/** A child run has failed, or was cancelled. */
export class ChildError extends Failure {}

/** What was waited for did not come in time. */
export class TimeoutError extends Failure {}

/** The run was asked to end. */
export class CancelledError extends Failure {
  constructor(message = "the run was cancelled", options) {
    super(message, options)
  }
}

/** The code does not do what the journal of the run says. */
export class NondeterminismError extends AbideError {
  constructor({ position, expected, found, lines = [] }) {
    const places = lines.length > 0 ? ` (${lines.join(", ")})` : ""
    super(`entry ${position} of the journal is ${expected}; the code ${found}${places}`)
    Object.assign(this, { position, expected, found, lines })
  }
}
