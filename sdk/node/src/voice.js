// What a worker says: to the logger it was given, or to standard error.
import { inspect } from "node:util"

function write(level, message, error) {
  const trace = error === undefined ? "" : `\n${inspect(error)}`
  process.stderr.write(`${new Date().toISOString()} ${level} abide: ${message}${trace}\n`)
}

/** For programs that give none: one line per event, and the stack of an error. */
export const defaultLogger = {
  info: message => write("INFO", message),
  warn: (message, error) => write("WARNING", message, error),
  error: (message, error) => write("ERROR", message, error),
}

/** Whether the server can be reached: said once per change, not once per try. */
export class Link {
  #state = "unknown" // "up", "down"

  constructor(logger, url, about) {
    Object.assign(this, { logger, url, about })
  }

  get isUp() {
    return this.#state === "up"
  }

  up() {
    if (this.#state === "up") return
    const again = this.#state === "down" ? "again " : ""
    this.#state = "up"
    this.logger.info?.(`connected ${again}to ${this.url}; ${this.about}`)
  }

  down(why) {
    if (this.#state === "down") return
    const what = this.#state === "up" ? `connection to ${this.url} lost` : `cannot reach ${this.url}`
    this.#state = "down"
    this.logger.warn(`${what}: ${why}; trying again until it is back`)
  }
}

/** What to do about a claim that the server refuses for good. */
export function wayOut(status, url, hasToken) {
  const make = "make one with `abide token create --name NAME --scope worker`, " +
    "and pass it as { token } or in $ABIDE_TOKEN"
  if (status === 401 && hasToken) return `the server does not know this token; ${make}`
  if (status === 401) return `the server asks for a token and none was given; ${make}`
  if (status === 403) return `the token lacks the scope worker; ${make}`
  if (status === 404 || status === 405)
    return `${url} has no such route: look whether { server } or $ABIDE_SERVER is the URL of an abide server`
  return "the worker cannot go on"
}
