// The frame around the pages: where we are, staying current, keys.

import { html, nothing, render, type TemplateResult } from "lit-html"
import { get, link, loadAccess, useToken } from "./api"
import { connect, reason, toast, type View } from "./app"
import { Changes, type News } from "./changes"
import { closeDialog, isAsking, tell } from "./dialog"
import { loadFeatures } from "./features"
import { openPalette } from "./palette"
import { pages, viewOf } from "./pages"
import { go, href, place } from "./route"
import { command, type Piece } from "./parts"

const TICK_MS = 1000
const PACE_MS = 400 // between two looks, however much changes
const AWAY_MS = 15_000 // between two looks while nobody tells what changes
const app = document.getElementById("app") as HTMLElement
let current: View | null = null, address = "", problem = "", version = ""
let isDrawing = false, prefix = ""
let loading: View | null = null, isAgain = false, held: News[] = [], lookedAt = 0 // when the last look ended
let nextTimer = 0, lateTimer = 0, slowTimer = 0
const changes = new Changes(begin, hear, () => {
  setSlow()
  drawSoon()
})

// ---- drawing ----

function drawSoon(): void {
  if (isDrawing) return
  isDrawing = true
  queueMicrotask(() => {
    isDrawing = false
    render(frame(), app)
  })
}

const status = (): TemplateResult => link.isAway
  ? html`<span class="link away" role="status">no connection, trying again</span>`
  : html`<span class="link" role="status">${changes.isLive ? "live" : "connecting"}</span>`

function tokenForm(): TemplateResult {
  return html`<h1>${link.needsToken}</h1><div class="card pad"><form @submit=${(event: Event) => {
    event.preventDefault()
    useToken(String(new FormData(event.currentTarget as HTMLFormElement).get("token") ?? "").trim())
    void refresh()
  }}><label for="token">A token with the scope read or more. It stays in the memory of this tab, and is gone when you close or reload it.</label>
    <div class="row"><input id="token" name="token" type="password" autocomplete="off" required><button class="primary">Use it</button></div></form></div>`
}

function frame(): TemplateResult {
  const here = place()
  return html`
    <a class="skip" href="#main" @click=${(event: Event) => {
      event.preventDefault()
      document.getElementById("main")?.focus()
    }}>Skip to the content</a>
    <header class="top">
      <a class="brand" href="#/"><svg viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="#4453c4"></rect><path d="M9 10v12M16 10v12" stroke="#fff" stroke-width="3.4" stroke-linecap="round"></path><path d="M21.5 11l5 5-5 5z" fill="#fff"></path></svg>abide</a>
      <nav aria-label="Pages">${pages().map(page => html`<a href=${href(page.kind)} aria-current=${here.kind === page.kind ? "page" : nothing}><svg viewBox="0 0 16 16" aria-hidden="true"><path d=${page.icon}></path></svg>${page.title}</a>`)}</nav>
      <div class="foot"><button class="quiet" @click=${palette}>Go to… <kbd>Ctrl K</kbd></button>${current?.means && !link.needsToken ? html`<button class="quiet" @click=${means}>Copy as… <kbd>c</kbd></button>` : nothing}<button class="quiet" @click=${help}>Keys <kbd>?</kbd></button>${status()}<span class="soft small version">${version}</span></div>
    </header>
    <main id="main" tabindex="-1">
      ${link.isAway ? html`<p class="banner" role="alert">The server cannot be reached. What you see is from before; it goes on by itself when the server is back.</p>` : nothing}
      ${link.needsToken ? tokenForm() : html`${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}${current?.view() ?? nothing}`}
    </main>
    <div class="toast-place" role="status" aria-live="polite">${toast.text ? html`<div class="toast ${toast.isBad ? "bad" : ""}">${toast.text}${toast.undo ? html` <button class="small-button" @click=${toast.undo}>Undo</button>` : nothing}</div>` : nothing}</div>`
}

// ---- staying current ----

