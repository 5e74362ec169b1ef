// abide: durable workflows. A client for programs and a worker for task functions.
export { Client } from "./client.js"
export {
  AbideError, ApiError, NonRetryableError, RunFailed, ServerUnreachable, TaskCancelled, TaskError, WaitTimeout,
} from "./errors.js"
export { Worker } from "./worker.js"
