// Topics with the events that are kept on them, and dead letters.

import { html, nothing, type TemplateResult } from "lit-html"
import { call, get, seg } from "./api"
import { act, getOrNull, keysOf, reload, type View } from "./app"
import { tells } from "./changes"
import { ask } from "./dialog"
import { cli, count, curl, parsed, sdk, segment, short } from "./format"
import { acting, card, empty, facts, runLink, small, table, value, when } from "./parts"
import { href, type Place } from "./route"
import { isOver, type DeadLetter, type Page, type Pending, type Topic } from "./types"

function publish(topic = ""): void {
  ask({
    title: "Publish an event", button: "Publish",
    fields: [{ name: "topic", label: "Topic", value: topic, required: true }, { name: "payload", label: "Payload (JSON)", kind: "json", value: "{}" }],
    commands: values => [cli("emit", values["topic"] ?? "", ...(values["payload"] ? [values["payload"]] : [])), curl("POST", `/v1/events/${segment(values["topic"] ?? "")}`, values["payload"] || undefined), sdk("emit", values["topic"], parsed(values["payload"]))],
    action: async values => {
      const done = await call<{ resumed: number; pending: boolean }>("POST", `/v1/events/${seg(values["topic"] ?? "")}`, values["payload"] || undefined)
      reload()
      return html`<p>${done.resumed === 1 ? "One run goes on." : `${count(done.resumed)} runs go on.`} ${done.pending ? "It is kept for whoever waits later." : ""}</p>`
    },
  })
}

export function eventsView(place: Place): View {
  if (place.name) return topicView(place.name)
  let topics: Topic[] | null = null, letters: DeadLetter[] = []
  const remove = (it: DeadLetter): void => ask({
    title: `Remove the dead letter ${it.id}?`, button: "Remove it", isDanger: true, text: short(it.payload, 200),
    commands: () => [cli("dead", "rm", it.id), curl("DELETE", `/v1/dead-letters/${segment(it.id)}`), sdk("deadLetters.remove", it.id)],
    action: async () => {
      await call("DELETE", `/v1/dead-letters/${seg(it.id)}`)
      reload()
    },
  })
  const topicRow = (it: Topic): unknown[] => [html`<a href=${href("events", it.name)}><b>${it.name}</b></a>${it.full ? html` <span class="state failed">full</span>` : nothing}`, it.consume, it.visible, it.expire ?? "never", count(it.pending), small("Publish…", `to ${it.name}`, () => publish(it.name))]
  const letterRow = (it: DeadLetter): unknown[] => [it.topic ?? it.name ?? "", it.reason, it.run_id ? runLink(it.run_id) : nothing, html`<code>${short(it.payload, 80)}</code>`, when(it.created_at),
    html`<span class="nowrap">${small("Replay", it.id, () => act("Delivered again.", () => call("POST", `/v1/dead-letters/${seg(it.id)}/replay`)))}${small("Remove…", it.id, () => remove(it), "danger")}</span>`]
  return {
    title: "Events", pauseMs: 15_000, // events expire unsaid
    follows: news => tells(news, "topics") || tells(news, "runs", one => !one.status || one.status === "removed" || isOver(one.status)), // what it leaves becomes dead letters
    load: async () => {
      const [all, dead] = await Promise.all([get<Page<Topic>>("/v1/topics?limit=1000"), get<Page<DeadLetter>>("/v1/dead-letters?limit=200")])
      topics = all.items
      letters = dead.items
    },
    get keys() {
      return keysOf({ p: ["publish an event", () => publish()] })
    },
    means: () => [cli("topic", "ls"), cli("dead", "ls"), curl("GET", "/v1/topics"), curl("GET", "/v1/dead-letters"), ...letters.slice(0, 5).flatMap(it => [cli("dead", "replay", it.id), curl("POST", `/v1/dead-letters/${segment(it.id)}/replay`), sdk("deadLetters.replay", it.id)])],
    view: () => html`<div class="title"><h1>Events</h1>${acting(html`<button class="primary" @click=${() => publish()}>Publish…</button>`)}</div>
      ${topics === null ? nothing : html`${card("Topics", table("List of topics", ["Topic", "Taken by", "Visible", "Expires", "Kept", ""], topics.map(topicRow), "No topic yet: a run that waits for one makes it."))}
      ${card("Dead letters", table("List of dead letters", ["Topic or signal", "Reason", "Run", "Payload", "Since", ""], letters.map(letterRow), "None."))}`}`,
  }
}

