// Server-sent events that go on where a connection broke.
import { ApiError, ServerUnreachable } from "./errors.js"
import { Backoff, problem, sleep } from "./transport.js"

const SILENCE_MAX_MS = 60_000 // a stream says something every 25 s

/**
 * [sequence number, data] of a stream until the last one, or until nothing will ever come. `after`
 * is the number to begin after, if any; a connection that breaks is made again, and the stream goes
 * on after the last number seen.
 */
export async function* follow(transport, path, isLast, { query, after, signal } = {}) {
  const backoff = new Backoff()
  let until = performance.now() + transport.retryFor
  while (!signal?.aborted) {
    let failure = new Error("the stream broke off")
    try {
      for await (const [number, data] of connection(transport, transport.target(path, query), after, signal)) {
        if (number === undefined) return // nothing will ever come
        after = number
        yield [number, data]
        if (isLast(data)) return
        backoff.reset()
        until = performance.now() + transport.retryFor
      }
    } catch (error) {
      if (signal?.aborted) return
      if (error instanceof ApiError && error.status < 502) throw error
      failure = error
    }
    const pause = backoff.pause()
    if (performance.now() + pause > until)
      throw new ServerUnreachable(`the stream ${path} of ${transport.url.origin} cannot go on: ${failure.message}`,
        { cause: failure })
    await sleep(pause, signal)
  }
}

async function* connection(transport, target, after, signal) {
  const headers = { "last-event-id": after === undefined ? undefined : String(after), accept: "text/event-stream" }
  const response = await transport.open("GET", target, { headers, timeout: SILENCE_MAX_MS, signal })
  try {
    if (response.statusCode === 204) {
      yield []
      return
    }
    response.setEncoding("utf8")
    let text = ""
    let number
    for await (const piece of response) {
      text += piece
      if (response.statusCode !== 200) continue
      const lines = text.split("\n")
      text = lines.pop()
      for (const line of lines) {
        if (line.startsWith("id:")) number = Number(line.slice(3))
        else if (line.startsWith("data:") && number !== undefined) yield [number, JSON.parse(line.slice(5))]
      }
    }
    if (response.statusCode !== 200) throw problem(response.statusCode, text)
  } finally {
    response.destroy()
  }
}
