// A client of the Language Server Protocol: messages over the standard input and output of a process.
//
// Not here: what the messages mean for the editor (extension.js).
"use strict"
const { spawn } = require("node:child_process")

const BODY_MAX = 64 << 20

class Client {
  // `on` has notification(method, params), ended(text): the process is gone, or could not be started.
  constructor(command, args, on) {
    this.on = on
    this.pending = new Map()
    this.lastId = 0
    this.received = Buffer.alloc(0)
    this.isClosed = false
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] })
    this.process.on("error", error => this.end(error.message))
    this.process.on("exit", code => this.end(`it ended with code ${code}`))
    this.process.stdin.on("error", () => {}) // its end is told by `exit`
    this.process.stdout.on("data", data => this.receive(data))
  }

  send(message) {
    const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }))
    this.process.stdin.write(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]))
  }

  notify(method, params) {
    if (!this.isClosed) this.send({ method, params })
  }

  request(method, params) {
    if (this.isClosed) return Promise.reject(new Error("the language server has ended"))
    const id = ++this.lastId
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject })
      this.send({ id, method, params })
    })
  }

  receive(data) {
    this.received = Buffer.concat([this.received, data])
    for (;;) {
      const end = this.received.indexOf("\r\n\r\n")
      if (end < 0) return
      const length = Number(/Content-Length: *(\d+)/i.exec(this.received.toString("latin1", 0, end))?.[1] ?? NaN)
      if (!(length <= BODY_MAX)) return this.close()
      if (this.received.length < end + 4 + length) return
      const text = this.received.toString("utf8", end + 4, end + 4 + length)
      this.received = this.received.subarray(end + 4 + length)
      this.take(JSON.parse(text))
    }
  }

  take(message) {
    const waiting = message.method === undefined ? this.pending.get(message.id) : undefined
    if (waiting !== undefined) {
      this.pending.delete(message.id)
      if (message.error) waiting.reject(new Error(message.error.message))
      else waiting.resolve(message.result)
    } else if (message.id !== undefined && message.method !== undefined) {
      this.send({ id: message.id, error: { code: -32601, message: "not supported" } })
    } else if (message.method !== undefined) {
      this.on.notification(message.method, message.params)
    }
  }

  end(text) {
    if (this.isClosed) return
    this.isClosed = true
    for (const { reject } of this.pending.values()) reject(new Error("the language server has ended"))
    this.pending.clear()
    this.on.ended(text)
  }

  // Ends the process in order; `ended` is not called.
  async close() {
    if (this.isClosed) return
    const gone = new Promise(resolve => this.process.once("exit", resolve))
    await this.request("shutdown").catch(() => {})
    this.notify("exit")
    this.isClosed = true
    await gone
  }
}

module.exports = { Client }
