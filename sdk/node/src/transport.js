// Requests to the server: kept-alive connections, retries, and nothing a caller has to know.
//
//   [T1] A request that may be sent twice without harm is sent again when no answer came: reads,
//        replacements (PUT), removals, and whatever carries a key, an id or a token that the server
//        knows it by.
//   [T2] Any other request goes out on a connection of its own and is sent again only if that
//        connection could not be made, because then nobody has seen it.
import http from "node:http"
import https from "node:https"
import { ApiError, ServerUnreachable, apiError } from "./errors.js"
import { milliseconds } from "./fields.js"

const BUSY = new Set([502, 503, 504]) // worth another try
const PERMANENT = new Set([400, 401, 403, 404, 405, 413, 422])
const IDLE_MS = 30_000 // a connection that was not used for so long is closed before the server does

/** Whether the server would refuse it again. */
export const isPermanent = error => error instanceof ApiError && PERMANENT.has(error.status)

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
  let body
  try {
    body = JSON.parse(text)
    if (body.detail) return apiError(status, body.code ?? `HTTP_${status}`, body.detail, body)
  } catch {} // not ours: a proxy in between
  return apiError(status, `HTTP_${status}`, text.slice(0, 200), body)
}

/** Whether the connection could not be made; then nothing was sent. A host may have several addresses. */
function isNotConnected(error) {
  return error.syscall === "connect" || error.syscall === "getaddrinfo" ||
    (error.errors?.length > 0 && error.errors.every(isNotConnected))
}

export class Transport {
  constructor({ server, token, timeout = 30, retryFor = 30, ca, ...unknown } = {}) {
    for (const name of Object.keys(unknown)) throw new TypeError(`there is no option ${JSON.stringify(name)}`)
    this.url = new URL(server ?? process.env.ABIDE_SERVER ?? "http://127.0.0.1:7433")
    if (!/^https?:$/.test(this.url.protocol)) throw new TypeError(`server: not the URL of a server: ${this.url}`)
    this.token = token ?? process.env.ABIDE_TOKEN
    this.timeout = milliseconds(timeout, "timeout")
    this.retryFor = milliseconds(retryFor, "retryFor")
    this.ca = ca
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
      .flatMap(([key, value]) => [value].flat().map(item => [key, item]))
    return path + (given.length ? "?" + new URLSearchParams(given) : "")
  }

  /** Begins a request; resolves with the response once its headers are there. */
  open(method, target, { body, headers, timeout = this.timeout, signal, agent = this.agent } = {}) {
    return new Promise((resolve, reject) => {
      const all = { "User-Agent": "abide-node", ...headers } // GET /v1/workers shows it
      if (this.token) all.authorization = `Bearer ${this.token}`
      for (const key of Object.keys(all)) if (all[key] === undefined) delete all[key]
      if (body !== undefined) all["content-length"] = Buffer.byteLength(body)
      const request = this.module.request({
        protocol: this.url.protocol,
        hostname: this.url.hostname.replace(/^\[|\]$/g, ""),
        port: this.url.port,
        path: this.base + target,
        method, agent, headers: all, signal,
        ...(agent ? {} : { ca: this.ca }),
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
   * `wait` is how much longer than usual the server may take, in milliseconds. `isRepeatable` is
   * true for everything but POST unless given; `isAnswer` says what counts as an answer.
   */
  async send(method, path, {
    query, body, text, headers, wait = 0, retryFor = this.retryFor, signal, isRepeatable = method !== "POST",
    isAnswer = status => status < 400,
  } = {}) {
    const target = this.target(path, query)
    const until = performance.now() + retryFor
    const backoff = new Backoff()
    const options = {
      body: text ?? (body === undefined ? undefined : JSON.stringify(body)), headers, signal,
      timeout: this.timeout + wait, agent: isRepeatable || retryFor === 0 ? this.agent : false, // [T2]
    }
    let wasLost = false // a try that may have had its effect
    for (;;) {
      let failure
      try {
        const answer = await this.once(method, target, options)
        if (isAnswer(answer.status, answer.text)) return answer.text
        if (method === "DELETE" && answer.status === 404 && wasLost) return "" // the try before has removed it
        failure = problem(answer.status, answer.text)
        if (!BUSY.has(answer.status) || !isRepeatable) throw failure
        wasLost = true
      } catch (error) {
        if (error instanceof ApiError || signal?.aborted) throw error
        const why = error.errors?.[0]?.message ?? error.message
        failure = new ServerUnreachable(`${this.url.origin} does not answer: ${why || error.code}`, { cause: error })
        if (!isNotConnected(error)) {
          if (!isRepeatable) throw failure // [T2]
          wasLost = true
        }
      }
      const pause = backoff.pause()
      if (performance.now() + pause > until) throw failure
      await sleep(pause, signal)
    }
  }

  /** send(), and the JSON of the answer; undefined when it is empty. */
  async call(method, path, options) {
    const text = await this.send(method, path, options)
    return text === "" ? undefined : JSON.parse(text)
  }
}
