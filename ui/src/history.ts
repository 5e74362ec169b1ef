// Everything that happened to a run: loaded a page at a time while it is read already, and only the visible rows
// are in the document. All of them are when it is printed.

import { html, nothing, type TemplateResult } from "lit-html"
import { get, query, runPath } from "./api"
import { draw } from "./app"
import { tell } from "./dialog"
import { count, pretty, short, span } from "./format"
import { acting, card, code, css, runLink, type Piece } from "./parts"
import { stepText, type RunActions } from "./run_actions"
import { isOver, type Entry, type Page, type Run } from "./types"
import { rowsInSight } from "./virtual"

const PAGE = 1000, ROW = 40, LONG = 160, PRINTED_MAX = 2000

const KINDS: Record<string, string> = {
  waiting: "waits for", wait: "woken by", task: "task queued", child: "child started", step: "step", step_attempt: "step tried",
  line: "console", stream: "stream", emit: "event sent", cancel_requested: "cancel requested", idle: "idle", released: "released from memory",
  reloaded: "loaded again", retry: "failed, tries again",
}
const kindOf = (entry: Entry): string => KINDS[entry.kind] ?? entry.kind.replaceAll("_", " ")
const isStep = (entry: Entry): boolean => (entry.position ?? -1) >= 0 && entry.name !== null && ["task", "child", "step", "waiting"].includes(entry.kind)

export class History {
  entries: Entry[] = []
  private incarnation = -1
  private loading: Promise<void> | null = null
  private wanted = ""
  private isNewestFirst = false
  private isPrinting = false
  private readonly print = matchMedia("print")
  private readonly onPrint = (): void => {
    this.isPrinting = this.print.matches
    draw()
  }

  constructor(private readonly id: string, private readonly actions: RunActions) {
    this.print.addEventListener("change", this.onPrint)
  }
  close(): void {
    this.print.removeEventListener("change", this.onPrint)
  }

  // Waits for the first page only; the rest comes while the page is read.
  async load(run: Run): Promise<void> {
    if (run.incarnation !== this.incarnation) {
      this.incarnation = run.incarnation
      this.entries = [] // a rewind changes what earlier entries count for
    }
    await this.loading
    if (await this.loadPage()) this.loading = this.loadRest().finally(() => {
      this.loading = null
    })
  }
  private async loadRest(): Promise<void> {
    const mine = this.incarnation
    try {
      while (mine === this.incarnation && await this.loadPage()) draw()
    } catch {
      // The next look goes on where this one ended.
    }
    draw()
  }
  // Whether there is more.
  private async loadPage(): Promise<boolean> {
    const last = this.entries.at(-1)?.seq ?? 0, mine = this.incarnation
    const page = await get<Page<Entry>>(`${runPath(this.id)}/log${query({ after: last, limit: PAGE })}`)
    if (mine !== this.incarnation) return false
    const known = this.entries.at(-1)?.seq ?? 0
    this.entries = this.entries.concat(page.items.filter(entry => entry.seq > known))
    return page.next !== null && page.items.length > 0
  }

  private found(): Entry[] {
    const low = this.wanted.toLowerCase()
    const some = low ? this.entries.filter(entry => `${kindOf(entry)} ${entry.name ?? ""} ${entry.outcome} ${short(entry.data ?? "", 10_000)}`.toLowerCase().includes(low)) : this.entries
    return this.isNewestFirst ? [...some].reverse() : some
  }

  private row(entry: Entry, begin: number, run: Run): TemplateResult {
    const isId = entry.kind === "task" || entry.kind === "child"
    const data = entry.data === undefined || entry.data === null || isId ? "" : short(entry.data, 100_000)
    const open = (): void => tell(`${kindOf(entry)} ${entry.name ?? ""}`, html`<p class="soft">${new Date(entry.at).toLocaleString()}</p>${code(pretty(entry.data))}`)
    return html`<div class="log-row ${entry.position === -1 ? "dropped" : ""}" role="listitem"><time datetime=${entry.at} title=${new Date(entry.at).toLocaleString()}>+${span(Date.parse(entry.at) - begin)}</time>
      <div class="entry"><b>${kindOf(entry)}</b> ${entry.kind === "child" ? runLink(String(entry.data)) : entry.name ?? ""}${entry.iteration ? ` [${entry.iteration}]` : ""}
        ${(entry.attempt ?? 1) > 1 ? html`<span class="soft">attempt ${entry.attempt}</span>` : nothing}${entry.outcome === "ok" ? nothing : html` <span class="state failed">${entry.outcome}</span>`}${entry.position === -1 ? html` <span class="soft">no longer counts</span>` : nothing}
        ${data ? html`<code class="data">${data.slice(0, LONG)}</code>` : nothing}</div>
      <span class="step-actions">${data.length > 40 ? html`<button class="small-button" aria-label="All of ${kindOf(entry)} ${entry.name ?? ""}" @click=${open}>All</button>` : nothing}
        ${isStep(entry) ? acting(html`${isOver(run.status) ? nothing : html`<button class="small-button" aria-label="Rewind to ${stepText(entry)}" @click=${() => this.actions.rewind(entry)}>Rewind</button>`}<button class="small-button" aria-label="Fork from ${stepText(entry)}" @click=${() => this.actions.fork(run, entry)}>Fork</button>`) : nothing}</span></div>`
  }

  view(run: Run): TemplateResult {
    const begin = Date.parse(run.created_at ?? this.entries[0]?.at ?? ""), all = this.found()
    const box = document.getElementById("log")
    const [first, last] = this.isPrinting ? [0, Math.min(all.length, PRINTED_MAX)] : rowsInSight(-(box?.scrollTop ?? 0), box?.clientHeight || 600, ROW, all.length)
    const tools: Piece = html`<span class="row tools"><span class="soft small">${this.wanted ? `${count(all.length)} of ` : ""}${count(this.entries.length)} ${this.entries.length === 1 && !this.wanted ? "entry" : "entries"}${this.loading ? ", more are coming" : ""}</span>
      <input type="search" class="small-input" aria-label="Search the history" placeholder="Search the history" autocomplete="off" .value=${this.wanted} @input=${(event: Event) => {
        this.wanted = (event.target as HTMLInputElement).value
        draw()
      }}><button class="small-button" aria-pressed=${this.isNewestFirst ? "true" : "false"} @click=${() => {
        this.isNewestFirst = !this.isNewestFirst
        draw()
      }}>Newest first</button></span>`
    return card("History", html`<div id="log" class="log" tabindex="0" role="list" aria-label="History" @scroll=${draw}>
      <div role="presentation" ${css({ height: this.isPrinting ? "auto" : `${all.length * ROW}px`, "padding-top": `${first * ROW}px` })}>${all.slice(first, last).map(entry => this.row(entry, begin, run))}</div></div>`, tools)
  }
}
