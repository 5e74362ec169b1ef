/**
 * What a Flow program sees besides ECMAScript. For editors: put
 *
 *     /// <reference path="abide.d.ts" />
 *
 * at the head of a .flow file opened as JavaScript, or list this file in a jsconfig.json with
 * `"lib": ["ES2023"]` and without "DOM".
 */

/** Seconds as a number (fractions allowed), or text: "500ms", "2s", "15m", "24h", "30d", "PT15M". */
type Duration = number | string;

/** Data that survives JSON. */
type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain };

/** A promise of something outside the script; `id` names it to the outside. */
interface Handle<T> extends Promise<T> {
  readonly id: string;
}

/** The run's input. */
declare const Inputs: any;

declare const Context: {
  readonly runId: string;
  readonly workflow: string;
  /** Hash of the source this run executes. */
  readonly version: string;
  readonly attempt: number;
  readonly parentId: string | null;
  readonly startedAt: number;
  readonly tags: readonly string[];
  readonly namespace: string;
};

interface RetryOptions {
  attempts?: number;
  delay?: Duration;
  factor?: number;
  maxDelay?: Duration;
  jitter?: boolean | number;
  /** Error codes or names after which no further attempt is made. */
  nonRetryable?: string[];
}

interface TaskOptions {
  queue?: string;
  priority?: number;
  retry?: RetryOptions;
  /** For one attempt. */
  timeout?: Duration;
  /** Until the first attempt begins. */
  scheduleTimeout?: Duration;
  heartbeatTimeout?: Duration;
  /** Idempotency key: a second task of the same key is the first one. */
  key?: string;
  concurrencyKey?: string;
  delay?: Duration;
}

declare namespace Task {
  /** Queues a task now. Rejects with a TaskError; not awaited means fire and forget. */
  function run<T = any>(name: string, input?: unknown, options?: TaskOptions): Handle<T>;
  function delay(duration: Duration): Handle<void>;
  /** All results in order; the first failure throws. */
  function all<T = any>(items: Iterable<T | PromiseLike<T>>): Promise<T[]>;
  /** The first success. */
  function any<T = any>(items: Iterable<PromiseLike<T>>): Promise<{ item_id: string; result: T }>;
  /** The first that settles. */
  function race<T = any>(items: Iterable<PromiseLike<T>>): Promise<
    | { item_id: string; status: "completed"; result: T }
    | { item_id: string; status: "failed"; error: any }
  >;
}

declare namespace Timer {
  function delay(duration: Duration): Handle<void>;
  function until(when: Date | number | string): Handle<void>;
}

declare namespace Signal {
  /** The next signal of that name addressed to this run. */
  function next<T = any>(name: string): Handle<T>;
  /** The same; rejects with a TimeoutError. */
  function when<T = any>(name: string, options?: { timeout?: Duration }): Handle<T>;
}

declare namespace Event {
  function wait<T = any>(topic: string, options?: { timeout?: Duration; filter?: Plain }): Handle<T>;
  function emit(topic: string, payload?: unknown): void;
}

interface WorkflowOptions {
  id?: string;
  tags?: string[];
  timeout?: Duration;
  queue?: string;
}

declare namespace Workflow {
  /** A child run; rejects with a ChildWorkflowError. */
  function run<T = any>(name: string, input?: unknown, options?: WorkflowOptions): Handle<T>;
  /** An independent run; answers its id. */
  function start(name: string, input?: unknown, options?: WorkflowOptions): string;
  /** Ends this incarnation and begins again with fresh state under the same run id. */
  function continueAs(input?: unknown): never;
}

declare namespace Stream {
  /** Appends to the run's event stream. */
  function write(value: unknown, type?: string | { type: string; types?: Iterable<string> }): void;
}

declare namespace State {
  /** A small value that can be queried from outside while the run waits. */
  function set(key: string, value: unknown): void;
  function get<T = any>(key: string): T | undefined;
}

declare class TaskError extends Error {
  readonly task: string;
  readonly attempts: number;
  readonly code?: string;
}
declare class TimeoutError extends Error {}
declare class CancelledError extends Error {}
declare class ChildWorkflowError extends Error {
  readonly workflow: string;
  readonly runId: string;
}

declare const console: {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
};

declare const crypto: { randomUUID(): string };
declare function structuredClone<T>(value: T): T;
declare function btoa(text: string): string;
declare function atob(text: string): string;

/** What `export const config = { … }` may hold: a literal. */
interface FlowConfig {
  timeout?: Duration;
  idleTimeout?: Duration;
  retry?: RetryOptions;
  [key: string]: unknown;
}
