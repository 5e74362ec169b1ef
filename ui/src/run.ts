// One run: where it stands, what it waits for, what happened, and everything that can be done to it.

import { html, nothing, type TemplateResult } from "lit-html"
import { repeat } from "lit-html/directives/repeat.js"
import { call, get, may, query, Refused, runPath, seg } from "./api"
import { act, draw, getOrNull, keysOf, reload, type Keys, type View } from "./app"
import { tells } from "./changes"
import { ask, checkJson, tell } from "./dialog"
import { bytes, cli, curl, pretty, segment, short, span, unservedText, version, waitName } from "./format"
import { acting, card, code, command, empty, errorBlock, facts, runLink, shown as shownValue, state, tree, value, when, workflowLink, type Piece } from "./parts"
import { go, href, type Place } from "./route"
import { failedLine, sourceView } from "./source"
import { timelineView, type Bar } from "./timeline"
import { Turns } from "./turns"
import { move, WhatIf } from "./whatif"
import { isOver, type Entry, type Json, type Page, type Pending, type Run, type RunItem, type Snapshot, type Task, type Wait, type Workflow } from "./types"

const DEPTH = 4 // of variables
const LOG_PAGE = 1000, SHOWN = 200

const KINDS: Record<string, string> = {
  waiting: "waits for", wait: "woken by", task: "task queued", child: "child started", step: "step", step_attempt: "step tried",
  line: "console", stream: "stream", emit: "event sent", cancel_requested: "cancel requested", idle: "idle", released: "released from memory",
  reloaded: "loaded again", retry: "failed, tries again",
}

