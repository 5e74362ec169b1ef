// abide: durable workflows. A client for programs and a worker for task functions.
export { Client } from "./client.js"
export {
  AbideError, ApiError, Conflict, Forbidden, InvalidRequest, NonRetryableError, NotFound, RunFailed, ServerError,
  ServerUnreachable, TaskCancelled, TaskError, Unauthorized, WaitTimeout,
} from "./errors.js"
export { Worker } from "./worker.js"
