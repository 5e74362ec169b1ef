// The list of runs: a search box, saved views, an endless list of which only the visible part is in the document,
// and actions on many.

import { html, nothing, type TemplateResult } from "lit-html"
import { repeat } from "lit-html/directives/repeat.js"
import { get, may, query, Refused } from "./api"
import { draw, reason, reload, say, type View } from "./app"
import { tells } from "./changes"
import { ask } from "./dialog"
import { exportRuns } from "./export"
import { cli, count, curl, errorText, span, waitText } from "./format"
import { askMany, verbs } from "./many"
import { acting, css, empty, state, when, type Piece } from "./parts"
import { go, href, keep, type Place } from "./route"
import { ROWS_MAX, RunList } from "./runlist"
import { removeView, savedViews, saveView } from "./saved"
import { isOver, STATES, type RunItem, type Stats } from "./types"
import { ROWS_AROUND, rowsInSight } from "./virtual"

const EXAMPLES: [string, string][] = [["status:failed,paused", "in one of these states"], ["workflow:order", "of this workflow; workflow~ord: whose name has the text"], ["tag:eu", "with this tag"],
  ["waiting:approval", "that wait for this signal, topic, task or child"], ["age>2h", "older than that; idle>1h, changed<5m likewise"], ["state.customer=42", "whose script has set this with State.set"],
  ["error~timeout", "whose error has the text"], ["parent:order-1", "children of this run"], ["order-17", "whose id, workflow or tags have the text"], ["-tag:test", "for which the term does not hold"],
  ["where(total > 100)", "that wait where the expression is true; names are the script's variables"]]

const waitsOf = (run: RunItem): string => {
  if (run.pause_reason) return errorText(run.pause_reason)
  if (run.waits.length === 0) return run.status === "pending" ? "its start" : run.waits_for_code ? run.kind === "code" ? "a worker with its version" : "a node with its code" : ""
  return run.waits.slice(0, 2).map(waitText).join(", ") + (run.waits.length > 2 ? ` and ${run.waits.length - 2} more` : "")
}

