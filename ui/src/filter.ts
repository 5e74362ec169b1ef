// The words of the search box, as parameters of GET /v1/runs.

export const KEYS = [
  { key: "status", example: "status:failed", meaning: "its state; several with commas" },
  { key: "workflow", example: "workflow:order", meaning: "the workflow's name" },
  { key: "tag", example: "tag:eu", meaning: "a tag it has" },
  { key: "waiting", example: "waiting:approval", meaning: "a signal, topic, task or child that it waits for" },
  { key: "parent", example: "parent:order-1", meaning: "children of a run" },
  { key: "state", example: "state.customer=42", meaning: "what its script has set with State.set" },
]
const PARAMETERS: Record<string, string> = { status: "status", workflow: "workflow", tag: "tag", waiting: "waiting_on", parent: "parent" }

export function parse(text: string): { values: Record<string, string>; problem: string } {
  const values: Record<string, string> = {}
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const state = /^state\.([^=]+=.*)$/.exec(word)?.[1]
    const [, key = "", value = ""] = /^([a-z]+):(.*)$/.exec(word) ?? []
    const name = state ? "state" : PARAMETERS[key]
    if (!name || !(state ?? value)) return { values, problem: `“${word}” is no filter. There are ${KEYS.map(each => each.example).join(", ")}.` }
    if (name in values) return { values, problem: `${key || "state"} is there twice.` }
    values[name] = state ?? value
  }
  return { values, problem: "" }
}
