// Context: what a workflow's function can do. docs/node.md describes it for those who write one.
import { randomUUID } from "node:crypto"
import { isDefinition, nameOf } from "./definition.js"
import { argument, milliseconds, options as checked } from "./fields.js"
import { ContinueAs } from "./failures.js"
import { combinations } from "./operations.js"

const TASK_OPTIONS = "queue priority delay retry timeout scheduleTimeout heartbeatTimeout key concurrencyKey"
const CHILD_OPTIONS = "id key delay startAt timeout priority queue tags ttl parentClose"
const STEP_OPTIONS = "retry timeout"
const NONE = Object.freeze({})
const CHANGED = "changed:"

function encode(what, value) {
  try {
    return JSON.stringify(value) ?? "null"
  } catch (error) {
    throw new TypeError(`${what} cannot be written as JSON: ${error.message}`)
  }
}

const textOf = JSON.stringify

class State {
  #replay
  #values = new Map() // name -> JSON

  constructor(replay) {
    this.#replay = replay
  }

  set(name, value) {
    const text = encode(`the state ${name}`, value)
    this.#values.set(argument("state.set", "name", name), text)
    this.#replay.note("state", name, `"value":${text}`)
  }

  get(name) {
    const text = this.#values.get(argument("state.get", "name", name))
    return text === undefined ? undefined : JSON.parse(text)
  }
}

class Log {
  #replay

  constructor(replay) {
    this.#replay = replay
  }

  #write(level, message) {
    const text = String(message)
    if (this.#replay.note("line", level, `"text":${textOf(text)}`)) this.#replay.host.say(level, text)
  }

  debug(message) {
    this.#write("debug", message)
  }

  info(message) {
    this.#write("info", message)
  }

  warn(message) {
    this.#write("warn", message)
  }

  error(message) {
    this.#write("error", message)
  }
}

export class Context {
  #replay
  #state
  #log
  #abort
  #changes // name -> whether this run is to execute the change

  constructor(replay) {
    this.#replay = replay
  }

  get info() {
    return this.#replay.host.info
  }

  get log() {
    this.#log ??= new Log(this.#replay)
    return this.#log
  }

  get state() {
    this.#state ??= new State(this.#replay)
    return this.#state
  }

  get aborted() {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }

  /** By the library, when the run is asked to end. */
  static abort(context, reason) {
    context.aborted // there is a signal from now on
    context.#abort.abort(reason)
  }

  // ---- what is awaited ----

  step(name, body, options = NONE) {
    argument("step", "name", name)
    if (typeof body !== "function") throw new TypeError(`step ${name}: needs a function`)
    if (options !== NONE) options = checked("step", options, STEP_OPTIONS)
    return this.#replay.step(name, body, options)
  }

  task(name, input, options = NONE) {
    const given = options === NONE ? "" : `,"options":${textOf(checked("task", options, TASK_OPTIONS))}`
    return this.#begin("task", argument("task", "name", name),
      `"input":${encode(`the input of task ${name}`, input)}${given}`)
  }

  child(workflow, input, options = NONE) {
    return this.#begin("child", nameOf("child", workflow), this.#childText("child", input, options))
  }

  start(workflow, input, options = NONE) {
    const name = nameOf("start", workflow)
    const number = this.#replay.number()
    const id = options.id ?? `run_${randomUUID()}`
    const text = this.#childText("start", input, { ...options, id })
    const known = this.#replay.command("child", name, () =>
      `{"kind":"child","op":${number},"name":${textOf(name)},"detached":true,${text}}`)
    return known?.data ?? id
  }

  #childText(call, input, options) {
    const given = options === NONE ? "" : `,"options":${textOf(checked(call, options, CHILD_OPTIONS))}`
    return `"input":${encode(`the input of the ${call}`, input)}${given}`
  }

  // Tasks and children: their command is the operation's beginning.
  #begin(kind, name, text) {
    const operation = this.#replay.operation(kind, name, { on: kind })
    this.#replay.command(kind, name, () =>
      `{"kind":"${kind}","op":${operation.number},"name":${textOf(name)},${text}}`)
    return operation
  }

  sleep(duration) {
    const until = this.#replay.host.now() + milliseconds(duration, "sleep")
    return this.#wait("timer", "timer", new Date(until).toISOString())
  }

  sleepUntil(time) {
    return this.#wait("timer", "timer", new Date(argument("sleepUntil", "at", time)).toISOString())
  }

  signal(name, options = NONE) {
    const { timeout } = options === NONE ? NONE : checked("signal", options, "timeout")
    return this.#wait("signal", argument("signal", "name", name), this.#deadline(timeout))
  }

  event(topic, options = NONE) {
    const { timeout, filter } = options === NONE ? NONE : checked("event", options, "timeout filter")
    return this.#wait("event", argument("event", "name", topic), this.#deadline(timeout), filter)
  }

  #deadline(timeout) {
    if (timeout === undefined) return null
    return new Date(this.#replay.host.now() + milliseconds(timeout)).toISOString()
  }

  // When it ends is recorded: a replay computes nothing from the clock.
  #wait(on, name, end, filter) {
    const operation = this.#replay.operation(on, name, { on })
    const until = this.#replay.mark(on, end, operation.number)
    if (on !== "timer") operation.wait.name = name
    if (until !== null) operation.wait.until = until
    if (filter !== undefined) operation.wait.filter = filter
    return operation
  }

  // ---- what is done at once ----

  emit(topic, payload) {
    const text = encode(`the payload of ${topic}`, payload)
    this.#replay.command("emit", argument("emit", "name", topic), () =>
      `{"kind":"emit","name":${textOf(topic)},"payload":${text}}`)
  }

  stream(value, type = "message") {
    const text = encode("what is streamed", value)
    this.#replay.command("stream", argument("stream", "name", type), () =>
      `{"kind":"stream","name":${textOf(type)},"value":${text}}`)
  }

  continueAs(input) {
    throw new ContinueAs(encode("the input of continueAs", input))
  }

  // ---- what a replay gets again ----

  now() {
    return new Date(this.#replay.mark("now", Math.floor(this.#replay.host.now())))
  }

  random() {
    return this.#replay.mark("random", this.#replay.host.random())
  }

  uuid() {
    return this.#replay.mark("uuid", randomUUID())
  }

  changed(name) {
    argument("changed", "name", name)
    this.#changes ??= new Map()
    let answer = this.#changes.get(name)
    if (answer === undefined) {
      answer = this.#replay.isFresh(CHANGED + name)
      if (answer) this.#replay.mark(CHANGED + name, true)
      this.#changes.set(name, answer)
    }
    return answer
  }
}

Object.assign(Context.prototype, combinations)
