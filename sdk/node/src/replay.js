// Replay: executes a workflow's function against the journal of its run.
//
// The function goes on until nothing in it can. Then one thing is settled, it goes on again, and so
// to the end of the journal, and beyond: what it does there is collected as new entries.
//
//   [R1] A command (task, child, emit, stream, mark) must be the next one of the journal, kind and name
//        alike. Completions are settled in the order of the journal; the commands before one have
//        been given by then. Those that follow from it may stand behind others that came with it.
//   [R2] One thing is settled at a time, and the function goes on until it cannot before the next.
//        So a race has the same winner in every replay.
//   [R3] A step's result is settled as its entry is written, before it is durable. What follows it is
//        durable with it or not at all, and no step begins before all entries are durable (run.js).
//   [R4] A mismatch is noted here, whatever the function makes of it: its run goes nowhere then.
//
// Not here: executing steps (steps.js), and talking to the server (run.js).
import { Context } from "./context.js"
import { NondeterminismError } from "./errors.js"
import { ContinueAs, cancelled, describe, failureOf, timedOut } from "./failures.js"
import { lineOf } from "./lines.js"
import { Operation, StepOperation } from "./operations.js"

const COMMANDS = new Set(["task", "child", "emit", "stream", "mark"])

export class Replay {
  #own // entries up to the last that the function gave: what follows is what came for it

  constructor(definition, journal, host) {
    this.definition = definition
    this.host = host // the run: touch(), now(), random(), say(), info
    this.journal = journal
    this.#look()
    this.passed = 0 // entries of journals before this one
    this.entries = [] // new, as JSON texts
    this.count = 0 // of operations begun
    this.open = new Map() // number -> Operation
    this.steps = new Set() // that nobody executes yet
    this.isTold = false // that it was asked to end
    this.ending = undefined // { outcome, member, text } once the function has ended
    this.mismatch = undefined
    this.lines = undefined // operation -> where it began; only in a replay that looks for a mistake
  }

  begin(input) {
    this.context = new Context(this)
    let promise
    try {
      promise = this.definition.body(this.context, input)
    } catch (error) {
      return this.#failed(error)
    }
    if (typeof promise?.then !== "function") return this.#returned(promise)
    promise.then(value => this.#returned(value), error => this.#failed(error))
  }

  /** More of the journal, for a run that was kept. */
  feed(journal) {
    this.passed += this.journal.length
    this.journal = journal
    this.#look()
  }

  /** More of the journal while the turn goes on. */
  append(entries) {
    this.passed += this.place
    this.journal = [...this.journal.slice(this.place), ...entries]
    this.#look()
  }

  #look() {
    this.place = 0 // the next entry
    this.given = 0 // the next command
    this.#own = this.journal.length
    while (this.#own > 0 && this.journal[this.#own - 1].kind === "wait") this.#own--
  }

  /** Whether the journal has something to be settled. */
  get hasMore() {
    while (this.place < this.given && isCommand(this.journal[this.place])) this.place++
    return this.place < this.journal.length
  }

  /** The function has ended. What came for it and nobody needs is fine; what it did once is not. */
  checkEnd() {
    if (this.#nextCommand() !== undefined || (this.hasMore && this.place < this.#own))
      this.differ(entryText(this.journal[this.place]), "has ended")
  }

  // The journal's next command that the function has not given yet.
  #nextCommand() {
    while (this.given < this.journal.length && !isCommand(this.journal[this.given])) this.given++
    return this.journal[this.given]
  }

  /** Whether the function has been here before. */
  get isReplaying() {
    if (this.#nextCommand() !== undefined) return true
    return this.hasMore && this.place <= this.#own
  }

  // ---- what the function asks for ----

  /** [R1] The journal's entry, or undefined: then `entry()` is the new one, as JSON. */
  command(kind, name, entry) {
    this.host.touch()
    const known = this.#nextCommand()
    if (known === undefined) {
      this.entries.push(entry())
      return undefined
    }
    if (known.kind !== kind || known.name !== name)
      throw this.differ(entryText(known), `asks for ${kind} "${name}"`, lineOf(), this.given)
    this.given++
    return known
  }

  /** A value that every replay gets again. */
  mark(name, value, number = 0) {
    const known = this.command("mark", name, () =>
      `{"kind":"mark","name":${JSON.stringify(name)},"op":${number},"value":${JSON.stringify(value)}}`)
    return known === undefined ? value : known.data
  }

  /** What is written once and not in the journal. False: it was written before. */
  note(kind, name, member) {
    this.host.touch()
    if (this.isReplaying) return false
    this.entries.push(`{"kind":"${kind}","name":${JSON.stringify(name)},${member}}`)
    return true
  }

  /** Whether the function gets here for the first time, or did then what the mark of that name says. */
  isFresh(name) {
    const next = this.#nextCommand()
    return next === undefined ? !this.isReplaying : next.kind === "mark" && next.name === name
  }

  /** Of an operation that nobody waits for. */
  number() {
    return ++this.count
  }

  operation(kind, name, wait) {
    const operation = this.#register(new Operation(++this.count, kind, name))
    operation.wait = wait
    return operation
  }

  step(name, body, options) {
    this.host.touch()
    const operation = this.#register(new StepOperation(++this.count, name, body, options))
    this.steps.add(operation)
    return operation
  }

  #register(operation) {
    this.open.set(operation.number, operation)
    this.lines?.set(operation.number, lineOf())
    return operation
  }

  #returned(value) {
    this.#end("completed", "result", () => JSON.stringify(value) ?? "null")
  }

