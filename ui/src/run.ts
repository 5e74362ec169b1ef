// One run: what is loaded of it, and the parts that its page is made of.

import { html, nothing, type TemplateResult } from "lit-html"
import { get, query, Refused, runPath, seg } from "./api"
import { getOrNull, keysOf, type Keys, type View } from "./app"
import { tells } from "./changes"
import { short, span, version } from "./format"
import { History } from "./history"
import { acting, card, empty, errorBlock, runLink, state, value, when, workflowLink, type Piece } from "./parts"
import { quoted } from "./places"
import { href, type Place } from "./route"
import { RunActions } from "./run_actions"
import { Standing } from "./standing"
import { Timeline, type Bar } from "./timeline"
import { Turns } from "./turns"
import { isDelayed, retryIn, waitsView } from "./waits"
import { WhatIf } from "./whatif"
import { isOver, type Page, type Pending, type Run, type RunItem, type Snapshot, type Task, type Workflow } from "./types"

const DEPTH = 4 // of variables

export function runView({ name: id, options }: Place): View {
  const path = runPath(id)
  let run: Run | null = null, snapshot: Snapshot | null = null, workflow: Workflow | null = null
  let tasks: Task[] = [], signals: Pending[] = [], children: RunItem[] = [], isMissing = false
  const actions = new RunActions(id), history = new History(id, actions), standing = new Standing(actions), timeline = new Timeline()
  const turns = new Turns(id, options.get("turn"), DEPTH), whatIf = new WhatIf(id)

  // The stream of the run itself is not read: a run that somebody reads stays in memory, and looking should change
  // nothing.
  async function load(): Promise<void> {
    const it = await getOrNull<Run>(path)
    run = it
    isMissing = it === null
    if (!it) return
    const source = it.version && it.version !== workflow?.version ? `/v1/workflows/${seg(it.workflow)}${query({ version: it.version })}` : null
    const [where, flow, its, kept, kin] = await Promise.all([
      get<Snapshot>(`${path}/snapshot?depth=${DEPTH}`).catch(error => {
        if (error instanceof Refused) return null // what is kept of it cannot be read; the run says why
        throw error
      }),
      source ? getOrNull<Workflow>(source) : workflow,
      get<Page<Task>>(`/v1/tasks${query({ run: id, limit: 500 })}`),
      get<Page<Pending>>(`${path}/signals?limit=100`),
      get<Page<RunItem>>(`/v1/runs${query({ parent: id, limit: 100 })}`),
      turns.load(), history.load(it),
    ])
    snapshot = where
    workflow = flow
    tasks = its.items
    signals = kept.items
    children = kin.items
    await timeline.load(history.entries, tasks)
  }

  const retryOf = (bar: Bar): Piece => {
    const task = bar.kind === "task" && bar.to === null ? tasks.find(each => each.name === bar.name && isDelayed(each)) : undefined
    return task ? html` ${retryIn(task, it => actions.retryTask(it))}` : nothing
  }
  // What one wants to know first, in a line.
  const lead = (it: Run): TemplateResult => {
    const begun = Date.parse(it.created_at ?? ""), end = it.finished_at ? Date.parse(it.finished_at) : Date.now()
    return html`<p class="lead-line">${workflowLink(it.workflow)}${it.version ? html` <code>${version(it.version)}</code>` : nothing} · started ${when(it.created_at)} · ${isOver(it.status) ? `took ${span(end - begun)}` : `for ${span(end - begun)}`}${it.attempt > 1 ? ` · attempt ${it.attempt}` : ""}${it.parent_id ? html` · child of ${runLink(it.parent_id)}` : nothing}${it.tags.map(tag => html` <a class="tag" href=${href("runs", "", { q: `tag:${quoted(tag)}` })}>${tag}</a>`)}</p>`
  }
  const unservedVersion = (it: Run): string => it.kind === "code" ? `No worker asks for version ${it.version ?? ""} of ${it.workflow}. Start one that registers it, and the run goes on.`
    : `This server does not have the code of ${it.workflow}. Start a program that registers it, and the run goes on.`
  const signalItem = (one: Pending): TemplateResult => html`<li><b>${one.name}</b> <code>${short(one.payload, 200)}</code> <span class="soft">${when(one.created_at)}</span> ${acting(html`<button class="small-button" aria-label="Remove the signal ${one.name}" @click=${() => actions.removeSignal(one)}>Remove</button>`)}</li>`

  function view(): TemplateResult {
    if (isMissing) return html`<h1>There is no such run</h1><div class="card">${empty(html`There is no run <code>${id}</code>. It may have been removed after its time. <a href=${href("runs")}>All runs</a>`)}</div>`
    const it = run
    if (!it) return html`<h1 class="wrapping">${id}</h1><div class="card">${empty("Loading…")}</div>`
    const input = history.entries.find(entry => entry.kind === "started")?.data
    return html`
      <p class="crumbs"><a href=${href("runs")}>Runs</a> / ${workflowLink(it.workflow)}</p>
      <div class="title"><h1 class="wrapping">${it.id}</h1>${state(it.status)}</div>
      ${lead(it)}
      ${actions.view(it)}
      ${it.waits_for_code ? html`<p class="warn" role="status">${unservedVersion(it)}</p>` : nothing}
      ${it.pause_reason ? card("Paused because", html`<div class="pad">${errorBlock(it.pause_reason)}</div>`, nothing, "alert") : nothing}
      ${it.error ? card(it.status === "cancelled" ? "Cancelled" : "Error", html`<div class="pad">${errorBlock(it.error)}</div>`, nothing, "alert") : nothing}
      ${it.status === "completed" ? card("Result", html`<div class="pad">${value(it.result)}</div>`, nothing, "good") : nothing}
      <div class="split"><div>
        ${waitsView(it, tasks, task => actions.retryTask(task))}
        ${turns.view()}
        ${standing.source(it, snapshot, workflow, turns.frames())}
        ${card("Timeline", timeline.view(it, history.entries, tasks, retryOf))}
        ${whatIf.view(it)}
        ${history.view(it)}</div>
      <div class="side">
        ${standing.values(it, snapshot, turns.frames())}
        ${input === undefined ? nothing : card("Input", html`<div class="pad">${value(input)}</div>`)}
        ${children.length ? card("Children", html`<ul class="plain">${children.map(child => html`<li>${runLink(child.id)} ${state(child.status)} <span class="soft">${child.workflow}</span></li>`)}</ul>`) : nothing}
        ${signals.length ? card("Signals not taken yet", html`<ul class="plain">${signals.map(signalItem)}</ul>`) : nothing}
        ${standing.about(it)}</div></div>`
  }

  const isLive = (): boolean => run !== null && !isOver(run.status)
  return {
    title: id, load, view,
    close: () => history.close(),
    follows: news => tells(news, "runs", one => !one.id || one.id === id || children.some(child => child.id === one.id))
      || tells(news, "tasks", one => !one.id || tasks.some(task => task.id === one.id)),
    means: () => run ? actions.means(run) : [],
    get keys(): Keys {
      return {
        ...keysOf({
          s: ["send a signal", () => run && isLive() && actions.signal(run)], f: ["fork from the start", () => run && void actions.fork(run, null)],
          p: ["pause or resume", () => isLive() && (run?.status === "paused" ? actions.simple("resume", "goes on", "pause") : actions.simple("pause", "paused", "resume"))],
          x: ["cancel or remove", () => run && (isLive() ? actions.cancel() : actions.remove())],
        }),
        t: ["to the timeline", () => document.querySelector<HTMLElement>(".timeline")?.focus()],
        h: ["to the history", () => document.getElementById("log")?.focus()],
        P: ["print", () => print()],
      }
    },
  }
}
