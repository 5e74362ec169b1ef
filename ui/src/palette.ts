// The command palette: pages, workflows and runs by a few letters of their name.

import { html, type TemplateResult } from "lit-html"
import { get, query } from "./api"
import { closeDialog, showIn } from "./dialog"
import { pages } from "./pages"
import { go, href } from "./route"
import { savedViews } from "./saved"
import type { Page, RunItem, WorkflowItem } from "./types"

export interface Choice { title: string; kind: string; to?: string; does?: () => void }

// All letters in their order; the tighter they stand, the better. Null: not all are there.
export function fuzzy(wanted: string, text: string): number | null {
  let at = 0, last = -1, cost = 0
  const low = text.toLowerCase()
  for (const letter of wanted.toLowerCase()) {
    at = low.indexOf(letter, at)
    if (at < 0) return null
    cost += last < 0 ? at : at - last - 1
    last = at++
  }
  return cost + text.length / 100
}

export function openPalette(actions: Choice[]): void {
  let all: Choice[] = [...pages().map(page => ({ title: page.title, kind: "page", to: href(page.kind) })), ...actions,
    ...savedViews().map(view => ({ title: view.name, kind: "saved view", to: href("runs", "", { q: view.q, view: view.name }) }))]
  let wanted = "", at = 0
  const found = (): Choice[] => all.map(choice => ({ choice, cost: fuzzy(wanted, choice.title) }))
    .filter(each => each.cost !== null).sort((a, b) => (a.cost ?? 0) - (b.cost ?? 0)).slice(0, 12).map(each => each.choice)
  const take = (choice: Choice | undefined): void => {
    if (!choice) return
    closeDialog()
    if (choice.to) go(choice.to)
    else choice.does?.()
  }
  const key = (event: KeyboardEvent): void => {
    const choices = found()
    if (event.key === "ArrowDown") at = Math.min(choices.length - 1, at + 1)
    else if (event.key === "ArrowUp") at = Math.max(0, at - 1)
    else if (event.key === "Enter") take(choices[at])
    else return
    event.preventDefault()
    paint()
  }
  const paint = (): void => showIn(view())
  const view = (): TemplateResult => html`<div class="palette"><label class="hidden" for="palette" id="dialog-title">Go to a page, a workflow or a run, or do something</label>
    <input id="palette" autocomplete="off" spellcheck="false" placeholder="Page, workflow, run or action" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant="choice-${at}"
      @input=${(event: Event) => {
        wanted = (event.target as HTMLInputElement).value
        at = 0
        paint()
        void lookUp(wanted)
      }} @keydown=${key}>
    <ul id="palette-list" role="listbox" aria-label="Choices">${found().map((choice, number) => html`<li id="choice-${number}" role="option" aria-selected=${number === at ? "true" : "false"} @click=${() => take(choice)}><span>${choice.title}</span><span class="soft">${choice.kind}</span></li>`)}</ul></div>`
  const add = (more: Choice[]): void => {
    const known = new Set(all.map(each => each.to))
    all = [...all, ...more.filter(each => !known.has(each.to))]
    if (document.getElementById("palette")) paint()
  }
  // An id that was typed in full is found, however old the run is.
  const lookUp = async (id: string): Promise<void> => {
    const found = id ? await get<Page<RunItem>>(`/v1/runs${query({ q: `id:${JSON.stringify(id)}`, limit: 1 })}`).catch(() => null) : null
    const run = found?.items[0]
    if (run) add([{ title: run.id, kind: `run of ${run.workflow}`, to: href("runs", run.id) }])
  }
  paint()
  const input = document.getElementById("palette") as HTMLInputElement
  input.value = ""
  input.focus()
  void get<Page<WorkflowItem>>("/v1/workflows?limit=1000").then(page => add(page.items.filter(each => each.current).map(each => ({ title: each.name, kind: "workflow", to: href("workflows", each.name) }))), () => {})
  void get<Page<RunItem>>(`/v1/runs${query({ limit: 200 })}`).then(page => add(page.items.map(run => ({ title: run.id, kind: `run of ${run.workflow}, ${run.status}`, to: href("runs", run.id) }))), () => {})
}
