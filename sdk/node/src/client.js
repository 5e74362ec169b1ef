// Client: what a program asks of an abide server.
//
// Answers are the JSON of the API as it is (docs/http.md says what is in it).
import { randomUUID } from "node:crypto"
import { ApiError, RunFailed, ServerUnreachable, WaitTimeout } from "./errors.js"
import { Backoff, Transport, milliseconds, problem, sleep } from "./transport.js"

const WAIT_MS = 25_000 // of one long poll
const SILENCE_MAX_MS = 60_000 // a stream says something every 25 s
const quote = encodeURIComponent
const inMilliseconds = duration => `${Math.round(milliseconds(duration))}ms`

export class Client {
  constructor(options = {}) {
    this.transport = new Transport(options)
    this.tasks = new Tasks(this.transport)
  }

  close() {
    this.transport.close()
  }

  // ---- workflows ----

  deploy(name, source) {
    return this.transport.call("PUT", `/v1/workflows/${quote(name)}`, { text: source })
  }

  // ---- runs ----

  start(workflow, input, options = {}) {
    const { key, wait, traceparent, startAt, ...fields } = options
    return this.transport.call("POST", "/v1/runs", {
      query: { wait: wait === undefined ? undefined : inMilliseconds(wait) },
      wait: wait === undefined ? 0 : milliseconds(wait),
      headers: { "idempotency-key": key ?? (fields.id ? undefined : randomUUID()), traceparent },
      body: { workflow, input, start_at: startAt, ...fields },
    })
  }

  async result(runId, { timeout } = {}) {
    const until = timeout === undefined ? Infinity : performance.now() + milliseconds(timeout)
    for (;;) {
      const wait = Math.max(0, Math.min(WAIT_MS, until - performance.now()))
      const answer = await this.transport.call("GET", `/v1/runs/${quote(runId)}/result`,
        { query: { wait: `${Math.round(wait)}ms` }, wait })
      if (answer.status === "completed") return answer.result
      if (answer.status === "failed" || answer.status === "cancelled")
        throw new RunFailed(runId, answer.status, answer.error)
      if (performance.now() >= until) throw new WaitTimeout(`run ${runId} is still ${answer.status}`)
    }
  }

  async run(workflow, input, { resultTimeout, ...options } = {}) {
    const { id } = await this.start(workflow, input, options)
    return this.result(id, { timeout: resultTimeout })
  }

  show(runId) {
    return this.transport.call("GET", `/v1/runs/${quote(runId)}`)
  }

  list(filter = {}) {
    const { waitingOn, idleBefore, createdBefore, createdAfter, pageSize, ...rest } = filter
    return pages(this.transport, "/v1/runs", {
      ...rest, waiting_on: waitingOn, idle_before: idleBefore, created_before: createdBefore,
      created_after: createdAfter, limit: pageSize,
    })
  }

  async cancel(runId, { reason, grace } = {}) {
    const answer = await this.transport.call("POST", `/v1/runs/${quote(runId)}/cancel`,
      { body: { reason, grace } })
    return answer.changed
  }

  signal(runId, name, payload = null, { id = randomUUID(), traceparent } = {}) {
    return this.transport.call("POST", `/v1/runs/${quote(runId)}/signals/${quote(name)}`,
      { body: payload, query: { id }, headers: { traceparent } })
  }

  emit(topic, payload = null, { id = randomUUID(), traceparent } = {}) {
    return this.transport.call("POST", `/v1/events/${quote(topic)}`,
      { body: payload, query: { id }, headers: { traceparent } })
  }

  // ---- streams ----

  /** A connection that breaks is made again, and the stream goes on after the last entry seen. */
  async *stream(runId, { after = 0, signal } = {}) {
    const backoff = new Backoff()
    let until = performance.now() + this.transport.retryFor
    while (!signal?.aborted) {
      let failure = new Error("the stream broke off")
      try {
        for await (const entry of this.#entries(runId, after, signal)) {
          if (entry === null) return // nothing will ever come
          after = entry.seq
          yield entry
          if (entry.kind === "finished") return
          backoff.reset()
          until = performance.now() + this.transport.retryFor
        }
      } catch (error) {
        if (signal?.aborted) return
        if (error instanceof ApiError && error.status < 500) throw error
        failure = error
      }
      const pause = backoff.pause()
      if (performance.now() + pause > until)
        throw new ServerUnreachable(`the stream of ${runId} cannot go on: ${failure.message}`, { cause: failure })
      await sleep(pause, signal)
    }
  }

  // Of one connection.
  async *#entries(runId, after, signal) {
    const response = await this.transport.open("GET", `/v1/runs/${quote(runId)}/events`,
      { headers: { "last-event-id": String(after) }, timeout: SILENCE_MAX_MS, signal })
    try {
      if (response.statusCode === 204) yield null
      if (response.statusCode === 204) return
      response.setEncoding("utf8")
      let text = ""
      for await (const piece of response) {
        text += piece
        if (response.statusCode !== 200) continue
        const lines = text.split("\n")
        text = lines.pop()
        for (const line of lines) if (line.startsWith("data:")) yield JSON.parse(line.slice(5))
      }
      if (response.statusCode !== 200) throw problem(response.statusCode, text)
    } finally {
      response.destroy()
    }
  }
}

/** Tasks that belong to no run. */
class Tasks {
  #transport

  constructor(transport) {
    this.#transport = transport
  }

  create(name, input, options = {}) {
    const { retryDelay, retryFactor, retryMaxDelay, scheduleTimeout, heartbeatTimeout, concurrencyKey, ...rest } = options
    return this.#transport.call("POST", "/v1/tasks", {
      body: {
        id: `task_${randomUUID()}`, name, input, retry_delay: retryDelay, retry_factor: retryFactor,
        retry_max_delay: retryMaxDelay, schedule_timeout: scheduleTimeout,
        heartbeat_timeout: heartbeatTimeout, concurrency_key: concurrencyKey, ...rest,
      },
    })
  }

  show(taskId) {
    return this.#transport.call("GET", `/v1/tasks/${quote(taskId)}`)
  }

  list({ pageSize, ...filter } = {}) {
    return pages(this.#transport, "/v1/tasks", { ...filter, limit: pageSize })
  }

  retry(taskId) {
    return this.#transport.call("POST", `/v1/tasks/${quote(taskId)}/retry`, { retryFor: 0 })
  }
}

// The items of a list, page after page.
async function* pages(transport, path, query) {
  let cursor
  do {
    const page = await transport.call("GET", path, { query: { ...query, cursor } })
    yield* page.items
    cursor = page.next
  } while (cursor !== null)
}
