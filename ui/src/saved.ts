// Views of the list of runs that somebody gave a name: kept by the browser, and whole in the address.

const KEY = "abide.views", VIEWS_MAX = 50

export interface SavedView { name: string; q: string }

const isView = (it: unknown): it is SavedView =>
  typeof it === "object" && it !== null && typeof (it as SavedView).name === "string" && typeof (it as SavedView).q === "string"

// A browser may keep nothing, and what it kept may be anything.
export function savedViews(): SavedView[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept) ? kept.filter(isView) : []
  } catch {
    return []
  }
}

function write(views: SavedView[]): void {
  try {
    if (views.length) localStorage.setItem(KEY, JSON.stringify(views))
    else localStorage.removeItem(KEY)
  } catch {
    throw new Error("This browser keeps nothing for this page; the address has the whole view.")
  }
}

export function saveView(view: SavedView): void {
  const others = savedViews().filter(each => each.name !== view.name)
  if (others.length >= VIEWS_MAX) throw new Error(`At most ${VIEWS_MAX} views are kept. Remove one first.`)
  write([...others, view].sort((a, b) => a.name < b.name ? -1 : 1))
}
export const removeView = (name: string): void => write(savedViews().filter(each => each.name !== name))
