// Tests of workflows: a private server whose time is virtual, mocks, and crashes at every point.
import type { Client, Definition, Duration, Logger, StepContext, TaskFunction, WorkerStats } from "../index.js"

export interface TestOptions {
  /** The program `abide`: $ABIDE_BIN, or the one in $PATH, unless given. */
  binary?: string
  workflows?: readonly Definition[]
  /** A task that has neither a function nor a mock fails. */
  tasks?: { [name: string]: TaskFunction }
  /** Gets what server and worker say; nobody unless given. */
  logger?: Logger
}

/** Instead of a function of the program: a function, or what it would answer. */
export interface Mocks {
  /** Of all steps of that name. It gets what the step would get, and the function of the step. */
  step(name: string, replacement: (step: StepContext, body: (step: StepContext) => unknown) => unknown): this
  task(name: string, replacement: TaskFunction): this
  /** Takes all mocks away. */
  clear(): void
}

/** A server of its own, which keeps nothing, and workers. */
export class TestServer {
  static start(options?: TestOptions): Promise<TestServer>
  readonly url: string
  readonly client: Client
  readonly mock: Mocks
  /** The server's time. */
  now(): Promise<Date>
  /** Lets time pass: timers that come due on the way fire, in order. Answers when nothing is left to do. */
  advance(duration: Duration): Promise<void>
  /** Resolves when no run executes and no task is due: all wait for time or for the world, or have ended. */
  settled(): Promise<void>
  /** The worker of the workflows is gone as if by kill -9; runs go on when there is another one. */
  killWorker(): Promise<void>
  /** With other workflows, if they are given: other versions of them, for example. */
  startWorker(served?: { workflows?: readonly Definition[] }): Promise<void>
  /** Of the worker of the workflows; undefined while there is none. */
  stats(): WorkerStats | undefined
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface CrashOptions<Result> extends TestOptions {
  /** What must be the same after a crash; the answer of the scenario, unless given. */
  compare?(result: Result): unknown
}

export interface CrashReport<Result> {
  /** Places at which the worker was killed: before and after each commit. */
  crashes: number
  /** Of the scenario without a crash. */
  result: Result
}

/**
 * Plays the scenario once undisturbed, then once per crash point: the worker dies before, or just after,
 * a commit reaches the server, and another one takes over. Throws CrashDiffers at the first point
 * where the outcome of the scenario or the recorded steps of a run differ.
 */
export function everyCrash<Result>(scenario: (env: TestServer) => Promise<Result>, options?: CrashOptions<Result>):
  Promise<CrashReport<Result>>

export class CrashDiffers extends Error {
  /** Number of the commit, from 1, and whether the worker died before or after it. */
  readonly commit: number
  readonly when: "before" | "after"
  readonly expected: unknown
  readonly found: unknown
}
