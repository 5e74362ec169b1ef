// What the pages share: drawing, and running until they are left.

import type { TemplateResult } from "lit-html"
import { get, may, Refused } from "./api"
import type { News } from "./changes"

export interface View {
  title: string
  view: () => TemplateResult
  load: () => Promise<void> // fetches what is shown; called when something may have changed
  follows?: (news: News) => boolean // whether they are about what is shown
  close?: () => void
  pauseMs?: number // between two looks at what no news tell
  lateMs?: number // the server's answers may be that old: it is looked at once more after news
  keys?: Record<string, [string, () => void]> // key: what it does, how
  means?: () => string[] // the same by other means: what is shown and done here, as commands
}

// Keys that change something, for those who may.
export type Keys = NonNullable<View["keys"]>
export const keysOf = (keys: Keys): Keys => may("client") ? keys : {}

let drawLater = (): void => {}
let loadLater = (): void => {}
export function connect(draw: () => void, load: () => void): void {
  drawLater = draw
  loadLater = load
}
export const draw = (): void => drawLater()
export const reload = (): void => loadLater() // now, not at the next tick

// A short message at the edge of the page.
export const toast = { text: "", isBad: false, timer: 0, undo: null as (() => void) | null }
// undo: takes back what was said to be done, as long as the message is there.
export function say(text: string, isBad = false, undo?: () => Promise<void>): void {
  const back = (): void => {
    toast.undo = null
    undo?.().catch(error => say(reason(error), true))
  }
  Object.assign(toast, { text, isBad, undo: undo ? back : null })
  clearTimeout(toast.timer)
  toast.timer = window.setTimeout(() => {
    toast.text = ""
    draw()
  }, undo ? 20_000 : isBad ? 9000 : 4000)
  draw()
}
export const reason = (error: unknown): string =>
  error instanceof Refused ? error.message : error instanceof TypeError ? "The server cannot be reached." : String(error)

// Does something, says how it went, and shows what it changed.
export async function act(what: string, action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action()
    say(what)
    reload()
    return true
  } catch (error) {
    say(reason(error), true)
    reload()
    return false
  }
}

// Null where there is nothing; every other answer that is not OK is an error.
export async function getOrNull<T>(path: string): Promise<T | null> {
  try {
    return await get<T>(path)
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return null
    throw error
  }
}
