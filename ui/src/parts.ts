// Pieces that several pages are made of. Values are put in as text only: lit-html escapes what it inserts.

import { html, nothing, type ElementPart, type TemplateResult } from "lit-html"
import { Directive, directive, PartType, type PartInfo } from "lit-html/directive.js"
import { may } from "./api"
import { ago, errorText, pretty, short } from "./format"
import { href } from "./route"
import { STATES, type Json, type Problem, type Shown } from "./types"

export type Piece = TemplateResult | typeof nothing | string

// Styles set through the object model: the policy of the page forbids style attributes.
class Css extends Directive {
  constructor(part: PartInfo) {
    super(part)
    if (part.type !== PartType.ELEMENT) throw new Error("css() stands where attributes do")
  }
  override render(_styles: Record<string, string>): unknown {
    return nothing
  }
  override update(part: ElementPart, [styles]: [Record<string, string>]): unknown {
    for (const [name, value] of Object.entries(styles)) (part.element as HTMLElement).style.setProperty(name, value)
    return nothing
  }
}
export const css = directive(Css)

export const state = (name: string): TemplateResult =>
  html`<span class="state ${(STATES as readonly string[]).includes(name) ? name : ""}">${name}</span>`

export function when(text: string | null | undefined): Piece {
  if (!text) return nothing
  return html`<time datetime=${text} title=${new Date(text).toLocaleString()}>${ago(Date.parse(text))}</time>`
}

export const runLink = (id: string): TemplateResult => html`<a class="mono" href=${href("runs", id)}>${id}</a>`
export const workflowLink = (name: string): TemplateResult => html`<a href=${href("workflows", name)}>${name}</a>`

export const card = (title: string, content: Piece | Piece[], more: Piece | Piece[] = nothing, kind = ""): TemplateResult => html`
  <section class="card ${kind}" aria-label=${title}><div class="card-head"><h2>${title}</h2>${more}</div>${content}</section>`

export const empty = (text: Piece): TemplateResult => html`<p class="empty">${text}</p>`

export const facts = (rows: [string, Piece | string | null | undefined][]): TemplateResult => html`
  <dl>${rows.filter(([, value]) => value !== null && value !== undefined && value !== nothing && value !== "")
    .map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`

// A table that scrolls sideways where there is no room. An empty one says so.
export const table = (name: string, head: string[], rows: unknown[][], none: string): TemplateResult => rows.length === 0 ? empty(none) : html`
  <div class="scroll" tabindex="0" role="region" aria-label=${name}><table><thead><tr>${head.map(each => html`<th scope="col">${each || html`<span class="hidden">Actions</span>`}</th>`)}</tr></thead>
  <tbody>${rows.map(row => html`<tr>${row.map((cell, at) => html`<td class=${at === row.length - 1 && head[at] === "" ? "right" : ""}>${cell}</td>`)}</tr>`)}</tbody></table></div>`

// What only those see who may change something.
export const acting = (piece: Piece): Piece => may("client") ? piece : nothing

// A button within a row: its name says which row it is about.
export const small = (word: string, about: string, does: () => unknown, kind = ""): Piece =>
  acting(html`<button class="small-button ${kind}" aria-label="${word} ${about}" @click=${does}>${word}</button> `)

// ---- values ----

const CHILDREN_MAX = 200

function leaf(value: Json): TemplateResult {
  if (typeof value === "string") return html`<span class="v-text">${JSON.stringify(value)}</span>`
  if (value === null || typeof value === "boolean") return html`<span class="v-word">${String(value)}</span>`
  return html`<span class="v-number">${String(value)}</span>`
}

// A value as a tree that unfolds.
export function tree(value: Json, name = "", depth = 0): TemplateResult {
  const label = name === "" ? nothing : html`<span class="v-name">${name}</span><span class="soft">: </span>`
  if (value === null || typeof value !== "object") return html`<div class="leaf">${label}${leaf(value)}</div>`
  const rows: [string, Json][] = Array.isArray(value) ? value.map((each, at) => [String(at), each]) : Object.entries(value)
  if (rows.length === 0) return html`<div class="leaf">${label}<span class="soft">${Array.isArray(value) ? "[]" : "{}"}</span></div>`
  return html`<details class="node" ?open=${depth < 2}><summary>${label}<span class="soft">${short(value, 60)}</span></summary>
    <div class="children">${rows.slice(0, CHILDREN_MAX).map(([key, each]) => tree(each, key, depth + 1))}
    ${rows.length > CHILDREN_MAX ? html`<div class="soft">and ${rows.length - CHILDREN_MAX} more</div>` : nothing}</div></details>`
}

const TYPES: Record<string, string> = { string: "v-text", number: "v-number", boolean: "v-word", null: "v-word", undefined: "v-word" }

// A variable of a script, with what is inside of it.
export function shown(it: Shown, depth = 0): TemplateResult {
  const label = html`<span class="v-name">${it.name ?? it.key ?? ""}</span><span class="soft">: </span>`
  const text = html`<span class=${TYPES[it.type] ?? "soft"}>${it.text}</span>`
  if (!it.items?.length) return html`<div class="leaf">${label}${text}</div>`
  return html`<details class="node" ?open=${depth < 1}><summary>${label}${text}</summary><div class="children">${it.items.map(each => shown(each, depth + 1))}
    ${it.left_out ? html`<div class="soft">and ${it.left_out} more</div>` : nothing}</div></details>`
}

export const code = (text: string): TemplateResult => html`<pre tabindex="0">${text}</pre>`
export const value = (json: Json | undefined): TemplateResult => {
  if (json === null || typeof json !== "object" || Object.keys(json).length === 0) return code(pretty(json))
  return html`<div class="tree">${Object.entries(json).slice(0, CHILDREN_MAX).map(([key, each]) => tree(each, key, 1))}</div>`
}

export const errorBlock = (error: Problem): TemplateResult => html`
  <p class="error-text">${errorText(error)}</p>
  ${error.stack ? code(error.stack) : nothing}
  ${error.cause !== undefined && error.cause !== null ? html`<h3>Cause</h3>${value(error.cause)}` : nothing}
  <details><summary>Everything it carries</summary>${value(error as Json)}</details>`

// ---- copying ----

export async function copy(text: string, button: HTMLElement): Promise<void> {
  const before = button.textContent
  try {
    await navigator.clipboard.writeText(text)
    button.textContent = "Copied"
  } catch {
    button.textContent = "Not allowed"
  }
  setTimeout(() => {
    button.textContent = before
  }, 1500)
}

export const command = (text: string): TemplateResult => html`
  <div class="copy"><pre tabindex="0">${text}</pre><button type="button" @click=${(event: Event) => copy(text, event.currentTarget as HTMLElement)}>Copy</button></div>`
