// Requests to the server: kept-alive connections, retries, and nothing a caller has to know.
//
// Every request of this library may be sent twice without harm (starts carry an idempotency key,
// signals and events an id, results a token), so whatever gets no answer is sent again.
import http from "node:http"
import https from "node:https"
import { ApiError, ServerUnreachable } from "./errors.js"

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const BUSY = new Set([502, 503, 504]) // worth another try
const IDLE_MS = 30_000 // a connection that was not used for so long is closed before the server does

/** Milliseconds of a number of seconds, or of text such as "500ms", "2s", "24h". */
export function milliseconds(duration) {
  if (typeof duration === "number") return duration * 1000
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration).trim())
  if (!match) throw new TypeError(`not a duration: ${duration}; write it as in "500ms", "2s" or "24h"`)
  return Number(match[1]) * UNITS[match[2]]
}

/** Pauses that grow from `first` to `most` milliseconds, each somewhat random. */
export class Backoff {
  constructor(first = 50, most = 5000) {
    this.first = this.next = first
    this.most = most
  }

  reset() {
    this.next = this.first
  }

  pause() {
    const pause = this.next * (0.5 + Math.random() / 2)
    this.next = Math.min(this.most, this.next * 2)
    return pause
  }
}

/** Resolves after that long, or at once when the signal is aborted. */
export function sleep(ms, signal) {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve()
    const timer = setTimeout(done, ms)
    function done() {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    signal?.addEventListener("abort", done)
  })
}

export function problem(status, text) {
  try {
    const body = JSON.parse(text)
    if (body.code && body.detail) return new ApiError(status, body.code, body.detail, body)
  } catch {} // not ours: a proxy in between
  return new ApiError(status, `HTTP_${status}`, text.slice(0, 200), undefined)
}

export class Transport {
  constructor({ server, token, timeout = 30, retryFor = 30, ca } = {}) {
    this.url = new URL(server ?? process.env.ABIDE_SERVER ?? "http://127.0.0.1:7433")
    if (!/^https?:$/.test(this.url.protocol)) throw new TypeError(`not the URL of a server: ${server}`)
    this.token = token ?? process.env.ABIDE_TOKEN
    this.timeout = milliseconds(timeout)
    this.retryFor = milliseconds(retryFor)
    this.module = this.url.protocol === "https:" ? https : http
    this.agent = new this.module.Agent({ keepAlive: true, timeout: IDLE_MS, ca })
    this.base = this.url.pathname.replace(/\/$/, "")
  }

  close() {
    this.agent.destroy()
  }

  /** Path with its query; undefined values are left out. */
  target(path, query = {}) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
    return path + (given.length ? "?" + new URLSearchParams(given) : "")
  }

  /** Begins a request; resolves with the response once its headers are there. */
  open(method, target, { body, headers, timeout = this.timeout, signal } = {}) {
    return new Promise((resolve, reject) => {
      const all = { ...headers }
      if (this.token) all.authorization = `Bearer ${this.token}`
      for (const key of Object.keys(all)) if (all[key] === undefined) delete all[key]
      if (body !== undefined) all["content-length"] = Buffer.byteLength(body)
      const request = this.module.request({
        protocol: this.url.protocol,
        hostname: this.url.hostname.replace(/^\[|\]$/g, ""),
        port: this.url.port,
        path: this.base + target,
        method, agent: this.agent, headers: all, signal,
      }, resolve)
      request.setTimeout(timeout, () => request.destroy(new Error("timed out")))
      request.on("error", reject)
      request.end(body)
    })
  }

  async once(method, target, options) {
    const response = await this.open(method, target, options)
    const pieces = []
    for await (const piece of response) pieces.push(piece)
    return { status: response.statusCode, text: Buffer.concat(pieces).toString("utf8") }
  }

  /**
   * Tries until there is an answer or `retryFor` milliseconds are over; refusals are thrown.
   * `wait` is how much longer than usual the server may take, in milliseconds.
   */
  async call(method, path, { query, body, text, headers, wait = 0, retryFor = this.retryFor, signal } = {}) {
    const target = this.target(path, query)
    const data = text ?? (body === undefined ? undefined : JSON.stringify(body))
    const until = performance.now() + retryFor
    const backoff = new Backoff()
    for (;;) {
      let failure
      try {
        const answer = await this.once(method, target,
          { body: data, headers, timeout: this.timeout + wait, signal })
        if (answer.status < 400) return answer.text === "" ? undefined : JSON.parse(answer.text)
        failure = problem(answer.status, answer.text)
        if (!BUSY.has(answer.status)) throw failure
      } catch (error) {
        if (error instanceof ApiError || signal?.aborted) throw error
        const why = error.errors?.[0]?.message ?? error.message // a host may have several addresses
        failure = new ServerUnreachable(`${this.url.origin} does not answer: ${why || error.code}`,
          { cause: error })
      }
      const pause = backoff.pause()
      if (performance.now() + pause > until) throw failure
      await sleep(pause, signal)
    }
  }
}
