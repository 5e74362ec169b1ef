// Moving a waiting run to another version of its script: each version says whether it can go on there, or why not.

import { html, nothing } from "lit-html"
import { call, Refused, runPath } from "./api"
import { reason, reload, say } from "./app"
import { closeDialog, showIn } from "./dialog"
import { cli, curl, sdk, segment, version } from "./format"
import { command, when, type Piece } from "./parts"
import { versionsOf } from "./run_actions"
import type { Run, WorkflowItem } from "./types"

interface Moved { changed: boolean; from: string; to: string }
interface Choice { version: WorkflowItem; problem: string | null } // null: it can go on there

const TRIED_MAX = 20

async function tried(run: Run, one: WorkflowItem): Promise<Choice> {
  try {
    await call<Moved>("POST", `${runPath(run.id)}/move`, JSON.stringify({ version: one.version, dry_run: true }))
    return { version: one, problem: null }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { version: one, problem: error.message }
  }
}

export async function openMove(run: Run): Promise<void> {
  let choices: Choice[] | null = null, problem = ""
  const move = async (to: string): Promise<void> => {
    try {
      await call("POST", `${runPath(run.id)}/move`, JSON.stringify({ version: to }))
      closeDialog()
      say(`${run.id}: moved to version ${version(to)}.`)
      reload()
    } catch (error) {
      problem = reason(error)
      paint()
    }
  }
  const row = ({ version: one, problem: why }: Choice): Piece => html`<li><code>${version(one.version)}</code>${one.current ? html` <b>current</b>` : nothing} <span class="soft">deployed ${when(one.created_at)}</span>
    ${why === null ? html`<button class="small-button primary" aria-label="Move to ${version(one.version)}" @click=${() => move(one.version)}>Move</button><p class="soft small">It can go on there, at the same place and with its variables.</p>` : html`<p class="error-text">${why}</p>`}</li>`
  const first = (): string | undefined => choices?.find(each => each.problem === null)?.version.version
  const paint = (): void => showIn(html`<h2 id="dialog-title">Move ${run.id}</h2>
    <p class="dialog-text">It is on version <code>${run.version ? version(run.version) : ""}</code> now.</p>
    ${choices === null ? html`<p>Looking at the other versions…</p>` : choices.length ? html`<ul class="choices">${choices.map(row)}</ul>` : html`<p>There is no other version.</p>`}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
    <div class="row end"><button @click=${closeDialog}>Close</button></div>
    ${first() ? html`<details class="means"><summary>The same by other means</summary>${[cli("wf", "move", run.id, "--to", first() ?? ""), curl("POST", `/v1/runs/${segment(run.id)}/move`, JSON.stringify({ version: first() })), sdk("move", run.id, { version: first() })].map(command)}</details>` : nothing}`)
  paint()
  try {
    const others = (await versionsOf(run.workflow)).filter(each => each.version !== run.version).slice(0, TRIED_MAX)
    choices = await Promise.all(others.map(each => tried(run, each)))
  } catch (error) {
    choices = []
    problem = reason(error)
  }
  if (document.getElementById("dialog-title")?.textContent === `Move ${run.id}`) paint()
}
