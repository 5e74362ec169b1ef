// Two versions of a workflow beside each other, line by line.

import { html, nothing, type TemplateResult } from "lit-html"
import { diffLines, type Change } from "./diff"
import { version } from "./format"
import { card, empty } from "./parts"
import { highlight } from "./source"
import type { Workflow } from "./types"

const AROUND = 3 // lines that are the same and stay, on both sides of a change
const SIGNS = { same: " ", gone: "−", new: "+" }, WORDS = { same: "", gone: "removed: ", new: "added: " }

// Null stands for lines that are left out.
function folded(changes: Change[]): (Change | null)[] {
  const isNear = changes.map((_, at) => changes.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(each => each.kind !== "same"))
  return changes.flatMap((each, at) => isNear[at] ? [each] : isNear[at - 1] || at === 0 ? [null] : [])
}

export function compareView(before: Workflow, after: Workflow): TemplateResult {
  const changes = diffLines(before.source ?? "", after.source ?? ""), gone = changes.filter(each => each.kind === "gone").length, fresh = changes.filter(each => each.kind === "new").length
  const line = (it: Change | null): TemplateResult => it === null ? html`<div class="line skipped"><span class="number">⋯</span></div>`
    : html`<div class="line d-${it.kind}"><span class="number">${it.before || ""}</span><span class="number">${it.after || ""}</span><span class="sign" aria-hidden="true">${SIGNS[it.kind]}</span>${it.kind === "same" ? nothing : html`<span class="hidden">${WORDS[it.kind]}</span>`}<code>${highlight(it.text)}</code></div>`
  return card("Comparison", gone + fresh === 0 ? empty("The sources are the same.") : html`<div class="source" tabindex="0" role="group" aria-label="Comparison">${folded(changes).map(line)}</div>`,
    html`<span class="soft small"><code>${version(before.version)}</code> → <code>${version(after.version)}</code> · ${fresh} added, ${gone} removed</span>`)
}
