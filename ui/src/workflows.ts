// Workflows: what is deployed, its versions and source, starting runs, and deploying.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, get, query, Refused, seg } from "./api"
import { getOrNull, keysOf, reload, type View } from "./app"
import { tells } from "./changes"
import { ask } from "./dialog"
import { cli, curl, pretty, segment, version } from "./format"
import { acting, card, empty, facts, small, state, tree, when, type Piece } from "./parts"
import { go, href, type Place } from "./route"
import { sourceView } from "./source"
import type { Page, Run, RunItem, Workflow, WorkflowItem } from "./types"

const RUNS_SHOWN = 10, LINES_SAMPLED = 100

const lastInputs = new Map<string, string>() // by workflow, of this tab

export function startRun(name: string): void {
  const bodyOf = (values: Record<string, string>): string => {
    const more = Object.fromEntries(["id", "queue", "delay", "timeout"].flatMap(key => values[key] ? [[key, values[key]]] : []))
    const tags = (values["tags"] ?? "").split(",").map(tag => tag.trim()).filter(Boolean)
    const rest = JSON.stringify({ workflow: name, ...more, ...(tags.length ? { tags } : {}) })
    const input = (values["input"] ?? "").trim()
    return input ? `${rest.slice(0, -1)},"input":${input}}` : rest
  }
  ask({
    title: `Start ${name}`, button: "Start",
    fields: [{ name: "input", label: "Input (JSON)", kind: "json", value: lastInputs.get(name) ?? "{}" }, { name: "id", label: "Id", hint: "Empty: one is made. An id that exists starts nothing." },
      { name: "tags", label: "Tags, with commas" }, { name: "delay", label: "Delay", hint: "Such as 10s or 2h; empty: now." }],
    commands: values => [curl("POST", "/v1/runs", bodyOf(values)), cli("wf", "start", name, ...(values["input"] ? [values["input"]] : []), ...(values["id"] ? ["--id", values["id"]] : []),
      ...(values["tags"] ?? "").split(",").map(tag => tag.trim()).filter(Boolean).flatMap(tag => ["--tag", tag]), ...(values["delay"] ? ["--delay", values["delay"]] : []))],
    action: async values => {
      const run = await call<Run>("POST", "/v1/runs", bodyOf(values))
      lastInputs.set(name, values["input"] ?? "{}")
      go(href("runs", run.id))
    },
  })
}

export function deploy(name = "", source = "", file = ""): void {
  ask({
    title: name ? `Deploy a version of ${name}` : "Deploy a workflow", button: "Deploy",
    text: "Runs that have begun finish on the version they began with.",
    fields: [{ name: "name", label: "Name", value: name, required: true }, { name: "source", label: "Source", kind: "source", value: source, required: true }],
    commands: values => [cli("deploy", file || `${values["name"] ?? ""}.flow`), `curl -X PUT --data-binary @${file || "FILE"} '${location.origin}/v1/workflows/${segment(values["name"] ?? "")}'`],
    action: async values => {
      try {
        const done = await call<{ version: string; warnings: { message: string; line: number }[] }>("PUT", `/v1/workflows/${seg(values["name"] ?? "")}${query({ file })}`, values["source"] ?? "")
        reload()
        if (done.warnings.length === 0) return go(href("workflows", values["name"] ?? ""))
        return html`<p>Deployed as version <code>${version(done.version)}</code>, with warnings:</p><ul>${done.warnings.map(each => html`<li>line ${each.line}: ${each.message}</li>`)}</ul>`
      } catch (error) {
        if (error instanceof Refused && error.findings.length)
          throw new Error(error.findings.map(each => `line ${each.line}: ${each.message}${each.hint ? ` ${each.hint}` : ""}`).join("\n"))
        throw error
      }
    },
  })
}

