// Client: what a program asks of an abide server.
//
// Answers are the JSON of the API as it is (docs/http.md says what is in it). Runs are asked about
// here; everything else has a group of its own (resources.js).
import { randomUUID } from "node:crypto"
import { isDefinition } from "./definition.js"
import { RunFailed, WaitTimeout } from "./errors.js"
import { argument, fields, inMilliseconds, milliseconds, path } from "./fields.js"
import {
  DeadLetters, Handlers, Queues, Schedules, ServerInfo, Tasks, Tokens, Topics, CodeTurns, Workflows, pages,
} from "./resources.js"
import { RunHandle } from "./handle.js"
import { follow } from "./stream.js"
import { Transport } from "./transport.js"

const WAIT_MS = 25_000 // of one long poll
const START_FIELDS = "id start_at delay priority queue timeout ttl tags leftover_signals leftover_topic"
const RUN_FILTER = "q status[] workflow[] tag parent waiting_on state idle_before created_before created_after where limit"

const ENDED = new Set(["completed", "failed", "cancelled"])

function resultOf(runId, { status, result, error }) {
  if (status === "completed") return result
  throw new RunFailed(runId, status, error)
}

export class Client {
  constructor(options = {}) {
    this.transport = new Transport(options)
    this.deadLetters = new DeadLetters(this.transport)
    this.handlers = new Handlers(this.transport)
    this.queues = new Queues(this.transport)
    this.schedules = new Schedules(this.transport)
    this.server = new ServerInfo(this.transport)
    this.tasks = new Tasks(this.transport)
    this.tokens = new Tokens(this.transport)
    this.topics = new Topics(this.transport)
    this.codeTurns = new CodeTurns(this.transport)
    this.workflows = new Workflows(this.transport)
  }

  close() {
    this.transport.close()
  }

  // ---- sources ----

  async deploy(name, source, options = {}) {
    return this.transport.call("PUT", path`/v1/workflows/${name}`,
      { text: source, query: fields("deploy", options, "file") })
  }

  async plan(name, source, options = {}) {
    return this.transport.call("PUT", path`/v1/workflows/${name}`,
      { text: source, query: { ...fields("plan", options, "file"), plan: "true" } })
  }

  async check(source, options = {}) {
    return this.transport.call("POST", "/v1/check",
      { text: source, query: fields("check", options, "file"), isRepeatable: true })
  }

  // ---- runs ----

  async start(workflow, input, options) {
    const run = await this.#begin(workflow, input, options)
    return isDefinition(workflow) ? new RunHandle(this, run) : run
  }

