// workflow(): a function that survives the process it runs in.
//
// A run stays on the version of the function that it began with. A version that nobody names is made
// of the function's source, so a program that changed has another one without anybody's doing.
import { createHash } from "node:crypto"
import { allowOnly, argument } from "./fields.js"

const VERSION_LENGTH = 12

const hashOf = body => createHash("sha256").update(Function.prototype.toString.call(body)).digest("hex")

export function workflow(about, body) {
  const options = typeof about === "string" ? { name: about } : about
  allowOnly("workflow", options, ["name", "version", "current", "description", "input"])
  if (typeof body !== "function") throw new TypeError(`workflow ${options.name}: needs a function`)
  const name = argument("workflow", "name", options.name)
  const version = options.version === undefined ? hashOf(body).slice(0, VERSION_LENGTH)
    : argument("workflow", "version", options.version)
  const { description, input, current } = options
  return Object.freeze({ name, version, current: current === true, description, input, body })
}

export const isDefinition = value => typeof value?.body === "function" && typeof value.version === "string"

/** The name of a workflow that is given as its definition or as a text. */
export function nameOf(call, workflow) {
  return isDefinition(workflow) ? workflow.name : argument(call, "workflow", workflow)
}