export function workflowsView(): View {
  let items: WorkflowItem[] | null = null
  const rows = (all: WorkflowItem[]): TemplateResult => html`<div class="card scroll" tabindex="0" role="region" aria-label="List of workflows"><table><thead><tr><th scope="col">Workflow</th><th scope="col">Kind</th><th scope="col">Version</th><th scope="col">Deployed</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
    <tbody>${all.map(each => html`<tr><td><a href=${href("workflows", each.name)}><b>${each.name}</b></a></td><td class="soft">${each.kind === "native" ? "C function" : each.file ?? "script"}</td><td><code>${version(each.version)}</code></td><td class="soft">${when(each.created_at)}</td>
      <td class="right">${small("Start…", each.name, () => startRun(each.name))} <a class="small" href=${href("runs", "", { q: `workflow:${each.name}` })}>its runs</a></td></tr>`)}</tbody></table></div>`
  return {
    title: "Workflows",
    follows: news => tells(news, "workflows"),
    load: async () => {
      items = (await get<Page<WorkflowItem>>("/v1/workflows?limit=1000")).items.filter(each => each.current).sort((a, b) => a.name < b.name ? -1 : 1)
    },
    get keys() {
      return keysOf({ d: ["deploy", () => deploy()] })
    },
    view: () => html`<div class="title"><h1>Workflows</h1>${acting(html`<button @click=${() => deploy()}>Deploy…</button>`)}</div>
      ${items === null ? nothing : items.length ? rows(items) : html`<div class="card">${empty("Nothing is deployed yet. Deploy a script here, or save a .flow file in the folder of abide dev.")}</div>`}`,
  }
}

export function workflowView({ name, options }: Place): View {
  const wanted = options.get("version") ?? ""
  let workflow: Workflow | null = null, versions: WorkflowItem[] = [], runs: RunItem[] = [], isMissing = false
  const load = async (): Promise<void> => {
    const [one, all, some] = await Promise.all([getOrNull<Workflow>(`/v1/workflows/${seg(name)}${query({ version: wanted })}`),
      get<Page<WorkflowItem>>(`/v1/workflows${query({ name, limit: LINES_SAMPLED })}`), get<Page<RunItem>>(`/v1/runs${query({ workflow: name, limit: RUNS_SHOWN })}`)])
    workflow = one
    isMissing = one === null
    versions = all.items
    runs = some.items
  }
  const source = (it: Workflow): Piece => it.source
    ? html`<section class="card" aria-label="Source"><div class="card-head"><h2>Source</h2><span class="soft small">${it.file ?? ""} ${version(it.version)}${it.current ? "" : ", not the current version"}</span></div>${sourceView(it.source, [], {})}</section>`
    : html`<div class="card">${empty("A C function: the program that registers it has its source.")}</div>`
  return {
    title: name, load,
    follows: news => tells(news, "workflows", one => !one.name || one.name === name) || tells(news, "runs", one => !one.workflow || one.workflow === name),
    get keys() {
      return keysOf({ s: ["start a run", () => startRun(name)] })
    },
    view: () => isMissing ? html`<h1>There is no such workflow</h1><div class="card">${empty(html`There is no workflow <code>${name}</code>${wanted ? " with that version" : ""}. <a href=${href("workflows")}>All workflows</a>`)}</div>` : html`
      <p class="crumbs"><a href=${href("workflows")}>Workflows</a></p>
      <div class="title"><h1 class="wrapping">${name}</h1></div>
      <div class="row actions">${acting(html`<button class="primary" @click=${() => startRun(name)}>Start…</button>${workflow?.source ? html`<button @click=${() => deploy(name, workflow?.source ?? "", workflow?.file ?? "")}>Deploy a version…</button>` : nothing}`)}<a class="button" href=${href("runs", "", { q: `workflow:${name}` })}>Its runs</a></div>
      ${workflow ? html`<div class="split">${source(workflow)}<div class="side">
        ${card("Newest runs", runs.length ? html`<ul class="plain">${runs.map(run => html`<li><a class="mono" href=${href("runs", run.id)}>${run.id}</a> ${state(run.status)} <span class="soft">${when(run.created_at)}</span></li>`)}</ul>` : empty("None."))}
        ${card("Versions", html`<ul class="plain">${versions.map(each => html`<li><a href=${href("workflows", name, { version: each.version })} aria-current=${each.version === workflow?.version ? "true" : nothing}><code>${version(each.version)}</code></a> ${each.current ? html`<b>current</b>` : nothing} <span class="soft">${when(each.created_at)}</span></li>`)}</ul>`)}
        ${card("About", html`${facts([["File", workflow.file], ["Deployed", when(workflow.created_at)], ["Code", workflow.registered ? null : "not on this node"]])}${workflow.config && pretty(workflow.config) !== "{}" ? html`<div class="tree pad">${tree(workflow.config, "config", 1)}</div>` : nothing}`)}
      </div></div>` : nothing}`,
  }
}
