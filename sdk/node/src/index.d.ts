/** A number of seconds, or text such as "500ms", "2s", "15m", "24h", "30d". */
export type Duration = number | string
export type Json = any

export interface ConnectionOptions {
  /** URL of the server; $ABIDE_SERVER or http://127.0.0.1:7433 unless given. */
  server?: string
  /** Bearer token; $ABIDE_TOKEN unless given. */
  token?: string
  /** How long one request may take; 30 s unless given. */
  timeout?: Duration
  /** How long a request is tried again while the server is away; 30 s unless given. */
  retryFor?: Duration
  /** Certificate authority, PEM, for https with certificates of your own. */
  ca?: string | Buffer
}

export type RunStatus = "pending" | "running" | "suspended" | "paused" | "completed" | "failed" | "cancelled"

export interface Wait {
  on: string
  name: string | null
  since: string | null
  deadline: string | null
  filter?: string
}

/** A run as the API shows it; further members are in docs/http.md. */
export interface Run {
  id: string
  workflow: string
  version?: string | null
  status: RunStatus
  priority: number
  tags: string[]
  waits: Wait[]
  attempts: number
  cancel_requested: boolean
  created_at: string
  started_at: string | null
  finished_at: string | null
  next_wake_at: string | null
  idle_since: string | null
  result?: Json
  error?: Json
  [member: string]: Json
}

export interface Task {
  id: string
  name: string
  queue: string
  status: "queued" | "leased" | "completed" | "failed" | "cancelled"
  attempt: number
  max_attempts: number
  worker: string | null
  cancel_requested: boolean
  input: Json
  result: Json
  error: Json
  progress: Json
  [member: string]: Json
}

/** One entry of a run's log. */
export interface LogEntry {
  seq: number
  at: string
  kind: string
  name: string | null
  outcome: "ok" | "error" | "timeout" | "cancelled"
  position?: number
  iteration?: number
  attempt?: number
  data?: Json
}

export interface StartOptions {
  /** Your id; one that exists starts nothing and answers that run. */
  id?: string
  /** Idempotency key; one is made unless there is an id. */
  key?: string
  tags?: string[]
  delay?: Duration
  startAt?: string
  priority?: number
  queue?: string
  timeout?: Duration
  ttl?: Duration
  /** Answer once the run has ended, or after this long. */
  wait?: Duration
  traceparent?: string
}

export interface RunFilter {
  /** One or more states, separated by commas. */
  status?: string
  workflow?: string
  tag?: string
  parent?: string
  waitingOn?: string
  idleBefore?: string
  createdBefore?: string
  createdAfter?: string
  pageSize?: number
}

export interface TaskOptions {
  id?: string
  queue?: string
  priority?: number
  delay?: Duration
  attempts?: number
  retryDelay?: Duration
  retryFactor?: number
  retryMaxDelay?: Duration
  timeout?: Duration
  scheduleTimeout?: Duration
  heartbeatTimeout?: Duration
  concurrencyKey?: string
}

export interface SendOptions {
  /** Deduplicates; one is made unless given. */
  id?: string
  traceparent?: string
}

export class Client {
  constructor(options?: ConnectionOptions)
  readonly tasks: Tasks
  /** Makes `source` the current version of the workflow `name`. */
  deploy(name: string, source: string): Promise<Json>
  start(workflow: string, input?: Json, options?: StartOptions): Promise<Run>
  /** Waits for the end of a run. Throws RunFailed, or WaitTimeout when `timeout` passed first. */
  result(runId: string, options?: { timeout?: Duration }): Promise<Json>
  /** start and result in one. */
  run(workflow: string, input?: Json, options?: StartOptions & { resultTimeout?: Duration }): Promise<Json>
  show(runId: string): Promise<Run>
  /** Runs that match, newest first, read page by page as you go on. */
  list(filter?: RunFilter): AsyncGenerator<Run, void>
  /** True when this asked a living run to end; false when it had ended already. */
  cancel(runId: string, options?: { reason?: string; grace?: Duration }): Promise<boolean>
  signal(runId: string, name: string, payload?: Json, options?: SendOptions): Promise<Json>
  emit(topic: string, payload?: Json, options?: SendOptions):
    Promise<{ event_id: string; resumed: number; pending: boolean; duplicate: boolean }>
  /** The log of a run as it is written, until the run has ended; goes on where a connection broke. */
  stream(runId: string, options?: { after?: number; signal?: AbortSignal }): AsyncGenerator<LogEntry, void>
  close(): void
}

/** Tasks that belong to no run. */
export interface Tasks {
  create(name: string, input?: Json, options?: TaskOptions): Promise<Task>
  show(taskId: string): Promise<Task>
  list(filter?: { status?: string; queue?: string; pageSize?: number }): AsyncGenerator<Task, void>
  retry(taskId: string): Promise<Task>
}

/** What a task function may know about its task. */
export interface Context {
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly attempt: number
  readonly runId: string | null
  readonly step: number | null
  readonly traceparent?: string
  /** Aborted when the result is not wanted any more; its reason is a TaskCancelled. */
  readonly signal: AbortSignal
  /** Tells the server how far the task is (any JSON); sent within about a second. */
  progress(value: Json): void
}

export type TaskFunction = (input: any, context: Context) => Json | Promise<Json>

export interface WorkerOptions extends ConnectionOptions {
  /** Which queues to take tasks from; ["default"] unless given. */
  queues?: string[]
  /** How many functions may run at once; 10 unless given. */
  concurrency?: number
  /** Shown to operators; made of host and process unless given. */
  name?: string
  /** How long the server waits for a sign of life before it gives a task to another; 30 s. */
  lease?: Duration
  /** How often to give one; also how soon a cancellation is noticed; 5 s or a third of the lease. */
  heartbeat?: Duration
  /** How long stopping waits for functions to finish; 30 s. */
  grace?: Duration
  /** How long one claim waits for tasks; 25 s. */
  poll?: Duration
  logger?: { warn(...values: unknown[]): void; error(...values: unknown[]): void }
}

export class Worker {
  constructor(options?: WorkerOptions)
  readonly name: string
  task(name: string, handler: TaskFunction): this
  /** Works until stop() is called, or SIGTERM or SIGINT comes; a second signal kills. */
  run(options?: { handleSignals?: boolean }): Promise<void>
  /** As run(), but a second call answers the same promise. */
  start(options?: { handleSignals?: boolean }): Promise<void>
  /** Makes run() end in order. */
  stop(): void
}

export class AbideError extends Error {}
/** The server refused a request; `code` is stable and documented in docs/errors.md. */
export class ApiError extends AbideError {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly body: Json
}
/** No answer came, however often it was tried. What was asked for may have happened. */
export class ServerUnreachable extends AbideError {}
/** The run had not ended when the time was over. It goes on. */
export class WaitTimeout extends AbideError {}
export class RunFailed extends AbideError {
  readonly runId: string
  readonly status: "failed" | "cancelled"
  readonly error: Json
}
export interface TaskErrorOptions {
  type?: string
  details?: Json
  retryable?: boolean
  cause?: unknown
}
/** Throw it in a task function to say how the attempt failed. */
export class TaskError extends AbideError {
  constructor(message: string, options?: TaskErrorOptions)
  readonly type: string
  readonly details: Json
  readonly retryable: boolean
}
/** Throw it in a task function when trying again cannot help. */
export class NonRetryableError extends TaskError {
  constructor(message: string, options?: Omit<TaskErrorOptions, "retryable">)
}
export class TaskCancelled extends AbideError {
  readonly reason: "cancelled" | "lease lost" | "stopping"
}