  #failed(error) {
    if (error instanceof ContinueAs) return this.#end("continue_as", "input", () => error.input)
    const outcome = error?.name === "CancelledError" && this.isTold ? "cancelled" : "failed"
    this.#end(outcome, "error", () => JSON.stringify(describe(error)))
  }

  #end(outcome, member, text) {
    this.host.touch()
    try {
      this.ending = { outcome, text: `"${member}":${text()}` }
    } catch (error) { // the result is no JSON
      this.ending = { outcome: "failed", text: `"error":${JSON.stringify(describe(error))}` }
    }
  }

  // ---- what is settled ----

  /**
   * Settles the next thing of the journal, when the function cannot go on. False: the function waits
   * for something else than its context, and may yet ask for what comes next.
   */
  advance() {
    const entry = this.journal[this.place]
    const operation = this.open.get(entry.op)
    if (entry.outcome === "cancelled") {
      this.place++
      this.cancel()
    } else if (!COMMANDS.has(entry.kind) && operation !== undefined && isEndOf(entry, operation)) {
      this.place++
      this.#complete(operation, entry)
    } else if (this.isAstray) return false
    else this.#misfit(entry, operation)
    return true
  }

  #misfit(entry, operation) {
    if (COMMANDS.has(entry.kind)) this.differ(entryText(entry), this.#doing())
    else if (operation === undefined) this.differ(`the end of ${entryText(entry)} (operation ${entry.op})`, this.#doing())
    else this.differ(entryText(entry), `has ${operation.kind} "${operation.name}" there`, this.lines?.get(entry.op))
  }

  #complete(operation, entry) {
    if (entry.kind === "step_attempt") {
      operation.attempts = entry.attempt
      operation.wait = { on: "retry", until: entry.data.next_at }
    } else if (entry.kind === "wait" && operation.kind === "step") {
      this.retry(operation)
    } else if (entry.outcome === "ok") this.settle(operation, "ok", entry.data)
    else if (entry.outcome === "timeout") this.settle(operation, "failed", timedOut(operation.kind, operation.name))
    else this.settle(operation, "failed", failureOf(operation.kind, entry.data))
  }

  settle(operation, state, value) {
    this.open.delete(operation.number)
    operation.settle(state, value)
  }

  /** It was asked to end: all that is open fails. */
  cancel() {
    this.isTold = true
    const reason = cancelled()
    for (const operation of [...this.open.values()]) this.settle(operation, "failed", reason)
    this.steps.clear()
    Context.abort(this.context, reason)
  }

  /** Whether the function waits for something that its context does not know. */
  get isAstray() {
    if (this.ending !== undefined) return false
    for (const operation of this.open.values()) if (operation.isAwaited) return false
    return true
  }

  /** Whether there are steps to be executed. */
  get hasSteps() {
    for (const step of this.steps) if (!step.isOpen || step.wait !== undefined) this.steps.delete(step)
    return this.steps.size > 0
  }

  takeSteps() {
    const { steps } = this
    this.steps = new Set()
    return steps
  }

  /** The backoff of a step is over. */
  retry(step) {
    step.wait = undefined
    this.steps.add(step)
  }

  takeEntries() {
    const { entries } = this
    this.entries = []
    return entries
  }

  // ---- mismatches ----

  differ(expected, found, line, place = this.place) { // [R4]
    this.mismatch ??= new NondeterminismError({
      position: this.passed + place, expected, found, lines: line === undefined ? [] : [line],
    })
    return this.mismatch
  }

  #doing() {
    const open = [...this.open.values()].filter(operation => operation.isAwaited)
    if (open.length === 0) return "waits for nothing"
    return "waits for " + open.slice(0, 3).map(({ kind, name, number }) => {
      const line = this.lines?.get(number)
      return `${kind} "${name}"${line === undefined ? "" : ` at ${line}`}`
    }).join(", ")
  }
}

const isCommand = ({ kind, outcome }) => COMMANDS.has(kind) && outcome !== "cancelled"
const entryText = ({ kind, name }) => `${kind.replace("_", " ")} "${name}"`

function isEndOf(entry, operation) {
  if (entry.kind === "step" || entry.kind === "step_attempt")
    return operation.kind === "step" && operation.name === entry.name
  return entry.kind === "wait"
}