function topicView(name: string): View {
  let topic: Topic | null = null, events: Pending[] = [], isMissing = false
  const path = `/v1/topics/${seg(name)}`
  const change = (it: Topic): void => {
    const bodyOf = (values: Record<string, string>): string => JSON.stringify({ consume: values["consume"], visible: values["visible"], expire: values["expire"] || null, cap: Number(values["cap"] || 0) })
    ask({
      title: `Policy of ${name}`, button: "Set",
      fields: [{ name: "consume", label: "An event is taken by", kind: "choice", choices: ["one", "all"], value: it.consume }, { name: "visible", label: "A run sees events", kind: "choice", choices: ["all", "after-create", "after-wait"], value: it.visible },
        { name: "expire", label: "Kept for", value: it.expire ?? "", hint: "Such as 24h; empty: for ever." }, { name: "cap", label: "Most events kept", value: String(it.cap), hint: "0: the server's setting." }],
      commands: values => [cli("topic", "set", name, "--consume", values["consume"] ?? "", "--visible", values["visible"] ?? "", ...(values["expire"] ? ["--expire", values["expire"]] : [])), curl("PATCH", `/v1/topics/${segment(name)}`, bodyOf(values)), sdk("topics.change", name, JSON.parse(bodyOf(values)))],
      action: async values => {
        await call("PATCH", path, bodyOf(values))
        reload()
      },
    })
  }
  const removeAll = (): void => ask({
    title: `Remove all events of ${name}?`, button: "Remove them", isDanger: true, text: "Runs that wait later will not see them.",
    commands: () => [cli("topic", "rm-events", name, "--all"), curl("DELETE", `/v1/topics/${segment(name)}/events`), sdk("topics.removeEvents", name)],
    action: async () => {
      await call("DELETE", `${path}/events`)
      reload()
    },
  })
  const remove = (it: Pending): void => ask({
    title: `Remove the event ${it.id}?`, button: "Remove it", isDanger: true, text: short(it.payload, 200),
    commands: () => [cli("topic", "rm-events", name, it.id), curl("DELETE", `/v1/topics/${segment(name)}/events/${segment(it.id)}`), sdk("topics.removeEvent", name, it.id)],
    action: async () => {
      await call("DELETE", `${path}/events/${seg(it.id)}`)
      reload()
    },
  })
  const view = (): TemplateResult => {
    if (isMissing) return html`<h1>There is no such topic</h1><div class="card">${empty(html`There is no topic <code>${name}</code>. <a href=${href("events")}>All topics</a>`)}</div>`
    const it = topic
    return html`<p class="crumbs"><a href=${href("events")}>Events</a></p><div class="title"><h1 class="wrapping">${name}</h1></div>${it ? html`
      ${acting(html`<div class="row actions"><button class="primary" @click=${() => publish(name)}>Publish…</button><button @click=${() => change(it)}>Policy…</button>${events.length ? html`<button class="danger" @click=${removeAll}>Remove all events…</button>` : nothing}</div>`)}
      ${card("About", facts([["Taken by", it.consume], ["Visible", it.visible], ["Expires", it.expire ?? "never"], ["Cap", it.cap ? count(it.cap) : "the server's setting"], ["Waiting", it.waiters?.length ? html`${it.waiters.slice(0, 20).map(id => html`${runLink(id)} `)}` : "nobody"]]))}
      ${card("Events that are kept", table("List of events", ["Payload", "Since", "Expires", "Taken", ""], events.map(each => [html`<details><summary><code>${short(each.payload, 80)}</code></summary>${value(each.payload)}</details>`, when(each.created_at), when(each.expires_at), each.taken ? "yes" : "", small("Remove…", each.id, () => remove(each), "danger")]), "None."))}` : nothing}`
  }
  return {
    title: name, view, pauseMs: 15_000,
    means: () => [cli("topic", "show", name), cli("topic", "events", name), curl("GET", `/v1/topics/${segment(name)}`), sdk("topics.show", name)],
    get keys() {
      return keysOf({ p: ["publish an event", () => publish(name)] })
    },
    follows: news => tells(news, "topics", one => !one.name || one.name === name),
    load: async () => {
      topic = await getOrNull<Topic>(path)
      isMissing = topic === null
      events = topic ? (await get<Page<Pending>>(`${path}/events?limit=100`)).items : []
    },
  }
}
