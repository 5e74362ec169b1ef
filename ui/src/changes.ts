// What changes, as the server tells it: one stream for the page, opened again when it breaks.
//
// It names what changed, and the page asks for it anew. What happened before a stream began is not told, so a
// beginning is told as well, and what is on the screen is loaded again. A page that nobody sees has no stream.

import { Refused, stream } from "./api"

export type Kind = "runs" | "tasks" | "schedules" | "topics" | "queues" | "workflows"
// Null: something about it changed, or about something that has no name.
export interface Named { id?: string | null; name?: string | null; workflow?: string | null; status?: string | null }
export type News = Partial<Record<Kind, (Named | string)[] | "all">>

const RETRY_MS = 250, RETRY_MAX_MS = 10_000
const SILENCE_MS = 60_000 // the server says something every 25 seconds

// Whether the news are about something of this kind that holds.
export function tells(news: News, kind: Kind, isOurs: (one: Named) => boolean = () => true): boolean {
  const named = news[kind]
  return named === "all" || !!named?.some(one => isOurs(typeof one === "string" ? { id: one, name: one } : one))
}

export class Changes {
  isLive = false
  private request: AbortController | null = null
  private timer = 0
  private failures = 0

  constructor(private readonly onBegin: () => void, private readonly onNews: (news: News) => void, private readonly onLink: () => void) {}

  // From the beginning: also when there is a new token, or somebody looks at the page again.
  start(): void {
    this.stop()
    this.failures = 0
    void this.listen()
  }

  stop(): void {
    clearTimeout(this.timer)
    this.request?.abort()
    this.request = null
    this.setLive(false)
  }

  private setLive(isLive: boolean): void {
    if (this.isLive === isLive) return
    this.isLive = isLive
    this.onLink()
  }

  private async listen(): Promise<void> {
    const mine = new AbortController()
    this.request = mine
    let needsToken = false
    try {
      await this.read(await stream("/v1/changes", mine.signal), mine)
    } catch (error) {
      needsToken = error instanceof Refused && error.status === 401 // whoever gives one starts anew
    }
    if (this.request !== mine) return
    this.setLive(false)
    if (needsToken) return
    this.timer = window.setTimeout(() => void this.listen(), Math.min(RETRY_MAX_MS, RETRY_MS * 2 ** this.failures++))
  }

  private async read(answer: Response, mine: AbortController): Promise<void> {
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = "", silence = 0
    try {
      for (;;) {
        silence = window.setTimeout(() => mine.abort(), SILENCE_MS)
        const part = await reader?.read()
        clearTimeout(silence)
        if (!part || part.done || this.request !== mine) return
        const blocks = (text + part.value).split("\n\n")
        text = blocks.pop() ?? ""
        for (const block of blocks) this.take(block)
      }
    } finally {
      clearTimeout(silence)
    }
  }

  private take(block: string): void {
    const field = (name: string): string => block.split("\n").filter(line => line.startsWith(`${name}:`)).map(line => line.slice(name.length + 1).trim()).join("\n")
    const event = field("event")
    if (event === "hello") {
      this.failures = 0
      this.setLive(true)
      this.onBegin()
    } else if (event === "changes") {
      this.onNews(JSON.parse(field("data")) as News)
    } else if (event === "resync") {
      const { kinds } = JSON.parse(field("data")) as { kinds: Kind[] }
      this.onNews(Object.fromEntries(kinds.map(kind => [kind, "all"])))
    }
  }
}
