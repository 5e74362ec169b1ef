// Starting a run: its input, those of earlier runs to begin with, and its options.

import { call, get, query, runPath, seg } from "./api"
import { ask, type Field } from "./dialog"
import { cli, curl, parsed, pretty, sdk, short } from "./format"
import { go, href } from "./route"
import type { Entry, Json, Page, Run, RunItem, Workflow } from "./types"

const EARLIER = 5
const lastInputs = new Map<string, string>() // by workflow, of this tab
const OPTIONS: Field[] = [{ name: "id", label: "Id", hint: "Empty: one is made. An id that exists starts nothing." }, { name: "tags", label: "Tags, with commas" }, { name: "delay", label: "Delay", hint: "Such as 10s or 2h; empty: now." },
  { name: "priority", label: "Priority", kind: "number", hint: "-1000 to 1000, higher first; empty: of the workflow." }, { name: "queue", label: "Queue of its tasks", hint: "Empty: of the workflow." }, { name: "timeout", label: "Timeout", hint: "Such as 1h; empty: of the workflow." }]

type Values = Record<string, string>
const tagsOf = (values: Values): string[] => (values["tags"] ?? "").split(",").map(tag => tag.trim()).filter(Boolean)
function optionsOf(values: Values): { [name: string]: string | number | string[] } {
  const tags = tagsOf(values)
  return { ...Object.fromEntries(["id", "queue", "delay", "timeout"].flatMap(key => values[key] ? [[key, values[key]]] : [])), ...(values["priority"] ? { priority: Number(values["priority"]) } : {}), ...(tags.length ? { tags } : {}) }
}
// The input is sent as it was written.
function bodyOf(workflow: string, values: Values): string {
  const rest = JSON.stringify({ workflow, ...optionsOf(values) }), input = (values["input"] ?? "").trim()
  return input ? `${rest.slice(0, -1)},"input":${input}}` : rest
}
function wordsOf(values: Values): string[] {
  return [...(values["input"] ? [values["input"]] : []), ...["id", "delay", "priority", "queue", "timeout"].flatMap(name => values[name] ? [`--${name}`, values[name]] : []), ...tagsOf(values).flatMap(tag => ["--tag", tag])]
}

// What the newest runs began with, each once.
async function earlierInputs(workflow: string): Promise<string[]> {
  const runs = (await get<Page<RunItem>>(`/v1/runs${query({ workflow, limit: EARLIER })}`)).items
  const logs = await Promise.all(runs.map(run => get<Page<Entry>>(`${runPath(run.id)}/log?limit=1`)))
  const inputs = logs.flatMap(log => log.items[0]?.kind === "started" && log.items[0].data !== undefined ? [pretty(log.items[0].data)] : [])
  return [...new Set([...(lastInputs.has(workflow) ? [lastInputs.get(workflow) ?? ""] : []), ...inputs])]
}

// An input to begin with, by the schema that the workflow has for it: what it must have, and what it may.
function skeleton(schema: Json | undefined): Json {
  if (schema === null || typeof schema !== "object" || Array.isArray(schema)) return null
  if (schema["default"] !== undefined) return schema["default"]
  if (Array.isArray(schema["enum"])) return schema["enum"][0] ?? null
  const { properties } = schema
  if (properties !== null && typeof properties === "object" && !Array.isArray(properties)) return Object.fromEntries(Object.entries(properties).map(([key, each]) => [key, skeleton(each)]))
  const empties: Record<string, Json> = { string: "", number: 0, integer: 0, boolean: false, array: [], object: {} }
  return empties[String(schema["type"])] ?? null
}
async function schemaOf(workflow: string): Promise<Json | undefined> {
  const { config } = await get<Workflow>(`/v1/workflows/${seg(workflow)}`)
  return config !== null && typeof config === "object" && !Array.isArray(config) ? config["input"] : undefined
}

export async function startRun(name: string): Promise<void> {
  const [earlier, schema] = await Promise.all([earlierInputs(name).catch(() => []), schemaOf(name).catch(() => undefined)])
  const first = lastInputs.get(name) ?? (schema === undefined ? "{}" : pretty(skeleton(schema) ?? {}))
  ask({
    title: `Start ${name}`, button: "Start",
    fields: [...(earlier.length ? [{ name: "earlier", label: "Begin with", kind: "choice" as const, fill: "input", choices: [[first, "a new input"] as [string, string], ...earlier.map((each): [string, string] => [each, `earlier: ${short(each.replaceAll(/\s+/g, " "), 60)}`])] }] : []),
      { name: "input", label: "Input (JSON)", kind: "json", value: first, ...(schema === undefined ? {} : { hint: `It must fit ${short(schema, 400)}` }) }, ...OPTIONS],
    commands: values => [cli("wf", "start", name, ...wordsOf(values)), curl("POST", "/v1/runs", bodyOf(name, values)), sdk("start", name, parsed(values["input"]), optionsOf(values))],
    action: async values => {
      const run = await call<Run>("POST", "/v1/runs", bodyOf(name, values))
      lastInputs.set(name, values["input"] ?? "{}")
      go(href("runs", run.id))
    },
  })
}
