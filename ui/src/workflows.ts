// Workflows: what is deployed; of one, its source with where its runs stand, its versions, runs and schedules.

import { html, nothing, type TemplateResult } from "lit-html"
import { get, query, seg } from "./api"
import { getOrNull, keysOf, type Keys, type View } from "./app"
import { tells } from "./changes"
import { compareView } from "./compare"
import { timing } from "./cron"
import { deploy } from "./deploy"
import { cli, count, curl, pretty, sdk, segment, version } from "./format"
import { acting, card, empty, facts, small, state, tree, when, type Piece } from "./parts"
import { heatOf, loadPlaces, startOf, type Spot } from "./places"
import { go, href, type Place } from "./route"
import { sourceView } from "./source"
import { startRun } from "./start"
import type { Page, RunItem, Schedule, Workflow, WorkflowItem } from "./types"

const kindOf = (it: WorkflowItem): string => it.kind === "native" ? "C function" : it.kind === "code" ? "function of a worker" : it.file ?? "script"
const RUNS_SHOWN = 10, VERSIONS_SHOWN = 100

export function workflowsView(): View {
  let items: WorkflowItem[] | null = null
  const rows = (all: WorkflowItem[]): TemplateResult => html`<div class="card scroll" tabindex="0" role="region" aria-label="List of workflows"><table><thead><tr><th scope="col">Workflow</th><th scope="col">Kind</th><th scope="col">Version</th><th scope="col">Deployed</th><th scope="col"><span class="hidden">Actions</span></th></tr></thead>
    <tbody>${all.map(each => html`<tr><td><a href=${href("workflows", each.name)}><b>${each.name}</b></a></td><td class="soft">${kindOf(each)}</td><td><code>${version(each.version)}</code></td><td class="soft">${when(each.created_at)}</td>
      <td class="right">${small("Start…", each.name, () => startRun(each.name))} <a class="small" href=${href("runs", "", { q: `workflow:${each.name}` })}>its runs</a></td></tr>`)}</tbody></table></div>`
  return {
    title: "Workflows",
    follows: news => tells(news, "workflows"),
    load: async () => {
      items = (await get<Page<WorkflowItem>>("/v1/workflows?limit=1000")).items.filter(each => each.current).sort((a, b) => a.name < b.name ? -1 : 1)
    },
    means: () => [cli("workflow", "ls"), curl("GET", "/v1/workflows"), "for await (const workflow of client.workflows.list()) console.log(workflow.name)"],
    get keys() {
      return keysOf({ d: ["deploy a workflow", () => deploy()] })
    },
    view: () => html`<div class="title"><h1>Workflows</h1>${acting(html`<button @click=${() => deploy()}>Deploy…</button>`)}</div>
      ${items === null ? nothing : items.length ? rows(items) : html`<div class="card">${empty("Nothing is deployed yet. Deploy a script here, or save a .flow file in the folder of abide dev.")}</div>`}`,
  }
}

