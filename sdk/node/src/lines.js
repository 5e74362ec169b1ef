// Where in a program something happened: the innermost frame of the stack that is not of this library.

const LIBRARY = new URL(".", import.meta.url).href
const FRAME = /\(?((?:file:\/\/|\/|[A-Za-z]:\\|https?:\/\/)[^()\s]*?):(\d+):\d+\)?$/

function placeOf(frame) {
  const match = FRAME.exec(frame.trim())
  if (match === null) return undefined
  const [, file, line] = match
  const url = file.startsWith("/") ? `file://${file}` : file
  if (url.startsWith(LIBRARY) || file.startsWith("node:")) return undefined
  return `${file.startsWith("file://") ? decodeURIComponent(new URL(file).pathname) : file}:${line}`
}

/** As "file:line"; undefined when there is no such frame. */
export function lineOf(error = new Error()) {
  for (const frame of (error.stack ?? "").split("\n").slice(1)) {
    const place = placeOf(frame)
    if (place !== undefined) return place
  }
  return undefined
}
