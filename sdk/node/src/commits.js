// Commits: what all runs of a worker have to say, in as few requests as possible.
//
//   [C1] While a request is out the commits of others gather; the next request carries them all. So
//        a single run has the latency of one request, and a thousand of them share it.
//   [C2] A request without an answer is sent again, as it was. Commits are numbered: one of a turn
//        that goes on is answered as it was the first time; any other that was taken is fenced
//        then, and its run is dropped and replayed.
//   [C3] A request that is refused as a whole is sent again in single commits, so that one cannot
//        hold up the others.
import { ApiError } from "./errors.js"
import { Backoff, sleep } from "./transport.js"

const TURNS_MAX = 1000
const BYTES_MAX = 8 << 20
const PERMANENT = new Set([400, 404, 405, 413, 422])

export class Commits {
  #waiting = [] // { text, told }
  #requests = 0 // that are out
  #isPlanned = false

  constructor(host) {
    this.host = host // transport, link, clock, counts
    this.isClosed = false
  }

  /** The answer to a request that has these commits. */
  async send(text) {
    return this.host.transport.call("POST", "/v1/turns/commit", { text, retryFor: 0 })
  }

  get isIdle() {
    return this.#waiting.length === 0 && this.#requests === 0
  }

  /** `told` is called with the server's verdict. */
  commit(text, told) {
    this.#waiting.push({ text, told })
    if (this.#isPlanned || this.#requests > 0) return
    this.#isPlanned = true
    setImmediate(() => { // those of one turn of the loop travel together
      this.#isPlanned = false
      this.#sendAll()
    })
  }

  async #sendAll() {
    this.#requests++
    while (this.#waiting.length > 0 && !this.isClosed) await this.#deliver(this.#next())
    this.#requests--
    if (this.isIdle) this.host.changed()
  }

  #next() {
    let count = 0
    let size = 0
    while (count < this.#waiting.length && count < TURNS_MAX && size < BYTES_MAX) size += this.#waiting[count++].text.length
    return this.#waiting.splice(0, count)
  }

  async #deliver(batch) {
    const { link, counts } = this.host
    const text = `{"turns":[${batch.map(commit => commit.text).join(",")}]}`
    const backoff = new Backoff(20)
    counts.commits += batch.length
    while (!this.isClosed) {
      counts.requests++
      try {
        const { turns } = await this.send(text)
        if (this.isClosed) return
        link.up()
        this.host.clock.learn(turns[0].now)
        return turns.forEach((verdict, index) => batch[index].told(verdict))
      } catch (error) {
        if (error instanceof ApiError && PERMANENT.has(error.status)) return this.#deliverApart(batch, error)
        link.down(error.message) // [C2]
        await sleep(backoff.pause())
      }
    }
  }

  async #deliverApart(batch, { code, detail }) { // [C3]
    if (batch.length === 1) return batch[0].told({ status: "refused", code, detail })
    for (const commit of batch) await this.#deliver([commit])
  }
}
