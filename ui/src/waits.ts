// What a run waits for, each with the field that answers it.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, runPath, seg } from "./api"
import { act } from "./app"
import { checkJson } from "./dialog"
import { countdown, errorText, short, span, unservedText, waitName } from "./format"
import { acting, card, runLink, when, type Piece } from "./parts"
import type { Run, Task, Wait } from "./types"

const SHOWN = 20

export const isDelayed = (task: Task): boolean => task.status === "queued" && task.next_at !== null && Date.parse(task.next_at) > Date.now()
export const retryIn = (task: Task, retry: (task: Task) => void, words = ""): Piece => html`<span class="countdown">${words} <b>${countdown(Date.parse(task.next_at ?? ""))}</b></span>
  ${acting(html`<button class="small-button" @click=${() => retry(task)}>Retry now</button>`)}`

async function answer(event: Event, run: Run, wait: Wait): Promise<void> {
  event.preventDefault()
  const text = String(new FormData(event.currentTarget as HTMLFormElement).get("payload") ?? "")
  await act(`${wait.name}: sent.`, () => {
    checkJson(text)
    return call("POST", wait.on === "signal" ? `${runPath(run.id)}/signals/${seg(wait.name ?? "")}` : `/v1/events/${seg(wait.name ?? "")}`, text || undefined)
  })
}

function waitItem(run: Run, wait: Wait, at: number, task: Task | undefined, retry: (task: Task) => void): TemplateResult {
  const what = wait.on === "child" ? runLink(wait.name ?? "") : wait.on === "timer" ? nothing : html`<code class="wait-name">${waitName(wait)}</code>`
  const isAsked = wait.on === "signal" || wait.on === "event"
  const until = wait.deadline ? html` · ${wait.on === "timer" ? "due" : "gives up"} in <b>${countdown(Date.parse(wait.deadline))}</b> <span class="hidden">${when(wait.deadline)}</span>` : nothing
  return html`<li>
    <div class="wait-head"><span class="tl-kind">${wait.on}</span> ${what}
      <span class="soft">${wait.since ? html`for ${span(Date.now() - Date.parse(wait.since))}` : nothing}${until}${wait.filter ? html` · only ${wait.filter}` : nothing}</span></div>
    ${task ? html`<div class="soft">${task.status}${task.worker ? ` by ${task.worker}` : ""}, attempt ${task.attempt} of ${task.max_attempts} ${isDelayed(task) ? retryIn(task, retry, "· next attempt in") : nothing}</div>
      ${task.error ? html`<p class="error-text">${short(errorText(task.error), 300)}</p>` : nothing}` : nothing}
    ${wait.unserved ? html`<p class="warn">${unservedText(wait.unserved)}</p>` : nothing}
    ${isAsked ? acting(html`<form class="answer" @submit=${(event: Event) => answer(event, run, wait)}>
      <label for="answer-${at}">Answer with (JSON)</label>
      <div class="answer-row"><textarea id="answer-${at}" name="payload" rows="2" spellcheck="false" .value=${"{}"}></textarea><button class="primary">Send ${waitName(wait)}</button></div></form>`) : nothing}
  </li>`
}

export const waitsView = (run: Run, tasks: Task[], retry: (task: Task) => void): Piece => run.waits.length === 0 ? nothing
  : card("Waits for", html`<ul class="waits">${run.waits.slice(0, SHOWN).map((wait, at) => waitItem(run, wait, at, wait.on === "task" ? tasks.find(each => each.id === wait.name) : undefined, retry))}</ul>
    ${run.waits.length > SHOWN ? html`<p class="pad soft">and ${run.waits.length - SHOWN} more</p>` : nothing}`, nothing, "waiting")
