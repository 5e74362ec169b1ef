// Durable workflows as functions: what is declared, the context, and the handle of a run.
import type { AbideError, Duration, Json, LogEntry, Run, StartOptions, Time } from "./index.js"

/** What a program may call a workflow's function with. */
export type WorkflowFunction<Input, Result> = (ctx: WorkflowContext, input: Input) => Result | Promise<Result>

export interface WorkflowOptions {
  name: string
  /** Made of the function's source unless given. A run stays on the version it began with. */
  version?: string
  /** New runs get this version even where the server has known it before, as after a roll-back. */
  current?: boolean
  /** Shown with the workflow. It and `input` belong to the version: give another one when they change. */
  description?: string
  /** A schema: what does not fit it is refused when a run is started, with BAD_INPUT. */
  input?: object
}

/** A workflow that a worker can execute and a client can start. */
export interface Definition<Input = any, Result = any> {
  readonly name: string
  readonly version: string
  readonly current: boolean
  readonly description?: string
  readonly input?: object
  readonly body: WorkflowFunction<Input, Result>
}

/** Declares a durable workflow. */
export function workflow<Input = any, Result = unknown>(
  about: string | WorkflowOptions, body: WorkflowFunction<Input, Result>): Definition<Input, Result>

/** Input may be left out where the function does without. */
export type InputAnd<Input, Options> = undefined extends Input
  ? [input?: Input, options?: Options] : [input: Input, options?: Options]

export interface RetryOptions {
  /** In total, the first one included; 1 unless given. */
  attempts?: number
  /** Before the second attempt; 1 s unless given. */
  delay?: Duration
  /** Each delay is so many times the one before; 2 unless given. */
  factor?: number
  /** 1 h unless given. */
  maxDelay?: Duration
  /** From 0 to 1: each delay is up to this share shorter or longer; 0 unless given. */
  jitter?: number
  /** Types (names) of errors after which there is no other attempt. */
  nonRetryable?: readonly string[]
}

export interface StepOptions {
  retry?: RetryOptions
  /** For one attempt: its signal is aborted, and the attempt has failed with a TimeoutError. */
  timeout?: Duration
}

/** What a step may know about itself. */
export interface StepContext {
  readonly runId: string
  readonly workflow: string
  readonly name: string
  /** From 1. */
  readonly attempt: number
  /** Of the run, to be passed on to what the step calls. */
  readonly traceparent: string | null
  /** Aborted when the result is not wanted any more. */
  readonly signal: AbortSignal
}

/** As Task.run of a flow. */
export interface TaskCallOptions {
  queue?: string
  priority?: number
  delay?: Duration
  retry?: RetryOptions
  timeout?: Duration
  scheduleTimeout?: Duration
  heartbeatTimeout?: Duration
  /** Idempotency key: a second task with this key is the first one. */
  key?: string
  concurrencyKey?: string
}

/** As Workflow.run of a flow. */
export interface ChildOptions {
  id?: string
  key?: string
  delay?: Duration
  startAt?: Time
  timeout?: Duration
  priority?: number
  queue?: string
  tags?: readonly string[]
  ttl?: Duration
  /** What happens to it when this run ends. */
  parentClose?: "abandon" | "cancel"
}

export interface RunInfo {
  readonly runId: string
  readonly workflow: string
  readonly version: string
  /** 1; one more each time the whole run is retried. */
  readonly attempt: number
  readonly tags: readonly string[]
  readonly parentId: string | null
  readonly startedAt: Date | null
  readonly traceparent: string | null
}

/** Lines of the run's log. They are written once, however often the function is replayed. */
export interface RunLog {
  debug(message: string): void
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/**
 * What a workflow does goes through its context. Everything that it awaits is an operation here:
 * its outcome is recorded, and a run that is taken up again gets it from the record.
 */
export interface WorkflowContext {
  readonly info: RunInfo
  readonly log: RunLog
  /** Aborted when the run is asked to end. What is awaited then fails with a CancelledError. */
  readonly aborted: AbortSignal

