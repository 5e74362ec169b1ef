// Groups of requests: client.tasks, client.schedules, client.queues, …
//
// Answers are the JSON of the API as it is (docs/http.md says what is in it). Requests that the
// server cannot tell from a second one are sent once (transport.js, [T2]).
import { randomUUID } from "node:crypto"
import { argument, fields, milliseconds, path } from "./fields.js"
import { follow } from "./stream.js"

const REPEATABLE = { isRepeatable: true }

/** The items of a list, page after page. */
export async function* pages(transport, target, query, member = "items") {
  let cursor
  do {
    const page = await transport.call("GET", target, { query: { ...query, cursor } })
    yield* page[member]
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
}

class Group {
  constructor(transport) {
    // Not enumerable: a client that is printed should not show its transport once per group.
    Object.defineProperty(this, "transport", { value: transport })
  }

  _call(method, target, options) {
    return this.transport.call(method, target, options)
  }

  async _changed(target) {
    return (await this._call("POST", target, REPEATABLE)).changed
  }

  _pages(call, target, options = {}, names = "") {
    return pages(this.transport, target, fields(call, options, `${names} limit`))
  }
}

export class Workflows extends Group {
  list(options) {
    return this._pages("workflows.list", "/v1/workflows", options, "name")
  }

  async show(name, options = {}) {
    return this._call("GET", path`/v1/workflows/${name}`, { query: fields("workflows.show", options, "version") })
  }

  async places(name, options = {}) {
    return this._call("GET", path`/v1/workflows/${name}/places`, { query: fields("workflows.places", options, "version") })
  }
}

const TASK_FIELDS = "id queue priority delay attempts retry_delay retry_factor retry_max_delay timeout " +
  "schedule_timeout heartbeat_timeout concurrency_key"

export class Tasks extends Group {
  async create(name, input = null, options = {}) {
    const body = fields("tasks.create", options, TASK_FIELDS)
    return this._call("POST", "/v1/tasks", {
      body: { id: `task_${randomUUID()}`, ...body, name: argument("tasks.create", "name", name), input }, ...REPEATABLE,
    })
  }

  async show(taskId) {
    return this._call("GET", path`/v1/tasks/${taskId}`)
  }

  list(options) {
    return this._pages("tasks.list", "/v1/tasks", options, "status[] queue name run")
  }

  async retry(taskId) {
    return this._call("POST", path`/v1/tasks/${taskId}/retry`)
  }

  // ---- for workers; the class Worker does all of this ----

  async claim(worker, options = {}) {
    const body = fields("tasks.claim", options, "queues names max wait lease")
    const answer = await this._call("POST", "/v1/tasks/claim", {
      body: { worker: argument("tasks.claim", "worker", worker), ...body }, wait: milliseconds(body.wait ?? 0),
    })
    return answer.tasks
  }

  async complete(results) {
    const body = { results: argument("tasks.complete", "results", results) }
    return (await this._call("POST", "/v1/tasks/complete", { body, ...REPEATABLE })).results
  }

  async completeAndClaim(results, worker, options = {}) {
    const claim = { worker: argument("tasks.completeAndClaim", "worker", worker),
                    ...fields("tasks.completeAndClaim", options, "queues names max lease") }
    const body = { results: argument("tasks.completeAndClaim", "results", results), claim }
    return this._call("POST", "/v1/tasks/complete", { body })
  }

  async heartbeat(tasks, options = {}) {
    const body = { tasks: argument("tasks.heartbeat", "tasks", tasks), ...fields("tasks.heartbeat", options, "lease") }
    return (await this._call("POST", "/v1/tasks/heartbeat", { body, ...REPEATABLE })).tasks
  }
}

export class CodeTurns extends Group {
  async register(workflows) {
    const body = { workflows: argument("codeTurns.register", "workflows", workflows) }
    return (await this._call("POST", "/v1/turns/register", { body, ...REPEATABLE })).workflows
  }

  async claim(worker, workflows, options = {}) {
    const more = fields("codeTurns.claim", options, "max wait lease")
    const answer = await this._call("POST", "/v1/turns/claim", {
      body: {
        worker: argument("codeTurns.claim", "worker", worker),
        workflows: argument("codeTurns.claim", "workflows", workflows), ...more,
      },
      wait: milliseconds(more.wait ?? 0),
    })
    return answer.turns
  }

  async commit(turns, options = {}) {
    const more = fields("codeTurns.commit", options, "claim")
    const body = { turns: argument("codeTurns.commit", "turns", turns), ...more }
    const answer = await this._call("POST", "/v1/turns/commit", { body })
    return more.claim === undefined ? answer.turns : answer
  }

  async heartbeat(turns, options = {}) {
    const body = { turns: argument("codeTurns.heartbeat", "turns", turns), ...fields("codeTurns.heartbeat", options, "lease") }
    return (await this._call("POST", "/v1/turns/heartbeat", { body, ...REPEATABLE })).turns
  }

  async journal(turn) {
    const body = { turn: argument("codeTurns.journal", "turn", turn) }
    return this._call("POST", "/v1/turns/journal", { body, ...REPEATABLE })
  }
}

export class Topics extends Group {
  list(options) {
    return this._pages("topics.list", "/v1/topics", options)
  }

  async show(topic) {
    return this._call("GET", path`/v1/topics/${topic}`)
  }

  async set(topic, options = {}) {
    return this._call("PUT", path`/v1/topics/${topic}`,
      { body: fields("topics.set", options, "consume visible expire cap") })
  }

  async change(topic, options = {}) {
    return this._call("PATCH", path`/v1/topics/${topic}`,
      { body: fields("topics.change", options, "consume visible expire cap") })
  }

  events(topic, options) {
    return this._pages("topics.events", path`/v1/topics/${topic}/events`, options)
  }

  async removeEvents(topic) {
    return (await this._call("DELETE", path`/v1/topics/${topic}/events`, { isRepeatable: false })).removed
  }

  async removeEvent(topic, eventId) {
    const answer = await this._call("DELETE", path`/v1/topics/${topic}/events/${eventId}`)
    return answer === undefined || answer.removed > 0
  }
}

export class DeadLetters extends Group {
  list(options) {
    return this._pages("deadLetters.list", "/v1/dead-letters", options)
  }

  async replay(letterId) {
    return this._call("POST", path`/v1/dead-letters/${letterId}/replay`)
  }

  async remove(letterId) {
    await this._call("DELETE", path`/v1/dead-letters/${letterId}`)
  }
}

const SCHEDULE_FIELDS = "cron every at timezone jitter overlap catch_up priority timeout ttl tags paused"

export class Schedules extends Group {
  list(options) {
    return this._pages("schedules.list", "/v1/schedules", options)
  }

  async show(name) {
    return this._call("GET", path`/v1/schedules/${name}`)
  }

  async set(name, workflow, input = null, options = {}) {
    const body = fields("schedules.set", options, SCHEDULE_FIELDS)
    if ([body.cron, body.every, body.at].filter(when => when !== undefined).length !== 1)
      throw new TypeError("schedules.set: give one of cron, every and at")
    return this._call("PUT", path`/v1/schedules/${name}`,
      { body: { workflow: argument("schedules.set", "workflow", workflow), input, ...body } })
  }

  async remove(name) {
    await this._call("DELETE", path`/v1/schedules/${name}`)
  }

  async pause(name) {
    return this._changed(path`/v1/schedules/${name}/pause`)
  }

  async resume(name) {
    return this._changed(path`/v1/schedules/${name}/resume`)
  }

  async trigger(name) {
    return this._call("POST", path`/v1/schedules/${name}/trigger`)
  }

  async backfill(name, start, end) {
    const body = { from: argument("schedules.backfill", "from", start), to: argument("schedules.backfill", "to", end) }
    return this._call("POST", path`/v1/schedules/${name}/backfill`, { body, ...REPEATABLE })
  }
}

export class Queues extends Group {
  list(options) {
    return this._pages("queues.list", "/v1/queues", options)
  }

  async show(name) {
    return this._call("GET", path`/v1/queues/${name}`)
  }

  async set(name, options = {}) {
    const body = fields("queues.set", options, "max_running max_per_key rate_count rate_period paused")
    if ((body.rate_count === undefined) !== (body.rate_period === undefined))
      throw new TypeError("queues.set: rateCount and ratePeriod go together")
    return this._call("PUT", path`/v1/queues/${name}`, { body })
  }

  async change(name, options = {}) {
    const body = fields("queues.change", options, "max_running max_per_key rate_count rate_period paused")
    return this._call("PATCH", path`/v1/queues/${name}`, { body })
  }

  async reset(name) {
    return (await this._call("DELETE", path`/v1/queues/${name}`)).changed
  }

  async pause(name) {
    return this._changed(path`/v1/queues/${name}/pause`)
  }

  async resume(name) {
    return this._changed(path`/v1/queues/${name}/resume`)
  }
}

export class Tokens extends Group {
  async create(name, scopes, options = {}) {
    const body = {
      name: argument("tokens.create", "name", name), scopes: argument("tokens.create", "scopes", scopes),
      ...fields("tokens.create", options, "expires"),
    }
    return this._call("POST", "/v1/tokens", { body })
  }

  list(options) {
    return this._pages("tokens.list", "/v1/tokens", options)
  }

  async remove(tokenId) {
    await this._call("DELETE", path`/v1/tokens/${tokenId}`)
  }
}

export class ServerInfo extends Group {
  async live() {
    return this._call("GET", "/livez", { retryFor: 0 })
  }

  async ready() {
    return this._call("GET", "/readyz", { retryFor: 0 })
  }

  async health() {
    return this._call("GET", "/healthz", { retryFor: 0 })
  }

  async version() {
    return (await this._call("GET", "/version")).version
  }

  async stats() {
    return this._call("GET", "/v1/stats")
  }

  async nodes() {
    return (await this._call("GET", "/v1/nodes")).items
  }

  async settings() {
    return (await this._call("GET", "/v1/settings")).items
  }

  async workers() {
    return this._call("GET", "/v1/workers")
  }

  async time() {
    return this._call("GET", "/v1/time")
  }

  async advance(options = {}) {
    const body = fields("server.advance", options, "by to wait")
    return this._call("POST", "/v1/time/advance", { body, wait: milliseconds(body.wait ?? 30000) })
  }

  async rates({ since, step } = {}) {
    return this._call("GET", "/v1/rates", { query: { since, step } })
  }

  async attention() {
    return this._call("GET", "/v1/attention")
  }

  async access() {
    return this._call("GET", "/v1/access")
  }

  async filter(text, position) {
    return this._call("GET", "/v1/filter", { query: { q: text, at: position } })
  }

  async metrics() {
    return this.transport.send("GET", "/metrics")
  }

  async openapi() {
    return this._call("GET", "/openapi.json")
  }

  async page() {
    return this.transport.send("GET", "/")
  }
}

// A handler that failed is answered with 500 and is an answer all the same.
function isHandler(status, text) {
  if (status !== 500) return status < 400
  try {
    return JSON.parse(text).handler_id !== undefined
  } catch {
    return false
  }
}

const isStop = ({ type, types }) => [type, ...(types ?? [])].includes("StopEvent")

export class Handlers extends Group {
  list(options = {}) {
    const query = fields("handlers.list", options, "handler_id[] status[] workflow_name[] idle_before limit")
    return pages(this.transport, "/handlers", query, "handlers")
  }

  async show(handlerId) {
    return this._call("GET", path`/handlers/${handlerId}`, { isAnswer: isHandler })
  }

  async result(handlerId) {
    return this._call("GET", path`/results/${handlerId}`, { isAnswer: isHandler })
  }

  async start(workflow, startEvent, options = {}) {
    const body = { start_event: startEvent, ...fields("handlers.start", options, "kwargs handler_id") }
    return this._call("POST", path`/workflows/${workflow}/run-nowait`, { body, isAnswer: isHandler })
  }

  async run(workflow, startEvent, options = {}) {
    const { timeout = 300, ...more } = fields("handlers.run", options, "kwargs handler_id timeout")
    return this._call("POST", path`/workflows/${workflow}/run`,
      { body: { start_event: startEvent, ...more }, isAnswer: isHandler, wait: milliseconds(timeout) })
  }

  async send(handlerId, event, options = {}) {
    return this._call("POST", path`/events/${handlerId}`,
      { body: { event, ...fields("handlers.send", options, "step") } })
  }

  async *stream(handlerId, { after = -1, signal, ...options } = {}) {
    const query = {
      after_sequence: after, ...fields("handlers.stream", options, "include_internal include_qualified_name"),
    }
    const target = path`/events/${handlerId}`
    for await (const [sequence, envelope] of follow(this.transport, target, isStop, { query, signal }))
      yield { sequence, ...envelope }
  }

  async cancel(handlerId, options = {}) {
    return this._call("POST", path`/handlers/${handlerId}/cancel`,
      { query: fields("handlers.cancel", options, "purge") })
  }

  async release(handlerId) {
    return this._call("POST", path`/handlers/${handlerId}/release`, REPEATABLE)
  }

  async health() {
    return this._call("GET", "/health", { retryFor: 0 })
  }

  async workflows() {
    return (await this._call("GET", "/workflows")).workflows
  }

  async schema(workflow) {
    return this._call("GET", path`/workflows/${workflow}/schema`)
  }

  async eventSchemas(workflow) {
    return (await this._call("GET", path`/workflows/${workflow}/events`)).events
  }

  async graph(workflow) {
    return (await this._call("GET", path`/workflows/${workflow}/representation`)).graph
  }
}
