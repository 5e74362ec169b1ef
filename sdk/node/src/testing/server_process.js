// ServerProcess: an `abide serve` of one test. It keeps nothing, and its time stands still.
import { spawn } from "node:child_process"
import readline from "node:readline"

const ARGUMENTS = ["serve", "--store", "memory:", "--listen", "127.0.0.1:0", "--virtual-time"]
const LINES_MAX = 20 // of its log, for an error
const living = new Set()

// A test that ends in a hurry leaves no server behind.
process.on("exit", () => living.forEach(child => child.kill("SIGKILL")))

export class ServerProcess {
  #child
  #ended

  /** Resolves when it can be asked. */
  static async start(binary = process.env.ABIDE_BIN ?? "abide", logger) {
    const server = new ServerProcess()
    await server.#start(binary, logger)
    return server
  }

  async #start(binary, logger) {
    const lines = []
    this.#child = spawn(binary, ARGUMENTS, { stdio: ["ignore", "ignore", "pipe"] })
    living.add(this.#child)
    this.#ended = new Promise(resolve => this.#child.once("close", resolve))
    await new Promise((resolve, reject) => {
      this.#child.once("error", error => reject(new Error(`cannot start ${binary}: ${error.message}; ` +
        "say where the program abide is with the option `binary` or with $ABIDE_BIN", { cause: error })))
      this.#ended.then(code => reject(new Error(`${binary} ended with ${code}: ${lines.join("\n")}`)))
      readline.createInterface({ input: this.#child.stderr }).on("line", line => {
        logger?.debug?.(line)
        if (lines.push(line) > LINES_MAX) lines.shift()
        const match = /listening on (http:\/\/\S+:\d+)$/.exec(line)
        if (match) resolve(this.url = match[1])
      })
    })
  }

  async close() {
    living.delete(this.#child)
    this.#child.kill("SIGKILL")
    await this.#ended
  }
}