  async #begin(workflow, input = null, options = {}) {
    const { key, wait, traceparent, tracestate, ...body } =
      fields("start", options, `${START_FIELDS} key wait traceparent tracestate`)
    const name = isDefinition(workflow) ? workflow.name : argument("start", "workflow", workflow)
    return this.transport.call("POST", "/v1/runs", {
      query: { wait: wait === undefined ? undefined : inMilliseconds(wait) },
      wait: milliseconds(wait ?? 0),
      headers: { "idempotency-key": key ?? (body.id ? undefined : randomUUID()), traceparent, tracestate },
      body: { workflow: name, input, ...body }, isRepeatable: true,
    })
  }

  handle(runId, definition) {
    if (definition !== undefined && !isDefinition(definition))
      throw new TypeError("handle: the second value is what workflow() answers")
    return new RunHandle(this, { id: argument("handle", "id", runId) })
  }

  async result(runId, options = {}) {
    const { timeout } = fields("result", options, "timeout")
    return resultOf(runId, await this.#end(runId, timeout))
  }

  async wait(runId, options = {}) {
    await this.#end(runId, fields("wait", options, "timeout").timeout)
    return this.show(runId)
  }

  // How the run ended, once it has.
  async #end(runId, timeout) {
    const until = timeout === undefined ? Infinity : performance.now() + milliseconds(timeout)
    const target = path`/v1/runs/${runId}/result`
    for (;;) {
      const wait = Math.max(0, Math.min(WAIT_MS, until - performance.now()))
      const answer = await this.transport.call("GET", target, { query: { wait: `${Math.round(wait)}ms` }, wait })
      if (ENDED.has(answer.status)) return answer
      if (performance.now() >= until) throw new WaitTimeout(`run ${runId} is still ${answer.status}`)
    }
  }

  async run(workflow, input, { resultTimeout, ...options } = {}) {
    const until = resultTimeout === undefined ? Infinity : performance.now() + milliseconds(resultTimeout, "resultTimeout")
    const wait = Math.min(WAIT_MS, until - performance.now()) / 1000 // most runs need one request
    const run = await this.#begin(workflow, input, { wait, ...options })
    if (ENDED.has(run.status)) return resultOf(run.id, run)
    return this.result(run.id, until === Infinity ? {} : { timeout: Math.max(0, until - performance.now()) / 1000 })
  }

  async show(runId) {
    return this.transport.call("GET", path`/v1/runs/${runId}`)
  }

  list(options = {}) {
    return pages(this.transport, "/v1/runs", fields("list", options, RUN_FILTER))
  }

  async *changes({ after, signal, ...options } = {}) {
    const query = fields("changes", options, "kind[] run")
    for await (const [, data] of follow(this.transport, "/v1/changes", () => false, { query, after, signal })) yield data
  }

  async changeMany(verb, options = {}) {
    const body = fields("changeMany", options, "ids q dry_run limit cursor reason grace version step iteration")
    return this.transport.call("POST", "/v1/runs/bulk", { body: { verb: argument("changeMany", "verb", verb), ...body } })
  }

  async remove(runId) {
    await this.transport.call("DELETE", path`/v1/runs/${runId}`)
  }

  // ---- changing a run; answers say whether anything changed ----

  async #change(target, body = {}) {
    return (await this.transport.call("POST", target, { body, isRepeatable: true })).changed
  }

  async cancel(runId, options = {}) {
    return this.#change(path`/v1/runs/${runId}/cancel`, fields("cancel", options, "reason grace"))
  }

  async pause(runId) {
    return this.#change(path`/v1/runs/${runId}/pause`)
  }

  async resume(runId) {
    return this.#change(path`/v1/runs/${runId}/resume`)
  }

  async release(runId) {
    return this.#change(path`/v1/runs/${runId}/release`)
  }

  async load(runId) {
    return this.#change(path`/v1/runs/${runId}/load`)
  }

  async rewind(runId, step, options = {}) {
    const body = { step: argument("rewind", "step", step), ...fields("rewind", options, "iteration") }
    return this.transport.call("POST", path`/v1/runs/${runId}/rewind`, { body })
  }

  async move(runId, options = {}) {
    return this.transport.call("POST", path`/v1/runs/${runId}/move`, { body: fields("move", options, "version dry_run") })
  }

  async set(runId, values, options = {}) {
    const body = { values: argument("set", "values", values), ...fields("set", options, "dry_run") }
    return this.transport.call("POST", path`/v1/runs/${runId}/set`, { body })
  }

  async retry(runId, options = {}) {
    return this.transport.call("POST", path`/v1/runs/${runId}/retry`, { body: fields("retry", options, "id version dry_run") })
  }

  async fork(runId, options = {}) {
    return this.transport.call("POST", path`/v1/runs/${runId}/fork`,
      { body: fields("fork", options, "step iteration id version dry_run") })
  }

  // ---- looking into a run ----

  steps(runId, options = {}) {
    return pages(this.transport, path`/v1/runs/${runId}/steps`, fields("steps", options, "name iteration limit"))
  }

  async *log(runId, options = {}) {
    const query = { after: 0, ...fields("log", options, "after limit") }
    const target = path`/v1/runs/${runId}/log`
    do {
      const page = await this.transport.call("GET", target, { query })
      yield* page.items
      query.after = page.next
    } while (query.after !== null)
  }

  async *stream(runId, { signal, ...options } = {}) {
    const { after = 0 } = fields("stream", options, "after")
    const isLast = entry => entry.kind === "finished"
    for await (const [, entry] of follow(this.transport, path`/v1/runs/${runId}/events`, isLast, { after, signal }))
      yield entry
  }

  turns(runId, options = {}) {
    return pages(this.transport, path`/v1/runs/${runId}/turns`, fields("turns", options, "limit"))
  }

  async diff(runId, fromTurn, toTurn) {
    return this.transport.call("GET", path`/v1/runs/${runId}/diff`, { query: { from: fromTurn, to: toTurn } })
  }

  async snapshot(runId, options = {}) {
    return this.transport.call("GET", path`/v1/runs/${runId}/snapshot`,
      { query: fields("snapshot", options, "depth path turn") })
  }

  async tryRun(runId, options = {}) {
    const body = fields("tryRun", options, "tasks children signals events time turn version source")
    return this.transport.call("POST", path`/v1/runs/${runId}/try`, { body })
  }

  async copy(runId, options = {}) {
    return this.transport.call("GET", path`/v1/runs/${runId}/copy`, { query: fields("copy", options, "turn secrets") })
  }

  // ---- signals and events ----

  async signal(runId, name, payload = null, options = {}) {
    return this.#publish("signal", path`/v1/runs/${runId}/signals/${name}`, payload, options)
  }

  async emit(topic, payload = null, options = {}) {
    return this.#publish("emit", path`/v1/events/${topic}`, payload, options)
  }

  async #publish(call, target, payload, options) {
    const { id = randomUUID(), traceparent } = fields(call, options, "id traceparent")
    return this.transport.call("POST", target,
      { body: payload, query: { id }, headers: { traceparent }, isRepeatable: true })
  }

  signals(runId, options = {}) {
    return pages(this.transport, path`/v1/runs/${runId}/signals`, fields("signals", options, "limit"))
  }

  async removeSignals(runId, options = {}) {
    const query = fields("removeSignals", options, "name id")
    const answer = await this.transport.call("DELETE", path`/v1/runs/${runId}/signals`,
      { query, isRepeatable: query.id !== undefined })
    return answer.removed
  }
}