export function runsView(place: Place): View {
  let text = place.options.get("q") ?? "", name = place.options.get("view") ?? ""
  let list = new RunList(text), problem = ""
  let stats: Stats | null = null
  let completions: string[] = []
  let cursor = -1 // the row that the keyboard is on
  let isAllFound = false // not only those that are loaded
  const chosen = new Set<string>()

  const rowHeight = (): number => innerWidth < 720 ? 76 : 45
  const box = (): HTMLElement | null => document.getElementById("rows")
  const range = (length: number): [number, number] => rowsInSight(box()?.getBoundingClientRect().top ?? 0, innerHeight, rowHeight(), length)
  const loadMore = (): void => void list.more().then(isNew => isNew && draw())

  async function load(): Promise<void> {
    const mine = list
    if (problem) return
    try {
      await Promise.all([mine.refresh(range), get<Stats>("/v1/stats").then(answer => {
        stats = answer
      })])
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 400) throw error
      if (mine === list) problem = error.message
    }
  }

  function clear(): void {
    chosen.clear()
    isAllFound = false
    draw()
  }
  function search(to: string): void {
    text = to
    problem = ""
    list = new RunList(text)
    cursor = -1
    name = savedViews().find(each => each.q === text)?.name ?? ""
    keep("runs", "", { q: text, view: name })
    clear()
    reload()
  }

  const onScroll = (): void => draw()
  addEventListener("scroll", onScroll, { passive: true })
  addEventListener("resize", onScroll)

  // ---- saved views ----

  const saveThis = (): void => ask({
    title: "Save this view", text: html`The search <code>${text || "(all runs)"}</code> under a name, in this browser. The address has all of it, too.`, button: "Save",
    fields: [{ name: "name", label: "Name", required: true, value: name, list: savedViews().map(each => each.name) }],
    action: async values => {
      name = (values["name"] ?? "").trim()
      saveView({ name, q: text })
      keep("runs", "", { q: text, view: name })
      draw()
    },
  })
  const forget = (view: { name: string }): void => ask({
    title: `Remove the view ${view.name}?`, button: "Remove the view", isDanger: true, text: "The runs stay as they are.",
    action: async () => {
      removeView(view.name)
      if (name === view.name) name = ""
      draw()
    },
  })
  const views = (): Piece => {
    const kept = savedViews()
    return kept.length === 0 ? nothing : html`<nav class="chips" aria-label="Saved views">${kept.map(view => html`<span class="chip-pair"><a class="chip" href=${href("runs", "", { q: view.q, view: view.name })} aria-current=${view.name === name && view.q === text ? "true" : nothing}>${view.name}</a><button class="quiet small-button" aria-label="Remove the view ${view.name}" @click=${() => forget(view)}>×</button></span>`)}</nav>`
  }

  const exportTo = (kind: "jsonl" | "csv"): void => void exportRuns(list.q, kind).catch(error => say(reason(error), true))

  // ---- drawing ----

  const chip = (status: string): TemplateResult => {
    const part = `status:${status}`, isOn = text.split(/\s+/).includes(part)
    const rest = text.split(/\s+/).filter(word => word && !word.startsWith("status:")).join(" ")
    const number = stats?.runs[status] ?? 0
    return html`<a class="chip ${number ? "" : "none"}" href=${href("runs", "", { q: isOn ? rest : `${rest} ${part}`.trim() })} aria-current=${isOn ? "true" : nothing}>${state(status)}<b>${count(number)}</b></a>`
  }

  // What may follow, as texts for the whole box. The server counts bytes.
  async function complete(): Promise<void> {
    const asked = text, whole = new TextEncoder().encode(asked), read = new TextDecoder()
    try {
      const answer = await get<{ completions: { text: string; from: number; to: number }[] }>(`/v1/filter${query({ q: asked })}`)
      if (asked !== text) return
      completions = answer.completions.map(each => read.decode(whole.slice(0, each.from)) + each.text + read.decode(whole.slice(each.to)))
      draw()
    } catch {
      completions = []
    }
  }

  const choose = (id: string, isOn: boolean): void => {
    isAllFound = false
    if (isOn) chosen.add(id)
    else chosen.delete(id)
    draw()
  }
  const chooseAll = (): void => {
    const all = list.rows(), isAll = all.every(run => chosen.has(run.id))
    isAllFound = false
    if (isAll) chosen.clear()
    else for (const run of all) chosen.add(run.id)
    draw()
  }

  const row = (run: RunItem, at: number): TemplateResult => html`
    <div class="run-row ${at === cursor ? "here" : ""} ${chosen.has(run.id) ? "chosen" : ""}" role="row" aria-rowindex=${at + 2}>
      <span role="cell" class="c-check"><input type="checkbox" aria-label="Select ${run.id}" ?disabled=${!may("client")} .checked=${chosen.has(run.id)} @change=${(event: Event) => choose(run.id, (event.target as HTMLInputElement).checked)}></span>
      <span role="cell" class="c-id"><a class="mono" href=${href("runs", run.id)}>${run.id}</a></span>
      <span role="cell" class="c-state">${state(run.status)}</span>
      <span role="cell" class="c-flow">${run.workflow}</span>
      <span role="cell" class="c-wait soft">${run.finished_at && run.started_at ? `took ${span(Date.parse(run.finished_at) - Date.parse(run.started_at))}` : waitsOf(run)}${run.tags.map(tag => html` <span class="tag">${tag}</span>`)}</span>
      <span role="cell" class="c-time soft">${when(isOver(run.status) ? run.finished_at : run.created_at)}</span>
    </div>`

  function listView(): Piece {
    const all = list.rows(), isMore = list.hasMore()
    if (problem) return html`<p class="problem" role="alert">${problem}</p>`
    if (all.length === 0 && list.pages.length && isMore) loadMore()
    if (all.length === 0) return isMore ? html`<div class="card">${empty("Loading…")}</div>` : html`<div class="card">${empty(text ? "No run is like that." : html`No runs yet. <a href=${href("workflows")}>Start one</a>.`)}</div>`
    const [first, last] = range(all.length), height = rowHeight()
    if (last > all.length - 2 * ROWS_AROUND) loadMore()
    return html`<div class="card list" role="table" aria-label="Runs" aria-rowcount=${isMore ? -1 : all.length + 1}>
      <div class="run-row head" role="row" aria-rowindex="1">
        <span role="columnheader" class="c-check"><input type="checkbox" aria-label="Select all that are loaded" ?disabled=${!may("client")} .checked=${all.every(run => chosen.has(run.id))} @change=${chooseAll}></span>
        <span role="columnheader" class="c-id">Run</span><span role="columnheader" class="c-state">State</span><span role="columnheader" class="c-flow">Workflow</span>
        <span role="columnheader" class="c-wait">Waits for, or took</span><span role="columnheader" class="c-time">Since</span>
      </div>
      <div id="rows" role="rowgroup" ${css({ height: `${all.length * height}px`, "padding-top": `${first * height}px` })}>
        ${repeat(all.slice(first, last), run => run.id, (run, at) => row(run, first + at))}
      </div></div>
      <p class="soft small">${isMore ? all.length >= ROWS_MAX ? `The newest ${count(all.length)} are shown; search for less to see others.` : `${count(all.length)} loaded; more come as you scroll.` : `${count(all.length)} ${all.length === 1 ? "run" : "runs"}.`}${list.note ? html` <span class="failed">${list.note}</span>` : nothing}</p>`
  }

  const bar = (): Piece => chosen.size === 0 ? nothing : acting(html`<div class="bar" role="region" aria-label="Selected runs"><b>${isAllFound ? "All that the search finds" : `${count(chosen.size)} selected`}</b>
    ${verbs().map(it => html`<button class=${it.isDanger ? "danger" : ""} @click=${() => askMany(it, { ids: isAllFound ? null : [...chosen], q: list.q }, clear)}>${it.word}</button>`)}
    ${list.hasMore() && !isAllFound && list.rows().every(run => chosen.has(run.id)) && text.trim() ? html`<button class="quiet" @click=${() => {
      isAllFound = true
      draw()
    }}>Select all that the search finds</button>` : nothing}
    <button class="quiet" @click=${clear}>Clear</button></div>`)

  const move = (by: number): void => {
    cursor = Math.max(0, Math.min(list.rows().length - 1, cursor + by))
    const top = (box()?.getBoundingClientRect().top ?? 0) + cursor * rowHeight()
    if (top < 80 || top > innerHeight - 120) scrollBy(0, top - innerHeight / 2)
    draw()
  }
  const here = (): RunItem | undefined => list.rows()[cursor]
  const openHere = (): void => {
    const run = here()
    if (run) go(href("runs", run.id))
  }

  return {
    title: "Runs",
    follows: news => tells(news, "runs"),
    load,
    close: () => {
      removeEventListener("scroll", onScroll)
      removeEventListener("resize", onScroll)
    },
    keys: {
      "/": ["search", () => document.getElementById("search")?.focus()],
      j: ["next run", () => move(1)],
      k: ["previous run", () => move(-1)],
      Enter: ["open the run", openHere],
      x: ["select the run", () => {
        const run = here()
        if (run && may("client")) choose(run.id, !chosen.has(run.id))
      }],
      a: ["select all that are loaded", () => may("client") && chooseAll()],
      v: ["save this view", saveThis],
      e: ["export as JSON lines", () => exportTo("jsonl")],
    },
    means: () => {
      const { q } = list
      return [cli("wf", "ls", ...(q ? ["-q", q] : [])), curl("GET", `/v1/runs${query({ q })}`), `for await (const run of client.list(${q ? JSON.stringify({ q }) : ""})) console.log(run.id)`]
    },
    view: () => html`
      <div class="title"><h1>Runs</h1>${name ? html`<span class="tag">${name}</span>` : nothing}</div>
      <form role="search" class="search" @submit=${(event: Event) => {
        event.preventDefault()
        search(new FormData(event.currentTarget as HTMLFormElement).get("q") as string)
      }}>
        <label class="hidden" for="search">Search runs</label>
        <input id="search" name="q" type="search" list="search-list" autocomplete="off" spellcheck="false" placeholder="status:failed workflow:order tag:eu" .value=${text}
          @input=${(event: Event) => {
            text = (event.target as HTMLInputElement).value
            void complete()
            if (text === "") search("")
          }}>
        <datalist id="search-list">${completions.map(each => html`<option value=${each}></option>`)}</datalist>
        <button class="primary">Search</button>
        <details class="menu"><summary>Filters</summary><div class="menu-body"><dl class="keys">${EXAMPLES.map(([example, meaning]) => html`<dt><code>${example}</code></dt><dd>${meaning}</dd>`)}</dl></div></details>
        <details class="menu"><summary>Export</summary><div class="menu-body narrow"><button type="button" @click=${() => exportTo("jsonl")}>JSON lines</button><button type="button" @click=${() => exportTo("csv")}>CSV</button></div></details>
        <button type="button" @click=${saveThis}>Save view…</button>
      </form>
      ${views()}
      <nav class="chips" aria-label="By state">${STATES.map(chip)}</nav>
      ${bar()}${listView()}`,
  }
}
