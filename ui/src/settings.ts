// The settings that are in force, and where each comes from.

import { html, nothing } from "lit-html"
import { get, Refused } from "./api"
import { draw, type View } from "./app"
import { cli, curl, sdk } from "./format"
import { card, table } from "./parts"
import type { Json } from "./types"

interface Setting { name: string; value: Json; source: string; description: string }

export function settingsView(): View {
  let items: Setting[] | null = null, refused = "", wanted = ""
  const isWanted = (it: Setting): boolean => `${it.name} ${it.description}`.toLowerCase().includes(wanted.toLowerCase())
  const text = (value: Json): string => value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)
  const row = (it: Setting): unknown[] => [html`<code>${it.name}</code>`, html`<code class="wrapping">${text(it.value)}</code>`, it.source === "default" ? html`<span class="soft">default</span>` : html`<b>${it.source}</b>`, html`<span class="soft">${it.description}</span>`]
  return {
    title: "Settings", pauseMs: 15_000,
    means: () => [cli("settings"), curl("GET", "/v1/settings"), sdk("server.settings")],
    keys: { "/": ["search", () => document.getElementById("setting-search")?.focus()] },
    load: async () => {
      try {
        items = (await get<{ items: Setting[] }>("/v1/settings")).items
        refused = ""
      } catch (error) {
        if (!(error instanceof Refused) || (error.status !== 403 && error.status !== 404)) throw error
        refused = error.message
      }
    },
    view: () => html`<h1>Settings</h1>${refused ? html`<p class="problem">${refused}</p>` : items === null ? nothing : html`
      <div class="search"><label class="hidden" for="setting-search">Search settings</label><input id="setting-search" type="search" autocomplete="off" placeholder="Search settings" .value=${wanted} @input=${(event: Event) => {
        wanted = (event.target as HTMLInputElement).value
        draw()
      }}></div>
      ${card("In force", table("List of settings", ["Setting", "Value", "From", "Meaning"], items.filter(isWanted).map(row), "None is like that."), html`<span class="soft small">They are read from the settings file, the environment and the command line.</span>`)}`}`,
  }
}
