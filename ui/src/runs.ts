// The list of runs: a search box, an endless list of which only the visible part is in the document, and
// actions on many.
//
// Pages are kept as they were loaded, each with its cursor. A refresh asks for the first page and for those in
// view; runs that are new push the others down.

import { html, nothing, type TemplateResult } from "lit-html"
import { repeat } from "lit-html/directives/repeat.js"
import { get, may, query, Refused } from "./api"
import { draw, reload, say, type View } from "./app"
import { tells } from "./changes"
import { ask } from "./dialog"
import { cli, count, errorText, waitText } from "./format"
import { bulk, outcome, refusals } from "./now"
import { acting, css, empty, state, when, type Piece } from "./parts"
import { go, href, keep, type Place } from "./route"
import { isOver, STATES, type Page, type RunItem, type Stats } from "./types"

const PAGE = 100, MARGIN = 12, ROWS_MAX = 50_000
const IDS_MAX = 1000 // of one request
const EXAMPLES: [string, string][] = [["status:failed,paused", "in one of these states"], ["workflow:order", "of this workflow; workflow~ord: whose name has the text"], ["tag:eu", "with this tag"],
  ["waiting:approval", "that wait for this signal, topic, task or child"], ["age>2h", "older than that; idle>1h, changed<5m likewise"], ["state.customer=42", "whose script has set this with State.set"],
  ["error~timeout", "whose error has the text"], ["parent:order-1", "children of this run"], ["order-17", "whose id, workflow or tags have the text"], ["-tag:test", "for which the term does not hold"]]

interface Loaded { cursor: string | null; items: RunItem[]; next: string | null }

const waitsOf = (run: RunItem): string => {
  if (run.pause_reason) return errorText(run.pause_reason)
  if (run.waits.length === 0) return run.status === "pending" ? "its start" : run.waits_for_code ? "a node with its code" : ""
  return run.waits.slice(0, 2).map(waitText).join(", ") + (run.waits.length > 2 ? ` and ${run.waits.length - 2} more` : "")
}

