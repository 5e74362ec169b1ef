// Where the page is: "#/kind/name?key=value". All of what is shown follows from it.

export interface Place { kind: string; name: string; options: URLSearchParams }

export function place(): Place {
  const [path = "", search = ""] = location.hash.replace(/^#\/?/, "").split("?", 2)
  const [kind = "", ...rest] = path.split("/")
  let name = rest.join("/")
  try {
    name = decodeURIComponent(name)
  } catch {
    // A percent sign that somebody typed: the name is taken as it stands.
  }
  return { kind: kind || "now", name, options: new URLSearchParams(search) }
}

export function href(kind: string, name = "", options: Record<string, string> = {}): string {
  const given = Object.entries(options).filter(([, value]) => value !== "")
  return `#/${kind}${name ? `/${encodeURIComponent(name)}` : ""}${given.length ? `?${new URLSearchParams(given)}` : ""}`
}

export function go(to: string): void {
  location.hash = to
}

// Writes the options into the address without a step in the browser's history.
export function keep(kind: string, name: string, options: Record<string, string>): void {
  const to = href(kind, name, options)
  if (to !== location.hash) history.replaceState(null, "", to)
}