  /** Calls the function. Its result is durable before the next step begins. */
  step<Result>(name: string, body: (step: StepContext) => Result | Promise<Result>, options?: StepOptions):
    Promise<Awaited<Result>>
  /** Has a worker do a task. */
  task<Result = Json>(name: string, input?: Json, options?: TaskCallOptions): Promise<Result>
  /** Starts another run and waits for its result. */
  child<Result = Json>(workflow: string, input?: Json, options?: ChildOptions): Promise<Result>
  child<Input, Result>(definition: Definition<Input, Result>, ...more: InputAnd<Input, ChildOptions>): Promise<Result>
  /** Starts a run of its own, which nobody waits for; answers its id. */
  start(workflow: string, input?: Json, options?: ChildOptions): string
  start<Input>(definition: Definition<Input, any>, ...more: InputAnd<Input, ChildOptions>): string

  sleep(duration: Duration): Promise<void>
  sleepUntil(time: Time): Promise<void>
  /** The next signal of that name for this run. Fails with a TimeoutError after `timeout`. */
  signal<Payload = Json>(name: string, options?: { timeout?: Duration }): Promise<Payload>
  /** The next event of that topic. `filter` says which payloads are meant. */
  event<Payload = Json>(topic: string, options?: { timeout?: Duration; filter?: Json }): Promise<Payload>
  /** Publishes an event, once. */
  emit(topic: string, payload?: Json): void

  /** As those of Promise, over any mix; Promise.all and its like do as well. */
  all<const Items extends readonly unknown[]>(items: Items): Promise<{ -readonly [Key in keyof Items]: Awaited<Items[Key]> }>
  any<const Items extends readonly unknown[]>(items: Items): Promise<Awaited<Items[number]>>
  race<const Items extends readonly unknown[]>(items: Items): Promise<Awaited<Items[number]>>
  allSettled<const Items extends readonly unknown[]>(items: Items):
    Promise<{ -readonly [Key in keyof Items]: PromiseSettledResult<Awaited<Items[Key]>> }>

  /** Small values that others can read and search for: client.list({ state }). */
  readonly state: {
    set(name: string, value: Json): void
    /** What this function has set. */
    get<Value = Json>(name: string): Value | undefined
  }
  /** Appends to the run's stream for readers outside: client.stream(). */
  stream(value: Json, type?: string): void
  /** Begins again under the same id, with this input and an empty record. */
  continueAs(input?: Json): never

  /** Recorded: a replay gets the same. */
  now(): Date
  random(): number
  uuid(): string
  /**
   * Whether this run is to execute what has changed: true for runs that get here for the first
   * time, false for those that were beyond when the change came.
   */
  changed(name: string): boolean
}

/** What one does with a run. */
export interface RunReference<Result = Json> {
  readonly id: string
  /** Waits for the end. Throws RunFailed, or WaitTimeout when `timeout` passed first. */
  result(options?: { timeout?: Duration }): Promise<Result>
  /** Waits for the end, good or bad; answers the run. Throws WaitTimeout. */
  wait(options?: { timeout?: Duration }): Promise<Run>
  signal(name: string, payload?: Json, options?: { id?: string; traceparent?: string }):
    Promise<{ event_id: string; delivered: boolean; duplicate: boolean }>
  /** Its log as it is written, until the end. */
  events(options?: { after?: number; signal?: AbortSignal }): AsyncGenerator<LogEntry, void>
  cancel(options?: { reason?: string; grace?: Duration }): Promise<boolean>
}

/** A run that was started: its JSON as it was then, but for `result`, and what one does with it. */
export interface RunHandle<Result = Json> extends Omit<Run, "result" | "id">, RunReference<Result> {}

/** What a step, a task or a child ended with, as it reaches the workflow. */
export interface Failure {
  readonly type: string
  readonly message: string
  readonly details?: Json
  readonly cause?: unknown
}

/** A step has failed for good; `type` is the name of what it threw. */
export class StepError extends AbideError implements Failure {
  readonly type: string
  readonly details: Json
}
/** A child run has failed or was cancelled. */
export class ChildError extends AbideError implements Failure {
  readonly type: string
  readonly details: Json
}
/** What was waited for did not come in time. */
export class TimeoutError extends AbideError implements Failure {
  readonly type: string
}
/** The run was asked to end. */
export class CancelledError extends AbideError implements Failure {
  readonly type: string
}
/** The code does not do what the record of the run says. The run is paused. */
export class NondeterminismError extends AbideError {
  /** Number of the entry of the journal, from 0. */
  readonly position: number
  readonly expected: string
  readonly found: string
  /** Places in the code, as file:line. */
  readonly lines: readonly string[]
}
