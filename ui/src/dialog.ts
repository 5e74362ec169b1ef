// Questions: one dialog at a time, answered by its form. Destructive actions ask here, naming the thing.

import { html, nothing, render, type TemplateResult } from "lit-html"
import { reason } from "./app"
import { command, type Piece } from "./parts"

export interface Field {
  name: string; label: string; value?: string; hint?: string; required?: boolean
  kind?: "text" | "json" | "source" | "choice" | "number"; choices?: (string | [value: string, text: string])[]; list?: string[]
  says?: (values: Record<string, string>) => string // what the values mean, while they are written
  fill?: string // choosing puts the value of the choice into that field
}

export interface Question {
  title: string; text?: Piece; fields?: Field[]; button: string; isDanger?: boolean
  preview?: () => Promise<Piece> // what would happen; asked for when the dialog opens
  commands?: (values: Record<string, string>) => string[] // the same by other means
  action: (values: Record<string, string>) => Promise<Piece | void> // throws what is shown; answers what is shown at the end
}

const box = document.createElement("dialog")
let asked: Question | null = null // an action may ask the next question
document.body.append(box)
box.addEventListener("close", () => {
  asked = null
  render(nothing, box)
})

const valuesOf = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]))

function fillFrom(event: Event, field: Field): void {
  const select = event.target as HTMLSelectElement, target = field.fill ? select.form?.elements.namedItem(field.fill) : null
  if (target instanceof HTMLTextAreaElement) target.value = select.value
}

function input(field: Field): TemplateResult {
  const id = `field-${field.name}`
  if (field.kind === "json" || field.kind === "source")
    return html`<textarea id=${id} name=${field.name} rows=${field.kind === "json" ? 5 : 16} spellcheck="false" ?required=${field.required} .value=${field.value ?? ""}></textarea>`
  if (field.kind === "choice")
    return html`<select id=${id} name=${field.name} @input=${(event: Event) => fillFrom(event, field)}>${field.choices?.map(each => {
      const [value, text] = typeof each === "string" ? [each, each] : each
      return html`<option value=${value} ?selected=${value === field.value}>${text}</option>`
    })}</select>`
  return html`<input id=${id} name=${field.name} type=${field.kind === "number" ? "number" : "text"} autocomplete="off" spellcheck="false" ?required=${field.required} list=${field.list ? `${id}-list` : nothing} .value=${field.value ?? ""}>
    ${field.list ? html`<datalist id="${id}-list">${field.list.map(each => html`<option value=${each}></option>`)}</datalist>` : nothing}`
}

// Text of a JSON field: what does not parse is said before anything is sent.
export function checkJson(text: string): void {
  if (text.trim() === "") return
  try {
    JSON.parse(text)
  } catch (error) {
    throw new Error(`This is not JSON: ${(error as Error).message}`)
  }
}
const jsonProblem = (text: string): string => {
  try {
    checkJson(text)
    return ""
  } catch (error) {
    return (error as Error).message
  }
}

export function ask(question: Question): void {
  let problem = "", isBusy = false, end: Piece | undefined, preview: Piece = question.preview ? "Looking at what would happen…" : nothing
  let shown: Record<string, string> = Object.fromEntries((question.fields ?? []).map(field => [field.name, field.value ?? ""]))
  const isOpen = (): boolean => asked === question
  const close = (): void => box.close()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (isBusy) return
    const values = valuesOf(event.currentTarget as HTMLFormElement)
    isBusy = true
    problem = ""
    paint()
    try {
      for (const field of question.fields ?? []) if (field.kind === "json") checkJson(values[field.name] ?? "")
      const answer = await question.action(values)
      if (!isOpen()) return
      if (!answer) return close()
      end = answer
    } catch (error) {
      problem = error instanceof Error && error.constructor === Error ? error.message : reason(error)
    } finally {
      isBusy = false
    }
    if (isOpen()) paint()
  }
  const changed = (event: Event): void => {
    shown = valuesOf(event.currentTarget as HTMLFormElement)
    paint()
  }
  const fieldView = (field: Field): TemplateResult => {
    const wrong = field.kind === "json" ? jsonProblem(shown[field.name] ?? "") : ""
    return html`<div class="field"><label for="field-${field.name}">${field.label}</label>${input(field)}
      ${wrong ? html`<p class="hint wrong">${wrong}</p>` : field.hint ? html`<p class="hint">${field.hint}</p>` : nothing}${field.says ? html`<p class="hint says" aria-live="polite">${field.says(shown)}</p>` : nothing}</div>`
  }
  const paint = (): unknown => render(end ? html`<h2 id="dialog-title">${question.title}</h2>${end}<div class="row end"><button autofocus @click=${close}>Close</button></div>` : html`
    <form @submit=${submit} @input=${changed}>
      <h2 id="dialog-title">${question.title}</h2>
      ${question.text ? html`<div class="dialog-text">${question.text}</div>` : nothing}
      ${preview === nothing ? nothing : html`<div class="preview" aria-live="polite">${preview}</div>`}
      ${question.fields?.map(fieldView)}
      ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
      <div class="row end"><button type="button" @click=${close}>Back</button>
        <button class=${question.isDanger ? "danger" : "primary"} ?disabled=${isBusy}>${question.button}</button></div>
      ${question.commands ? html`<details class="means"><summary>The same by other means</summary>${question.commands(shown).map(command)}</details>` : nothing}
    </form>`, box)
  asked = question
  box.setAttribute("aria-labelledby", "dialog-title")
  render(nothing, box) // a question begins with empty fields
  paint()
  if (!box.open) box.showModal()
  void question.preview?.().catch(error => reason(error)).then(found => {
    preview = found
    if (isOpen() && !end) paint()
  })
}

// A dialog with something to read, or a list to choose from.
export function tell(title: string, content: Piece): void {
  asked = null
  box.setAttribute("aria-labelledby", "dialog-title")
  render(html`<h2 id="dialog-title">${title}</h2>${content}<div class="row end"><button @click=${() => box.close()}>Close</button></div>`, box)
  if (!box.open) box.showModal()
}
export const closeDialog = (): void => box.close()
export const isAsking = (): boolean => box.open
export function showIn(content: TemplateResult): void {
  asked = null
  render(content, box)
  if (!box.open) box.showModal()
}
