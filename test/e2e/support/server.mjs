// Starts `abide serve` for a test that is a program of Node, and ends it with the test.
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import readline from "node:readline"
import { after } from "node:test"

const ABIDE = path.join(process.env.ABIDE_BUILD_DIR, "abide")
const PATIENCE_MS = 120_000

export class Server {
  constructor({ store, port = 0, flags = [] } = {}) {
    this.folder = mkdtempSync(path.join(tmpdir(), "abide-"))
    this.store = store ?? `sqlite:${this.folder}/test.db`
    this.port = port
    this.flags = flags
    this.lines = []
  }

  get url() {
    return `http://127.0.0.1:${this.port}`
  }

  async start() {
    this.process = spawn(ABIDE, ["serve", "--store", this.store, "--listen", `127.0.0.1:${this.port}`, ...this.flags],
      { stdio: ["ignore", "ignore", "pipe"] })
    this.ended = new Promise(resolve => this.process.once("exit", resolve))
    await new Promise((resolve, reject) => {
      this.ended.then(code => reject(new Error(`the server ended with ${code}: ${this.lines.join("\n")}`)))
      readline.createInterface({ input: this.process.stderr }).on("line", line => {
        this.lines.push(line)
        const match = /listening on http:\/\/.*:(\d+)$/.exec(line)
        if (match) resolve(this.port = Number(match[1]))
      })
    })
    return this
  }

  async kill() {
    this.process.kill("SIGKILL")
    await this.ended
  }

  async close() {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A server that lives as long as the file's tests. */
export async function startServer(options) {
  const server = await new Server(options).start()
  after(() => server.close())
  return server
}

/** Until `condition()` answers something; answers that. */
export async function waitUntil(condition, what = "it did not happen") {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await condition()
    if (answer) return answer
    if (performance.now() > end) throw new Error(typeof what === "function" ? what() : what)
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
