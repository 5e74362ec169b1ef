// The members of the cluster, and tokens.

import { html, nothing } from "lit-html"
import { call, get, Refused, seg } from "./api"
import { reload, type View } from "./app"
import { ask } from "./dialog"
import { bytes, cli, count, curl, sdk, segment } from "./format"
import { card, command, facts, small, table, when } from "./parts"
import type { Node, Page, Stats, Token } from "./types"

export function membersView(): View {
  let nodes: Node[] | null = null, stats: Stats | null = null
  const row = (it: Node): unknown[] => [html`<b>${it.name}</b> <span class="soft">#${it.id}</span>`, it.alive ? html`<span class="state completed">alive</span>` : html`<span class="state failed">dead</span>`, it.version ?? "", when(it.started_at),
    it.alive ? nothing : when(it.lease_until), count(it.executing), count(it.resident)]
  return {
    title: "Members", pauseMs: 15_000,
    means: () => [cli("nodes"), cli("stats"), curl("GET", "/v1/nodes"), curl("GET", "/v1/stats"), sdk("server.nodes")],
    load: async () => {
      const [all, now] = await Promise.all([get<Page<Node>>("/v1/nodes"), get<Stats>("/v1/stats")])
      nodes = all.items
      stats = now
    },
    view: () => html`<h1>Members</h1>${nodes === null || stats === null ? nothing : html`
      ${card("Nodes", table("List of nodes", ["Node", "State", "Version", "Joined", "Silent since", "Executing", "In memory"], nodes.map(row), "None."))}
      ${card("This server", facts([["Started", when(stats.server_started_at)], ["Runs in memory", count(stats.resident_runs)], ["Runs executing", count(stats.active_runs)], ["Signals kept", count(stats.pending_signals)], ["Events kept", count(stats.pending_events)],
        ["Dead letters", count(stats.dead_letters)], ["Disk left", stats.disk_free_bytes === null ? null : bytes(stats.disk_free_bytes)]]))}`}`,
  }
}

export function tokensView(): View {
  let tokens: Token[] | null = null, refused = ""
  const create = (): void => ask({
    title: "New token", button: "Create",
    fields: [{ name: "name", label: "Name", required: true, hint: "Tells people what it is for." }, { name: "scope", label: "Scope", kind: "choice", choices: ["read", "client", "worker", "admin"], value: "read" }, { name: "expires", label: "Valid for", hint: "Such as 90d; empty: for ever." }],
    commands: values => [cli("token", "create", "--name", values["name"] ?? "", "--scope", values["scope"] ?? "", ...(values["expires"] ? ["--expires", values["expires"]] : [])), sdk("tokens.create", values["name"], [values["scope"]], values["expires"] ? { expires: values["expires"] } : {})],
    action: async values => {
      const made = await call<Token & { token: string }>("POST", "/v1/tokens", JSON.stringify({ name: values["name"], scopes: [values["scope"]], ...(values["expires"] ? { expires: values["expires"] } : {}) }))
      reload()
      return html`<p>Keep it safe: it is shown only this once.</p>${command(made.token)}`
    },
  })
  const remove = (it: Token): void => ask({
    title: `Remove the token ${it.name}?`, button: "Remove the token", isDanger: true, text: "Whoever uses it is refused from then on.",
    commands: () => [cli("token", "rm", it.id), curl("DELETE", `/v1/tokens/${segment(it.id)}`), sdk("tokens.remove", it.id)],
    action: async () => {
      await call("DELETE", `/v1/tokens/${seg(it.id)}`)
      reload()
    },
  })
  const row = (it: Token): unknown[] => [html`<b>${it.name}</b>`, html`<code>${it.id}</code>`, it.scopes.join(", "), html`<code>…${it.hint}</code>`, when(it.created_at), it.expired ? html`<span class="state failed">expired</span>` : it.expires_at ? when(it.expires_at) : "never", small("Remove…", it.name, () => remove(it), "danger")]
  return {
    title: "Tokens", pauseMs: 15_000,
    means: () => [cli("token", "ls"), curl("GET", "/v1/tokens"), "for await (const token of client.tokens.list()) console.log(token.name)"],
    load: async () => {
      try {
        tokens = (await get<Page<Token>>("/v1/tokens?limit=1000")).items
        refused = ""
      } catch (error) {
        if (!(error instanceof Refused) || error.status !== 403) throw error
        refused = error.message
      }
    },
    view: () => html`<div class="title"><h1>Tokens</h1>${refused || tokens === null ? nothing : html`<button @click=${create}>New token…</button>`}</div>
      ${refused ? html`<p class="problem">${refused}</p>` : tokens === null ? nothing : card("Tokens", table("List of tokens", ["Name", "Id", "Scopes", "Ends with", "Created", "Expires", ""], tokens.map(row), "There are none."))}`,
  }
}
