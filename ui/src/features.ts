// What the server can do, by its own description: what an older server lacks is not offered.

import { get, link } from "./api"

interface Operation {
  parameters?: { name: string }[]
  requestBody?: { content?: { [type: string]: { schema?: { properties?: { [name: string]: { description?: string } } } } } }
}
type Paths = { [path: string]: { [method: string]: Operation } }

let paths: Paths = {}
let loading: Promise<void> | null = null

const plain = (path: string): string => path.replaceAll(/\{[^}]*\}/g, "{}")

async function load(): Promise<void> {
  const answer = await get<{ paths: Paths }>("/openapi.json")
  paths = Object.fromEntries(Object.entries(answer.paths).map(([path, methods]) => [plain(path), methods]))
  link.onChange()
}

export const loadFeatures = (): Promise<void> => loading = load()
// For those who must know before they go on, also right after the page was opened.
export const featuresKnown = (): Promise<void> => (loading ?? loadFeatures()).catch(() => {})

const operation = (method: string, path: string): Operation | undefined => paths[plain(path)]?.[method.toLowerCase()]
const fieldOf = (it: Operation | undefined, name: string): { description?: string } | undefined =>
  it?.requestBody?.content?.["application/json"]?.schema?.properties?.[name] ?? (it?.parameters?.some(each => each.name === name) ? {} : undefined)

// Whether there is such a route and, if one is named, whether it takes this field or parameter.
export const has = (method: string, path: string, field = ""): boolean => {
  const it = operation(method, path)
  return it !== undefined && (field === "" || fieldOf(it, field) !== undefined)
}
// Whether POST /v1/runs/bulk knows the verb.
export const hasVerb = (verb: string): boolean =>
  new RegExp(`\\b${verb}\\b`).test(fieldOf(operation("POST", "/v1/runs/bulk"), "verb")?.description ?? "")