export function runsView(place: Place): View {
  let text = place.options.get("q") ?? ""
  let pages: Loaded[] = [], problem = "", isLoading = false, generation = 0
  let stats: Stats | null = null
  let completions: string[] = []
  let cursor = -1 // the row that the keyboard is on
  const chosen = new Set<string>()

  const rows = (): RunItem[] => {
    const seen = new Set<string>()
    return pages.flatMap(page => page.items).filter(run => !seen.has(run.id) && seen.add(run.id))
  }
  const rowHeight = (): number => innerWidth < 720 ? 76 : 45
  const list = (): HTMLElement | null => document.getElementById("rows")
  const range = (length: number): [number, number] => {
    const top = list()?.getBoundingClientRect().top ?? 0, height = rowHeight()
    const first = Math.max(0, Math.floor(-top / height) - MARGIN)
    return [Math.min(first, Math.max(0, length - 1)), Math.min(length, first + Math.ceil(innerHeight / height) + 2 * MARGIN)]
  }

  async function fetchPage(at: string | null): Promise<Loaded> {
    const page = await get<Page<RunItem>>(`/v1/runs${query({ q: text.trim(), limit: PAGE, cursor: at })}`)
    return { cursor: at, items: page.items, next: page.next }
  }

  // The first page again, before what was loaded after it.
  function mergeFirst(fresh: Loaded): void {
    const old = pages[0], last = fresh.items.at(-1)
    if (old && !last && fresh.next !== null && old.items.length === 0) return // what was looked at has none; the pages behind it may
    if (!old || !last || fresh.next === null) {
      pages = [fresh]
      return
    }
    const known = new Set(fresh.items.map(run => run.id))
    if (!old.items.some(run => known.has(run.id))) {
      pages = [fresh]
      return
    }
    const older = old.items.filter(run => !known.has(run.id) && (run.created_at ?? "") < (last.created_at ?? ""))
    pages[0] = older.length ? { cursor: null, items: [...fresh.items, ...older], next: old.next } : fresh
  }

  async function load(): Promise<void> {
    const mine = generation
    if (problem) return
    let first: Loaded
    try {
      [first, stats] = await Promise.all([fetchPage(null), get<Stats>("/v1/stats")])
    } catch (error) {
      if (!(error instanceof Refused) || error.code !== "BAD_FILTER") throw error
      if (mine === generation) problem = error.message
      return
    }
    if (mine !== generation) return
    mergeFirst(first)
    const [from, to] = range(rows().length)
    let at = 0
    for (const [number, page] of [...pages].entries()) {
      const isVisible = at < to && at + page.items.length > from
      at += page.items.length
      if (number === 0 || !isVisible || !page.cursor) continue
      const fresh = await fetchPage(page.cursor)
      if (mine !== generation) return
      if (pages[number]?.cursor === page.cursor) pages[number] = fresh
    }
  }

  async function loadMore(): Promise<void> {
    const last = pages.at(-1)
    if (isLoading || !last?.next || rows().length > ROWS_MAX) return
    const mine = generation
    isLoading = true
    try {
      const page = await fetchPage(last.next)
      if (mine === generation && pages.at(-1) === last) pages.push(page)
    } catch {
      // The next tick tries again.
    } finally {
      isLoading = false
    }
    draw()
  }

  function search(to: string): void {
    text = to
    problem = ""
    generation++
    pages = []
    chosen.clear()
    cursor = -1
    keep("runs", "", { q: text })
    reload()
    draw()
  }

  const onScroll = (): void => draw()
  addEventListener("scroll", onScroll, { passive: true })
  addEventListener("resize", onScroll)

  // ---- many at once ----

  function many(word: string, verb: string, isDanger: boolean): void {
    const ids = [...chosen]
    const some = ids.slice(0, 5).join(", ") + (ids.length > 5 ? ` and ${ids.length - 5} more` : "")
    ask({
      title: `${word} ${ids.length === 1 ? ids[0] : `${count(ids.length)} runs`}?`, text: some, button: word, isDanger,
      commands: () => [cli("wf", verb === "remove" ? "rm" : verb, ...ids.slice(0, 50))],
      action: async () => {
        const sum = { changed: 0, unchanged: 0, refused: 0, next: null, results: [] as { id: string; status: string; detail?: string }[] }
        for (let at = 0; at < ids.length; at += IDS_MAX) {
          const done = await bulk({ verb, ids: ids.slice(at, at + IDS_MAX) })
          sum.changed += done.changed
          sum.unchanged += done.unchanged
          sum.refused += done.refused
          sum.results.push(...done.results)
        }
        chosen.clear()
        reload()
        say(`${word}: ${outcome(sum)}`)
        return sum.refused ? refusals(sum) : undefined
      },
    })
  }

  // ---- drawing ----

  const chip = (name: string): TemplateResult => {
    const part = `status:${name}`, isOn = text.split(/\s+/).includes(part)
    const rest = text.split(/\s+/).filter(word => word && !word.startsWith("status:")).join(" ")
    const number = stats?.runs[name] ?? 0
    return html`<a class="chip ${number ? "" : "none"}" href=${href("runs", "", { q: isOn ? rest : `${rest} ${part}`.trim() })} aria-current=${isOn ? "true" : nothing}>${state(name)}<b>${count(number)}</b></a>`
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

  const row = (run: RunItem, at: number): TemplateResult => html`
    <div class="run-row ${at === cursor ? "here" : ""}" role="row" aria-rowindex=${at + 2}>
      <span role="cell" class="c-check"><input type="checkbox" aria-label="Select ${run.id}" ?disabled=${!may("client")} .checked=${chosen.has(run.id)} @change=${(event: Event) => {
        if ((event.target as HTMLInputElement).checked) chosen.add(run.id)
        else chosen.delete(run.id)
        draw()
      }}></span>
      <span role="cell" class="c-id"><a class="mono" href=${href("runs", run.id)}>${run.id}</a></span>
      <span role="cell" class="c-state">${state(run.status)}</span>
      <span role="cell" class="c-flow">${run.workflow}</span>
      <span role="cell" class="c-wait soft">${waitsOf(run)}${run.tags.map(tag => html` <span class="tag">${tag}</span>`)}</span>
      <span role="cell" class="c-time soft">${when(isOver(run.status) ? run.finished_at : run.created_at)}</span>
    </div>`

  function listView(): Piece {
    const all = rows()
    if (problem) return html`<p class="problem" role="alert">${problem}</p>`
    if (all.length === 0 && pages.at(-1)?.next) void loadMore()
    if (all.length === 0) return pages.length && !pages.at(-1)?.next ? html`<div class="card">${empty(text ? "No run is like that." : html`No runs yet. <a href=${href("workflows")}>Start one</a>.`)}</div>` : html`<div class="card">${empty("Loading…")}</div>`
    const [first, last] = range(all.length), height = rowHeight()
    if (last > all.length - 2 * MARGIN) void loadMore()
    const isAll = all.every(run => chosen.has(run.id))
    return html`<div class="card list" role="table" aria-label="Runs" aria-rowcount=${pages.at(-1)?.next ? -1 : all.length + 1}>
      <div class="run-row head" role="row" aria-rowindex="1">
        <span role="columnheader" class="c-check"><input type="checkbox" aria-label="Select all that are loaded" .checked=${isAll} @change=${() => {
          if (isAll) chosen.clear()
          else for (const run of all) chosen.add(run.id)
          draw()
        }}></span>
        <span role="columnheader" class="c-id">Run</span><span role="columnheader" class="c-state">State</span><span role="columnheader" class="c-flow">Workflow</span>
        <span role="columnheader" class="c-wait">Waits for</span><span role="columnheader" class="c-time">Since</span>
      </div>
      <div id="rows" role="rowgroup" ${css({ height: `${all.length * height}px`, "padding-top": `${first * height}px` })}>
        ${repeat(all.slice(first, last), run => run.id, (run, at) => row(run, first + at))}
      </div></div>
      ${pages.at(-1)?.next ? html`<p class="soft small">${count(all.length)} loaded; more come as you scroll.</p>` : html`<p class="soft small">${count(all.length)} ${all.length === 1 ? "run" : "runs"}.</p>`}`
  }

  const bar = (): Piece => chosen.size === 0 ? nothing : acting(html`<div class="bar" role="region" aria-label="Selected runs"><b>${count(chosen.size)} selected</b>
    <button @click=${() => many("Pause", "pause", false)}>Pause</button><button @click=${() => many("Resume", "resume", false)}>Resume</button>
    <button @click=${() => many("Release", "release", false)}>Release</button><button @click=${() => many("Retry", "retry", false)}>Retry</button>
    <button class="danger" @click=${() => many("Cancel", "cancel", true)}>Cancel</button><button class="danger" @click=${() => many("Remove", "remove", true)}>Remove</button>
    <button class="quiet" @click=${() => {
      chosen.clear()
      draw()
    }}>Clear</button></div>`)

  const move = (by: number): void => {
    cursor = Math.max(0, Math.min(rows().length - 1, cursor + by))
    const top = (list()?.getBoundingClientRect().top ?? 0) + cursor * rowHeight()
    if (top < 80 || top > innerHeight - 120) scrollBy(0, top - innerHeight / 2)
    draw()
  }
  const here = (): RunItem | undefined => rows()[cursor]

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
      Enter: ["open the run", () => {
        const run = here()
        if (run) go(href("runs", run.id))
      }],
      x: ["select the run", () => {
        const run = here()
        if (run && !chosen.delete(run.id)) chosen.add(run.id)
        draw()
      }],
    },
    view: () => html`
      <h1>Runs</h1>
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
      </form>
      <nav class="chips" aria-label="By state">${STATES.map(chip)}</nav>
      ${bar()}${listView()}`,
  }
}
