/**
 * What a Flow program sees: the workflow API, and as much of ECMAScript as there is. For editors: put
 *
 *     /// <reference path="abide.d.ts" />
 *
 * at the head of a .flow file that is opened as JavaScript, or copy jsconfig.json beside your flows.
 * Either way nothing of a browser or of Node is known: `fetch`, `setTimeout` and `process` are errors.
 * `// @ts-check` in the second line, or "checkJs" of jsconfig.json, makes the editor say so.
 *
 * An editor takes `workflow name(inputs) { … }` and a `return` outside of functions for mistakes; a file
 * that begins with `export default async function name(inputs) {` is JavaScript to it in every way.
 */

/// <reference no-default-lib="true" />
/// <reference lib="es5" />
/// <reference lib="es2015.core" />
/// <reference lib="es2015.collection" />
/// <reference lib="es2015.generator" />
/// <reference lib="es2015.iterable" />
/// <reference lib="es2015.promise" />
/// <reference lib="es2015.symbol" />
/// <reference lib="es2015.symbol.wellknown" />
/// <reference lib="es2016.array.include" />
/// <reference lib="es2017.object" />
/// <reference lib="es2017.string" />
/// <reference lib="es2018.asyncgenerator" />
/// <reference lib="es2018.asynciterable" />
/// <reference lib="es2018.promise" />
/// <reference lib="es2018.regexp" />
/// <reference lib="es2019.array" />
/// <reference lib="es2019.object" />
/// <reference lib="es2019.string" />
/// <reference lib="es2019.symbol" />
/// <reference lib="es2020.bigint" />
/// <reference lib="es2020.promise" />
/// <reference lib="es2020.string" />
/// <reference lib="es2020.symbol.wellknown" />
/// <reference lib="es2021.promise" />
/// <reference lib="es2021.string" />
/// <reference lib="es2022.array" />
/// <reference lib="es2022.error" />
/// <reference lib="es2022.object" />
/// <reference lib="es2022.regexp" />
/// <reference lib="es2022.string" />
/// <reference lib="es2023.array" />
/// <reference lib="es2024.promise" />
/// <reference lib="es2024.string" />

/** Seconds as a number (fractions allowed), or text: "500ms", "2s", "15m", "24h", "30d", "PT15M". */
type Duration = number | string;

/**
 * What an event has to be: an object whose members its payload must have, however deep, or an
 * expression: "order.id == 7 && total > 100".
 */
type Filter = string | { [member: string]: unknown };

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
  /** 0 … 1: each pause is up to this part of it shorter or longer. */
  jitter?: number;
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
  /** The first that settles. `item_id` is the `id` of its handle: compare with `handle.id`. */
  function race<T = any>(items: Iterable<PromiseLike<T>>): Promise<
    | { item_id: string; status: "completed"; result: T }
    | { item_id: string; status: "failed"; error: any }
  >;
}

declare namespace Timer {
  function delay(duration: Duration): Handle<void>;
  function until(date: Date | number | string): Handle<void>;
}

declare namespace Signal {
  /** The next signal of that name addressed to this run. */
  function next<T = any>(name: string): Handle<T>;
  /** The same; rejects with a TimeoutError. */
  function when<T = any>(name: string, options?: { timeout?: Duration }): Handle<T>;
}

declare namespace Event {
  function wait<T = any>(topic: string, options?: { timeout?: Duration; filter?: Filter }): Handle<T>;
  function emit(topic: string, payload?: unknown): void;
}

/** What is said here counts; what is not, the config of the workflow says. */
interface WorkflowOptions {
  id?: string;
  /** Idempotency key. */
  key?: string;
  delay?: Duration;
  startAt?: string | Date;
  timeout?: Duration;
  priority?: number;
  queue?: string;
  tags?: string[];
  ttl?: Duration;
  /** What happens to the run when its parent ends; "abandon" unless told. */
  parentClose?: "abandon" | "cancel";
}

declare namespace Workflow {
  /** A child run; rejects with a ChildWorkflowError. */
  function run<T = any>(name: string, input?: unknown, options?: WorkflowOptions): Handle<T>;
  /** An independent run; answers its id. */
  function start(name: string, input?: unknown, options?: WorkflowOptions): string;
  /** Ends this incarnation and begins again with fresh state under the same run id. */
  function continueAs(input?: unknown): never;
}

/** Must be true whenever it is executed. For `abide sim`; elsewhere it does nothing. */
declare function Invariant(name: string, condition: unknown): void;
/** Must be true from here on, whenever the run waits or ends. For `abide sim`; elsewhere it does nothing. */
declare function Always(name: string, condition: () => unknown): void;
/** Must have been true once when the run ends. For `abide sim`; elsewhere it does nothing. */
declare function Eventually(name: string, condition: () => unknown): void;

declare namespace Stream {
  /** Appends to the run's event stream. */
  function write(value: unknown, type?: string | { type: string; types?: Iterable<string> }): void;
}

declare namespace State {
  /** A small value that can be queried from outside while the run waits. */
  function set(key: string, value: unknown): void;
  function get<T = any>(key: string): T | undefined;
}

/** Stands for a text of the server; `[secret NAME]` wherever it is not the input of a task. */
interface SecretValue {
  toString(): string;
  toJSON(): string;
}
interface SecretOptions {
  /** Text before the secret, such as "Bearer ". */
  prefix?: string;
}
declare namespace Secret {
  /** For the input of a task; the name is written as it is, in quotes. */
  function get(name: string, options?: SecretOptions): SecretValue;
}

declare class TaskError extends Error {
  readonly task: string;
  readonly attempts: number;
}
declare class TimeoutError extends Error {}
declare class CancelledError extends Error {}
declare class ChildWorkflowError extends Error {
  readonly workflow: string;
  readonly attempts: number;
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
  /** Of the whole run, all its attempts together. */
  timeout?: Duration;
  /** A failed run begins again from its input. */
  retry?: {
    /** In all; 3 unless told. */
    attempts?: number;
    /** Before the second attempt; "1s" unless told. */
    delay?: Duration;
    /** Each pause is this many times the one before; 2 unless told, at least 1. */
    factor?: number;
    /** "1h" unless told. */
    maxDelay?: Duration;
  };
  /** How long an idle run stays in memory. */
  idleTimeout?: Duration | "off";
  /** Beginnings of turns kept for rewinding. */
  keepSnapshots?: number;
  /** Paths of data that nobody is shown: "password", "card.number". */
  secret?: string[];
  /** Names of the events that clients of the handler API may post. */
  events?: string[];
  /** Queue of the tasks that name none. */
  queue?: string;
  /** -1000 … 1000, higher first. */
  priority?: number;
  /** How long a run is kept once it has ended. */
  ttl?: Duration;
  tags?: string[];
  /** A JSON Schema that the input has to fit. */
  input?: JsonSchema;
  /** A JSON Schema of the result, shown to clients. */
  output?: JsonSchema;
}

/** The part of JSON Schema that is enforced; docs/language.md. */
type JsonSchema = boolean | { [keyword: string]: unknown };