export function workflowView({ name, options }: Place): View {
  const wanted = options.get("version") ?? "", other = options.get("with") ?? "", path = `/v1/workflows/${seg(name)}`
  let workflow: Workflow | null = null, versions: WorkflowItem[] = [], runs: RunItem[] = [], isMissing = false
  let compared: Workflow | null = null, spots: Spot[] = [], schedules: Schedule[] = []
  const load = async (): Promise<void> => {
    const [one, all, some, second, plans] = await Promise.all([getOrNull<Workflow>(`${path}${query({ version: wanted })}`),
      get<Page<WorkflowItem>>(`/v1/workflows${query({ name, limit: VERSIONS_SHOWN })}`), get<Page<RunItem>>(`/v1/runs${query({ workflow: name, limit: RUNS_SHOWN })}`),
      other ? getOrNull<Workflow>(`${path}${query({ version: other })}`) : null, get<Page<Schedule>>("/v1/schedules?limit=1000")])
    workflow = one
    isMissing = one === null
    versions = all.items
    runs = some.items
    compared = second
    schedules = plans.items.filter(each => each.workflow === name)
    if (one?.source) spots = await loadPlaces(name, one.version)
  }
  const source = (it: Workflow): Piece => it.source
    ? html`<section class="card" aria-label="Source"><div class="card-head"><h2>Source</h2><span class="soft small">${it.file ?? ""} ${version(it.version)}${it.current ? "" : ", not the current version"}${spots.length ? `, ${count(spots.reduce((sum, each) => sum + each.waiting, 0))} runs wait in it` : ""}</span>${startOf(name, it.version, spots)}</div>${sourceView(it.source, [], {}, heatOf(name, it.version, spots))}</section>`
    : html`<div class="card">${empty(it.kind === "code" ? "A function of a worker: the worker that registers it has its source." : "A C function: the program that registers it has its source.")}</div>`
  const versionItem = (each: WorkflowItem): TemplateResult => html`<li><a href=${href("workflows", name, { version: each.version })} aria-current=${each.version === workflow?.version ? "true" : nothing}><code>${version(each.version)}</code></a> ${each.current ? html`<b>current</b>` : nothing} <span class="soft">${when(each.created_at)}</span>
    ${workflow?.source && each.version !== workflow.version ? html`<a class="small" aria-label="Compare with ${version(each.version)}" href=${href("workflows", name, { version: workflow.version, with: each.version })}>compare</a>` : nothing}</li>`
  const comparison = (it: Workflow): Piece => compared ? html`${(compared.created_at ?? "") < (it.created_at ?? "") ? compareView(compared, it) : compareView(it, compared)}` : nothing
  const side = (it: Workflow): TemplateResult => html`<div class="side">
    ${card("Newest runs", runs.length ? html`<ul class="plain">${runs.map(run => html`<li><a class="mono" href=${href("runs", run.id)}>${run.id}</a> ${state(run.status)} <span class="soft">${when(run.created_at)}</span></li>`)}</ul>` : empty("None."))}
    ${card("Versions", html`<ul class="plain">${versions.map(versionItem)}</ul>`)}
    ${schedules.length ? card("Schedules", html`<ul class="plain">${schedules.map(each => html`<li><a href=${href("schedules", each.name)}><b>${each.name}</b></a> <span class="soft">${timing(each)}${each.paused ? ", paused" : html`, next ${when(each.next_at)}`}</span></li>`)}</ul>`) : nothing}
    ${card("About", html`${facts([["File", it.file], ["Deployed", when(it.created_at)], ["Kind", it.file ? null : kindOf(it)], ["Code", it.registered ? null : it.kind === "code" ? "no worker asks for it" : "not on this node"]])}${it.config && pretty(it.config) !== "{}" ? html`<div class="tree pad">${tree(it.config, "config", 1)}</div>` : nothing}`)}</div>`
  return {
    title: name, load,
    follows: news => tells(news, "workflows", one => !one.name || one.name === name) || tells(news, "schedules") || tells(news, "runs", one => !one.workflow || one.workflow === name),
    means: () => [cli("wf", "ls", "--workflow", name), curl("GET", `/v1/workflows/${segment(name)}${query({ version: wanted })}`), sdk("workflows.show", name, wanted ? { version: wanted } : {})],
    get keys(): Keys {
      return { ...keysOf({ s: ["start a run", () => void startRun(name)], d: ["deploy a version", () => workflow?.source && deploy(name, workflow.source, workflow.file ?? "")] }), r: ["its runs", () => go(href("runs", "", { q: `workflow:${name}` }))] }
    },
    view: () => isMissing ? html`<h1>There is no such workflow</h1><div class="card">${empty(html`There is no workflow <code>${name}</code>${wanted ? " with that version" : ""}. <a href=${href("workflows")}>All workflows</a>`)}</div>` : html`
      <p class="crumbs"><a href=${href("workflows")}>Workflows</a></p>
      <div class="title"><h1 class="wrapping">${name}</h1></div>
      <div class="row actions">${acting(html`<button class="primary" @click=${() => startRun(name)}>Start…</button>${workflow?.source ? html`<button @click=${() => deploy(name, workflow?.source ?? "", workflow?.file ?? "")}>Deploy a version…</button>` : nothing}`)}<a class="button" href=${href("runs", "", { q: `workflow:${name}` })}>Its runs</a>${compared ? html`<a class="button" href=${href("workflows", name, { version: wanted })}>Back to the source</a>` : nothing}</div>
      ${workflow ? html`<div class="split"><div>${compared ? comparison(workflow) : source(workflow)}</div>${side(workflow)}</div>` : nothing}`,
  }
}