// One look at a time; whatever is wanted meanwhile is done by another one afterwards.
async function refresh(): Promise<void> {
  clearTimeout(nextTimer)
  nextTimer = 0
  const view = current
  if (view !== null && loading === view) {
    isAgain = true
    return
  }
  loading = view
  held = []
  do {
    isAgain = false
    await look(view)
    if (view !== current) return
    isAgain ||= held.splice(0).some(news => view?.follows?.(news))
  } while (isAgain)
  loading = null
  lookedAt = Date.now()
  setSlow()
}

async function look(view: View | null): Promise<void> {
  try {
    await view?.load()
    if (view === current) problem = ""
  } catch (error) {
    if (view === current && !link.isAway && !link.needsToken) problem = reason(error)
  }
  if (view === current) drawSoon()
}

// Rights may have changed with the token or with the server.
function begin(): void {
  loadAccess().catch(() => {}) // the next stream tries again
  loadFeatures().then(refresh, refresh)
}

// What comes during a look is judged by what the look finds.
function hear(news: News): void {
  if (loading !== null) held.push(news)
  else if (current?.follows?.(news)) refreshSoon()
}

function refreshSoon(): void {
  if (!nextTimer) nextTimer = window.setTimeout(refresh, Math.max(0, lookedAt + PACE_MS - Date.now()))
  if (!current?.lateMs) return
  clearTimeout(lateTimer)
  lateTimer = window.setTimeout(refresh, current.lateMs)
}

function setSlow(): void {
  clearTimeout(slowTimer)
  const pause = changes.isLive ? current?.pauseMs : AWAY_MS
  if (pause && !document.hidden) slowTimer = window.setTimeout(refresh, pause)
}

function open(): void {
  const here = place(), key = location.hash
  if (key === address && current) return
  address = key
  current?.close?.()
  for (const each of [nextTimer, lateTimer, slowTimer]) clearTimeout(each)
  problem = ""
  const isFirst = current === null
  current = viewOf(here)
  document.title = `${current.title} · abide`
  scrollTo(0, 0)
  drawSoon()
  queueMicrotask(() => document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" })) // on a narrow screen
  void refresh().then(() => {
    if (!isFirst && !isAsking()) document.getElementById("main")?.focus({ preventScroll: true })
  })
}

// ---- keys ----

// What can be done here by a key can be found by its words as well.
function palette(): void {
  const here = Object.values(current?.keys ?? {}).map(([what, does]) => ({ title: what, kind: "here", does }))
  openPalette([...here, ...(current?.means ? [{ title: "copy as commands", kind: "here", does: means }] : []), { title: "keys", kind: "here", does: help }])
}

const means = (): void => tell("The same by other means", html`${current?.means?.().map(command)}`)

function help(): void {
  const row = (key: string, what: Piece): TemplateResult => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`
  tell("Keys", html`<dl class="keys">
    ${row("Ctrl K", "go anywhere, do anything")}${row("?", "this list")}
    ${pages().map(page => row(`g ${page.key}`, page.title))}
    ${current?.means ? row("c", "what is here as commands") : nothing}
    ${Object.entries(current?.keys ?? {}).map(([key, [what]]) => row(key, what))}</dl>`)
}

addEventListener("keydown", event => {
  const target = event.target as HTMLElement
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault()
    return palette()
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isAsking()) return
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return
  const before = prefix
  prefix = ""
  if (before === "g") {
    const page = pages().find(each => each.key === event.key)
    if (page) return go(href(page.kind))
  }
  if (event.key === "g") prefix = "g"
  else if (event.key === "?") help()
  else if (event.key === "c" && current?.means) means()
  else if (event.key === "Enter" && target !== document.body && target.id !== "main") return
  else {
    const does = current?.keys?.[event.key]
    if (!does) return
    event.preventDefault()
    does[1]()
  }
})

addEventListener("hashchange", () => {
  closeDialog()
  open()
})
document.addEventListener("visibilitychange", () => {
  if (document.hidden) changes.stop()
  else changes.start()
})
addEventListener("online", () => changes.start())
setInterval(() => {
  if (!document.hidden) drawSoon()
}, TICK_MS)
link.onChange = drawSoon
link.onToken = () => changes.start()
connect(drawSoon, () => void refresh())
get<{ version: string }>("/version").then(answer => {
  version = answer.version
  drawSoon()
}, () => {})
open()
changes.start()
