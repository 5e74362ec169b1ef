// abide: durable workflows. A client for programs, and a worker for task functions and workflows.
export { Client } from "./client.js"
export { workflow } from "./definition.js"
export {
  AbideError, ApiError, CancelledError, ChildError, Conflict, Forbidden, InvalidRequest, NondeterminismError,
  NonRetryableError, NotFound, RunFailed, ServerError, ServerUnreachable, StepError, TaskCancelled, TaskError,
  TimeoutError, Unauthorized, WaitTimeout,
} from "./errors.js"
export { Worker } from "./worker.js"