export function runView({ name: id, options }: Place): View {
  const path = runPath(id)
  let run: Run | null = null, snapshot: Snapshot | null = null, workflow: Workflow | null = null
  let entries: Entry[] = [], tasks: Task[] = [], signals: Pending[] = [], children: RunItem[] = []
  let isMissing = false, incarnation = -1, shown = SHOWN, isLoading = false, isAgain = false, frameAt = 0
  const turns = new Turns(id, options.get("turn"), DEPTH), whatIf = new WhatIf(id)

  async function loadLog(): Promise<void> {
    if (run && run.incarnation !== incarnation) {
      incarnation = run.incarnation
      entries = [] // a rewind changes what earlier entries count for
    }
    for (;;) {
      const page = await get<Page<Entry>>(`${path}/log${query({ after: entries.at(-1)?.seq ?? 0, limit: LOG_PAGE })}`)
      const last = entries.at(-1)?.seq ?? 0
      entries = entries.concat(page.items.filter(entry => entry.seq > last))
      if (!page.next || page.items.length === 0) return
      draw()
    }
  }

  // The stream of the run itself is not read: a run that somebody reads stays in memory, and looking should change
  // nothing.
  async function loadAll(): Promise<void> {
    run = await getOrNull<Run>(path)
    isMissing = run === null
    if (!run) return
    await loadLog()
    const source = run.version && run.version !== workflow?.version ? `/v1/workflows/${seg(run.workflow)}${query({ version: run.version })}` : null
    const [where, flow, its, kept, kin] = await Promise.all([
      get<Snapshot>(`${path}/snapshot?depth=${DEPTH}`).catch(error => {
        if (error instanceof Refused) return null // what is kept of it cannot be read; the run says why
        throw error
      }),
      source ? getOrNull<Workflow>(source) : workflow,
      get<Page<Task>>(`/v1/tasks${query({ run: id, limit: 500 })}`),
      get<Page<Pending>>(`${path}/signals?limit=100`),
      get<Page<RunItem>>(`/v1/runs${query({ parent: id, limit: 100 })}`),
      turns.load(),
    ])
    snapshot = where
    workflow = flow
    tasks = its.items
    signals = kept.items
    children = kin.items
  }

  // One at a time; what happens meanwhile is looked at afterwards.
  async function load(): Promise<void> {
    if (isLoading) {
      isAgain = true
      return
    }
    isLoading = true
    try {
      do {
        isAgain = false
        await loadAll()
      } while (isAgain)
    } finally {
      isLoading = false
    }
  }

  // ---- what can be done ----

  const simple = (word: string, said: string): Promise<boolean> => act(`${id}: ${said}.`, () => call("POST", `${path}/${word}`))

  const cancel = (): void => ask({
    title: `Cancel ${id}?`, text: "Its script gets a CancelledError where it waits; tasks and children are cancelled with it.", button: "Cancel the run", isDanger: true,
    fields: [{ name: "reason", label: "Reason (kept with the run)" }],
    commands: ({ reason }) => [cli("wf", "cancel", id, ...(reason ? ["--reason", reason] : [])), curl("POST", `/v1/runs/${segment(id)}/cancel`, JSON.stringify(reason ? { reason } : {}))],
    action: async ({ reason }) => {
      await call("POST", `${path}/cancel`, JSON.stringify(reason ? { reason } : {}))
      reload()
    },
  })

  const remove = (): void => ask({
    title: `Remove ${id}?`, text: "The run, its history and its tasks are gone for good.", button: "Remove the run", isDanger: true,
    commands: () => [cli("wf", "rm", id), curl("DELETE", `/v1/runs/${segment(id)}`)],
    action: async () => {
      await call("DELETE", path)
      go(href("runs"))
    },
  })

  const signal = (name = "", text = "{}"): void => ask({
    title: "Send a signal", button: "Send",
    fields: [{ name: "name", label: "Signal", value: name, required: true, list: (run?.waits ?? []).filter(wait => wait.on === "signal").map(waitName) },
      { name: "payload", label: "Payload (JSON)", kind: "json", value: text }],
    commands: values => signalCommands(values["name"] ?? "", values["payload"] ?? ""),
    action: async values => {
      await call("POST", `${path}/signals/${seg(values["name"] ?? "")}`, values["payload"] || undefined)
      reload()
    },
  })
  const signalCommands = (name: string, payload: string): string[] =>
    [cli("signal", id, name, ...(payload ? [payload] : [])), curl("POST", `/v1/runs/${segment(id)}/signals/${segment(name)}`, payload || undefined)]

  const stepBody = (entry: Entry | null, more: Record<string, string> = {}): string =>
    JSON.stringify({ ...(entry ? { step: entry.name, iteration: entry.iteration ?? 0 } : {}), ...more })
  const stepText = (entry: Entry): string => `${entry.name}${entry.iteration ? ` [${entry.iteration}]` : ""}`
  const stepWords = (entry: Entry | null): string[] => entry ? [entry.name ?? "", "--iteration", String(entry.iteration ?? 0)] : []

  const rewind = (entry: Entry): void => ask({
    title: `Rewind ${id} to ${stepText(entry)}?`, button: "Rewind the run", isDanger: true,
    text: "It goes back to the beginning of the turn that began this step. Tasks and children begun since are cancelled; events sent and signals taken since are not undone.",
    commands: () => [cli("wf", "rewind", id, ...stepWords(entry)), curl("POST", `/v1/runs/${segment(id)}/rewind`, stepBody(entry))],
    action: async () => {
      await call("POST", `${path}/rewind`, stepBody(entry))
      reload()
    },
  })

  const fork = (entry: Entry | null): void => ask({
    title: entry ? `Fork ${id} from ${stepText(entry)}` : `Fork ${id} from its start`, button: "Fork",
    text: "A new run begins there, with the results of what came before. This run stays as it is.",
    fields: [{ name: "id", label: "Id of the new run", hint: "Empty: one is made." }],
    commands: ({ id: other }) => [cli("wf", "fork", id, ...stepWords(entry), ...(other ? ["--id", other] : [])), curl("POST", `/v1/runs/${segment(id)}/fork`, stepBody(entry, other ? { id: other } : {}))],
    action: async ({ id: other }) => {
      const made = await call<Run>("POST", `${path}/fork`, stepBody(entry, other ? { id: other } : {}))
      go(href("runs", made.id))
    },
  })

  const retry = (): void => ask({
    title: `Retry ${id}`, button: "Retry", text: "A new run goes on at the last place where this one was well. This one stays as it is. If the cause is in the source, deploy first and fork instead.",
    fields: [{ name: "id", label: "Id of the new run", hint: "Empty: one is made." }],
    commands: ({ id: other }) => [cli("wf", "retry", id, ...(other ? ["--id", other] : [])), curl("POST", `/v1/runs/${segment(id)}/retry`, JSON.stringify(other ? { id: other } : {}))],
    action: async ({ id: other }) => {
      const made = await call<Run>("POST", `${path}/retry`, JSON.stringify(other ? { id: other } : {}))
      go(href("runs", made.id))
    },
  })

  const removeSignal = (one: Pending): void => ask({
    title: `Remove the signal ${one.name}?`, button: "Remove the signal", isDanger: true, text: "The run has not taken it, and will not see it.",
    commands: () => [curl("DELETE", `/v1/runs/${segment(id)}/signals?id=${segment(one.id)}`)],
    action: async () => {
      await call("DELETE", `${path}/signals${query({ id: one.id })}`)
      reload()
    },
  })

  const retryTask = (task: Task): Promise<boolean> => act(`${task.name}: due now.`, () => call("POST", `/v1/tasks/${seg(task.id)}/retry`))
  const isDelayed = (task: Task): boolean => task.status === "queued" && task.next_at !== null && Date.parse(task.next_at) > Date.now()

  const means = (): void => tell("The same by other means", html`${[cli("wf", "show", id), cli("wf", "watch", id), cli("wf", "result", id, "--wait"), curl("GET", `/v1/runs/${segment(id)}`), curl("GET", `/v1/runs/${segment(id)}/log`),
    cli("wf", run?.status === "paused" ? "resume" : "pause", id), curl("POST", `/v1/runs/${segment(id)}/${run?.status === "paused" ? "resume" : "pause"}`)].map(command)}`)

  function actions(it: Run): TemplateResult {
    const isLive = !isOver(it.status)
    if (!may("client")) return html`<div class="row actions"><button @click=${means}>Copy as…</button></div>`
    return html`<div class="row actions">
      ${isLive && it.status !== "paused" ? html`<button @click=${() => simple("pause", "paused")}>Pause</button>` : nothing}
      ${it.status === "paused" ? html`<button class="primary" @click=${() => simple("resume", "goes on")}>Resume</button>` : nothing}
      ${it.status === "failed" ? html`<button class="primary" @click=${retry}>Retry…</button>` : nothing}
      ${isLive ? html`<button @click=${() => signal()}>Signal…</button>` : nothing}
      ${it.status === "suspended" && it.idle_since && !it.released ? html`<button @click=${() => simple("release", "released from memory")}>Release</button>` : nothing}
      ${it.status === "suspended" && it.released ? html`<button @click=${() => simple("load", "loaded into memory")}>Load</button>` : nothing}
      <button @click=${() => fork(null)}>Fork…</button>
      ${it.kind === "flow" && it.status === "suspended" ? html`<button @click=${() => move(id)}>Move…</button>` : nothing}
      <button @click=${means}>Copy as…</button>
      ${isLive ? html`<button class="danger" ?disabled=${it.cancel_requested} @click=${cancel}>${it.cancel_requested ? "Cancelling" : "Cancel…"}</button>` : html`<button class="danger" @click=${remove}>Remove…</button>`}
    </div>`
  }

  // ---- what it waits for ----

  async function answer(event: Event, wait: Wait): Promise<void> {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const text = String(new FormData(form).get("payload") ?? "")
    await act(`${wait.name}: sent.`, () => {
      checkJson(text)
      return call("POST", wait.on === "signal" ? `${path}/signals/${seg(wait.name ?? "")}` : `/v1/events/${seg(wait.name ?? "")}`, text || undefined)
    })
  }

  function waitItem(wait: Wait, at: number): TemplateResult {
    const task = wait.on === "task" ? tasks.find(each => each.id === wait.name) : undefined
    const what = wait.on === "child" ? runLink(wait.name ?? "") : wait.on === "timer" ? nothing : html`<code class="wait-name">${waitName(wait)}</code>`
    const isAsked = wait.on === "signal" || wait.on === "event"
    return html`<li>
      <div class="wait-head"><span class="tl-kind">${wait.on}</span> ${what}
        <span class="soft">${wait.since ? html`for ${span(Date.now() - Date.parse(wait.since))}` : nothing}${wait.deadline ? html` · ${wait.on === "timer" ? "due" : "gives up"} ${when(wait.deadline)}` : nothing}${wait.filter ? html` · only ${wait.filter}` : nothing}</span></div>
      ${task ? html`<div class="soft">${task.status}${task.worker ? ` by ${task.worker}` : ""}, attempt ${task.attempt} of ${task.max_attempts}${isDelayed(task) ? html`; the next is due ${when(task.next_at)} ${acting(html`<button class="small-button" @click=${() => retryTask(task)}>Retry now</button>`)}` : nothing}</div>
        ${task.error ? html`<p class="error-text">${short(task.error as Json, 300)}</p>` : nothing}` : nothing}
      ${wait.unserved ? html`<p class="warn">${unservedText(wait.unserved)}</p>` : nothing}
      ${isAsked ? acting(html`<form class="answer" @submit=${(event: Event) => answer(event, wait)}>
        <label for="answer-${at}">Answer with (JSON)</label>
        <div class="answer-row"><textarea id="answer-${at}" name="payload" rows="2" spellcheck="false" .value=${"{}"}></textarea><button class="primary">Send ${waitName(wait)}</button></div></form>`) : nothing}
    </li>`
  }

  // ---- where it stands ----

  function standing(it: Run): Piece {
    const past = turns.frames(), isHere = past !== null || !isOver(it.status)
    const frames = past ?? (isOver(it.status) ? snapshot?.failure?.frames : null) ?? snapshot?.frames ?? []
    const error = it.error ?? it.pause_reason
    const failed = error ? failedLine(error.stack) : undefined
    const top = frames[Math.min(frameAt, Math.max(0, frames.length - 1))]
    const left = workflow?.source
      ? sourceView(workflow.source, frames, { ...(frames[0] && isHere ? { here: frames[0].line } : {}), callers: new Set(isHere ? frames.slice(1).map(frame => frame.line) : []), ...(failed && past === null && (isOver(it.status) || frames.length === 0) ? { failed } : {}) })
      : empty(it.kind === "native" ? "This workflow is a C function: it has no source here." : "Its source is not there.")
    return html`<div class="split">
      <section class="card source-card" aria-label="Source"><div class="card-head"><h2>Source</h2><span class="soft small">${workflow?.file ?? ""} ${it.version ? version(it.version) : ""}</span></div>${left}</section>
      <div class="side">
        ${frames.length ? card("Stack", html`<ol class="stack">${frames.map((frame, at) => html`<li><button class="frame ${frame === top ? "on" : ""}" aria-pressed=${frame === top ? "true" : "false"} @click=${() => {
          frameAt = at
          document.getElementById(`line-${frame.line}`)?.scrollIntoView({ block: "nearest" })
          draw()
        }}><b>${frame.function ?? "(anonymous)"}</b><span class="soft">${frame.file}:${frame.line}</span></button></li>`)}</ol>`) : nothing}
        ${top ? card("Variables", top.variables.length ? html`<div class="tree variables" tabindex="0" role="group" aria-label="Variables of ${top.function ?? "the function"}">${top.variables.map(each => shownValue(each))}</div>` : empty("None here."), html`<span class="soft small">${snapshot?.bytes ? bytes(snapshot.bytes) : ""}</span>`) : nothing}
        ${Object.keys(it.state).length ? card("State", html`<div class="tree">${Object.entries(it.state).map(([name, each]) => tree(each, name, 1))}</div>`) : nothing}
        ${card("About", facts([["Workflow", workflowLink(it.workflow)], ["Started", when(it.created_at)], ["Ended", when(it.finished_at)], ["Wakes", isOver(it.status) ? null : when(it.next_wake_at)],
          ["Times out", isOver(it.status) ? null : when(it.deadline_at)], ["Attempt", it.attempt > 1 ? String(it.attempt) : null], ["Parent", it.parent_id ? runLink(it.parent_id) : null], ["Tags", it.tags.join(", ")],
          ["Priority", it.priority ? String(it.priority) : null], ["Memory", isOver(it.status) ? null : it.released ? "released" : "resident"], ["Trace", it.traceparent]]))}
      </div></div>`
  }

  // ---- history ----

  const isStep = (entry: Entry): boolean => (entry.position ?? -1) > 0 && entry.name !== null && ["task", "child", "step", "waiting"].includes(entry.kind)

  function entryRow(entry: Entry, begin: number, it: Run): TemplateResult {
    const isId = entry.kind === "task" || entry.kind === "child"
    const data = entry.data === undefined || entry.data === null || isId ? null : short(entry.data, 100_000)
    return html`<li class=${entry.position === -1 ? "dropped" : ""}><time datetime=${entry.at} title=${new Date(entry.at).toLocaleString()}>+${span(Date.parse(entry.at) - begin)}</time>
      <div class="entry"><b>${KINDS[entry.kind] ?? entry.kind.replaceAll("_", " ")}</b> ${entry.kind === "child" ? runLink(String(entry.data)) : entry.name ?? ""}${entry.iteration ? ` [${entry.iteration}]` : ""}
        ${(entry.attempt ?? 1) > 1 ? html`<span class="soft">attempt ${entry.attempt}</span>` : nothing}${entry.outcome === "ok" ? nothing : html` <span class="state failed">${entry.outcome}</span>`}${entry.position === -1 ? html` <span class="soft">no longer counts</span>` : nothing}
        ${data === null ? nothing : data.length <= 120 ? html`<code class="data">${data}</code>` : html`<details><summary><code>${data.slice(0, 100)}…</code></summary>${code(pretty(entry.data))}</details>`}</div>
      ${isStep(entry) ? acting(html`<span class="step-actions">${isOver(it.status) ? nothing : html`<button class="small-button" aria-label="Rewind to ${stepText(entry)}" @click=${() => rewind(entry)}>Rewind</button>`}<button class="small-button" aria-label="Fork from ${stepText(entry)}" @click=${() => fork(entry)}>Fork</button></span>`) : nothing}</li>`
  }

  function history(it: Run): TemplateResult {
    const begin = Date.parse(it.created_at ?? entries[0]?.at ?? "")
    const some = entries.slice(-shown)
    return card("History", html`${entries.length > shown ? html`<p class="pad"><button @click=${() => {
      shown += SHOWN
      draw()
    }}>Earlier: ${entries.length - shown} more</button></p>` : nothing}
      <ol class="log">${repeat(some, entry => entry.seq, entry => entryRow(entry, begin, it))}</ol>`, html`<span class="soft small">${entries.length} entries</span>`)
  }

  const retryIn = (bar: Bar): Piece => {
    const task = bar.kind === "task" && bar.to === null ? tasks.find(each => each.name === bar.name && isDelayed(each)) : undefined
    return task ? acting(html` <button class="small-button" @click=${() => retryTask(task)}>Retry now</button>`) : nothing
  }

  function view(): TemplateResult {
    if (isMissing) return html`<h1>There is no such run</h1><div class="card">${empty(html`There is no run <code>${id}</code>. It may have been removed after its time. <a href=${href("runs")}>All runs</a>`)}</div>`
    const it = run
    if (!it) return html`<h1 class="wrapping">${id}</h1><div class="card">${empty("Loading…")}</div>`
    const input = entries.find(entry => entry.kind === "started")?.data
    return html`
      <p class="crumbs"><a href=${href("runs")}>Runs</a> / ${workflowLink(it.workflow)}</p>
      <div class="title"><h1 class="wrapping">${it.id}</h1>${state(it.status)}</div>
      ${actions(it)}
      ${it.pause_reason ? card("Paused because", html`<div class="pad">${errorBlock(it.pause_reason)}</div>`, nothing, "alert") : nothing}
      ${it.error ? card(it.status === "cancelled" ? "Cancelled" : "Error", html`<div class="pad">${errorBlock(it.error)}</div>`, nothing, "alert") : nothing}
      ${it.status === "completed" ? card("Result", html`<div class="pad">${value(it.result)}</div>`, nothing, "good") : nothing}
      ${it.waits.length ? card("Waits for", html`<ul class="waits">${it.waits.slice(0, 20).map(waitItem)}</ul>${it.waits.length > 20 ? html`<p class="pad soft">and ${it.waits.length - 20} more</p>` : nothing}`, nothing, "waiting") : nothing}
      ${whatIf.view(it)}
      ${turns.view()}
      ${standing(it)}
      ${card("Timeline", timelineView(it, entries, tasks, retryIn))}
      ${children.length ? card("Children", html`<ul class="plain">${children.map(child => html`<li>${runLink(child.id)} ${state(child.status)} <span class="soft">${child.workflow}</span></li>`)}</ul>`) : nothing}
      ${signals.length ? card("Signals not taken yet", html`<ul class="plain">${signals.map(one => html`<li><b>${one.name}</b> <code>${short(one.payload, 200)}</code> <span class="soft">${when(one.created_at)}</span> ${acting(html`<button class="small-button" aria-label="Remove the signal ${one.name}" @click=${() => removeSignal(one)}>Remove</button>`)}</li>`)}</ul>`) : nothing}
      ${input === undefined ? nothing : card("Input", html`<div class="pad">${value(input)}</div>`)}
      ${history(it)}`
  }

  return {
    title: id, load, view,
    follows: news => tells(news, "runs", one => !one.id || one.id === id || children.some(child => child.id === one.id))
      || tells(news, "tasks", one => !one.id || tasks.some(task => task.id === one.id)),
    get keys(): Keys {
      return { ...keysOf({ s: ["send a signal", () => run && !isOver(run.status) && signal()], f: ["fork from the start", () => run && fork(null)] }), c: ["copy as commands", means] }
    },
  }
}
