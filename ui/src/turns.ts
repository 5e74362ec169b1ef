// Back in time: a slider over the turns of a run whose beginning is kept, with what the next one changed.

import { html, nothing } from "lit-html"
import { get, query, Refused, runPath } from "./api"
import { draw } from "./app"
import { keep } from "./route"
import { card, type Piece } from "./parts"
import type { Frame, Page, Snapshot } from "./types"

interface Turn { turn: number; file: string; line: number; function: string | null }
interface Change { function: string | null; path: string; change: "added" | "removed" | "changed"; from: string | null; to: string | null }
interface Diff { changes: Change[]; more: boolean }

const SIGNS = { added: "+", removed: "−", changed: "~" }
const CHANGES_SHOWN = 50

export class Turns {
  private turns: Turn[] = []
  private chosen: number | null // null: now
  private snapshot: Snapshot | null = null
  private diff: Diff | null = null

  constructor(private readonly id: string, wanted: string | null, private readonly depth: number) {
    this.chosen = wanted ? Number(wanted) : null
  }

  async load(): Promise<void> {
    const page = await get<Page<Turn>>(`${runPath(this.id)}/turns`).catch(error => {
      if (error instanceof Refused) return { items: [] } // what is kept of it cannot be read; the run says why
      throw error
    })
    this.turns = page.items
    if (this.chosen !== null && !this.turns.some(each => each.turn === this.chosen)) this.chosen = null
    if (this.chosen !== null && !this.snapshot) await this.look()
  }

  // The frames of the turn that is looked at; null: now.
  frames(): Frame[] | null {
    return this.chosen === null ? null : this.snapshot?.frames ?? []
  }

  private async look(): Promise<void> {
    const turn = this.chosen, at = this.turns.findIndex(each => each.turn === turn), path = runPath(this.id)
    keep("runs", this.id, { turn: turn === null ? "" : String(turn) })
    try {
      const [snapshot, diff] = turn === null ? [null, null] : await Promise.all([get<Snapshot>(`${path}/snapshot${query({ turn, depth: this.depth })}`),
        get<Diff>(`${path}/diff${query({ from: turn, to: this.turns[at + 1]?.turn })}`).catch(() => null)]) // an ended run has no present to compare with
      if (turn !== this.chosen) return
      this.snapshot = snapshot
      this.diff = diff
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      this.snapshot = null
      this.diff = null
    }
    draw()
  }

  private choose(position: number): void {
    this.chosen = this.turns[position]?.turn ?? null
    this.snapshot = null
    this.diff = null
    void this.look().catch(() => draw())
  }

  view(): Piece {
    if (this.turns.length === 0) return nothing
    const at = this.chosen === null ? this.turns.length : this.turns.findIndex(each => each.turn === this.chosen), here = this.turns[at]
    const text = here ? `turn ${here.turn}, began at ${here.file}:${here.line}` : "now"
    const slider = html`<div class="slider"><input type="range" min="0" max=${this.turns.length} aria-label="Turn" aria-valuetext=${text} .value=${String(at)} @input=${(event: Event) => this.choose(Number((event.target as HTMLInputElement).value))}><span>${text}</span>
      ${here ? html`<button class="small-button" @click=${() => this.choose(this.turns.length)}>Now</button>` : nothing}</div>`
    return card("Back in time", html`<div class="pad">
      ${here && this.diff ? this.diff.changes.length ? html`<p class="soft small">What this turn changed:</p><ul class="changes">${this.diff.changes.slice(0, CHANGES_SHOWN).map(each => html`<li><b>${SIGNS[each.change]}</b> <span class="v-name">${each.path}</span><span class="soft">: ${each.from ?? ""}${each.change === "changed" ? " → " : ""}${each.to ?? ""}</span></li>`)}</ul>
        ${this.diff.more || this.diff.changes.length > CHANGES_SHOWN ? html`<p class="soft small">and more</p>` : nothing}` : html`<p class="soft small">This turn changed no variable.</p>` : nothing}</div>`, slider, "compact")
  }
}
