// Deploying a version from the page: first what would become of the runs that wait, where the server can tell.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, query, Refused, seg } from "./api"
import { reload } from "./app"
import { ask } from "./dialog"
import { has } from "./features"
import { cli, count, sdk, segment, shellQuote, version } from "./format"
import { askMany, verbs } from "./many"
import { runLink, table, type Piece } from "./parts"
import { go, href } from "./route"

interface Group {
  version: string; line: number; column: number; function: string | null; source: string | null; count: number; failed: number
  verdict: string; reason: string | null; example: string | null
}
interface Plan { workflow: string; current: string | null; new: string; is_same: boolean; groups: Group[]; moves: number; refused: number; stays: number }
interface Deployed { version: string; warnings: { message: string; line: number }[] }

const LINES_SHOWN = 40

// What the check finds is shown with its lines.
async function put<T>(name: string, file: string, source: string, more: Record<string, boolean>): Promise<T> {
  try {
    return await call<T>("PUT", `/v1/workflows/${seg(name)}${query({ file, ...more })}`, source)
  } catch (error) {
    if (error instanceof Refused && error.findings.length)
      throw new Error(error.findings.map(each => `line ${each.line}: ${each.message}${each.hint ? ` ${each.hint}` : ""}`).join("\n"))
    throw error
  }
}

const groupRow = (it: Group): unknown[] => [html`<code>${version(it.version)}</code>`, html`${it.function ?? ""}<span class="soft"> line ${it.line}</span>${it.source ? html`<code class="data">${it.source}</code>` : nothing}`, count(it.count),
  html`<span class="state ${it.verdict === "moves" ? "completed" : it.verdict === "refused" ? "failed" : "pending"}">${it.verdict}</span>${it.reason ? html`<p class="soft small">${it.reason}</p>` : nothing}`, it.example ? runLink(it.example) : nothing]

function planView(plan: Plan): TemplateResult {
  if (plan.is_same) return html`<p>This is the current version already: nothing would change.</p>`
  return html`<p>It would be version <code>${version(plan.new)}</code>. Of the runs that wait, <b>${count(plan.moves)}</b> could move to it, <b>${count(plan.refused)}</b> could not, and ${count(plan.stays)} stay where they are.</p>
    ${table("What becomes of the runs", ["Version", "Where they wait", "Runs", "Verdict", "One of them"], plan.groups.slice(0, LINES_SHOWN).map(groupRow), "No run waits.")}`
}

async function deployed(name: string, file: string, source: string): Promise<Piece | void> {
  const done = await put<Deployed>(name, file, source, {})
  reload()
  if (done.warnings.length === 0) return go(href("workflows", name))
  return html`<p>Deployed as version <code>${version(done.version)}</code>, with warnings:</p><ul>${done.warnings.map(each => html`<li>line ${each.line}: ${each.message}</li>`)}</ul>`
}

// After the plan: deploy, and go on to moving those that can.
async function confirmPlan(name: string, file: string, source: string, commands: () => string[]): Promise<Piece | void> {
  const plan = await put<Plan>(name, file, source, { plan: true })
  if (plan.is_same) return planView(plan)
  if (plan.current === null) return deployed(name, file, source) // a new workflow has no runs
  const mover = verbs().find(each => each.verb === "move")
  ask({
    title: `Deploy ${name}?`, button: "Deploy", text: planView(plan), commands,
    ...(plan.moves ? { fields: [{ name: "then", label: "Afterwards", kind: "choice" as const, choices: [["", "leave the runs where they are"], ["move", `ask me about moving ${count(plan.moves)} runs`]] as [string, string][] }] } : {}),
    action: async values => {
      const said = await deployed(name, file, source)
      if (values["then"] === "move" && mover) askMany(mover, { ids: null, q: `workflow:${JSON.stringify(name)} status:suspended` }, () => {})
      else return said
    },
  })
}

export function deploy(name = "", source = "", file = ""): void {
  const canPlan = has("PUT", "/v1/workflows/{name}", "plan")
  const commandsOf = (values: Record<string, string>): string[] => {
    const to = values["name"] ?? "", from = file || `${to}.flow`
    return [cli("deploy", from), `curl -X PUT --data-binary @${shellQuote(from)} ${shellQuote(`${location.origin}/v1/workflows/${segment(to)}`)}`, sdk("deploy", to, "…source…")]
  }
  ask({
    title: name ? `Deploy a version of ${name}` : "Deploy a workflow", button: canPlan ? "Plan…" : "Deploy",
    text: "Runs that have begun finish on the version they began with.",
    fields: [{ name: "name", label: "Name", value: name, required: true }, { name: "source", label: "Source", kind: "source", value: source, required: true }],
    commands: commandsOf,
    action: async values => {
      const to = values["name"] ?? "", text = values["source"] ?? ""
      return canPlan ? confirmPlan(to, file, text, () => commandsOf(values)) : deployed(to, file, text)
    },
  })
}
