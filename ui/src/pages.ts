// The pages by the first word of the address.

import { may } from "./api"
import type { View } from "./app"
import { eventsView } from "./events"
import { has } from "./features"
import { nowView } from "./now"
import type { Place } from "./route"
import { runView } from "./run"
import { runsView } from "./runs"
import { schedulesView } from "./schedules"
import { settingsView } from "./settings"
import { membersView, tokensView } from "./system"
import { tasksView } from "./tasks"
import { workflowsView, workflowView } from "./workflows"

const ALL = [
  { kind: "now", title: "Now", key: "n" },
  { kind: "runs", title: "Runs", key: "r" },
  { kind: "workflows", title: "Workflows", key: "w" },
  { kind: "tasks", title: "Tasks", key: "t" },
  { kind: "schedules", title: "Schedules", key: "s" },
  { kind: "events", title: "Events", key: "e" },
  { kind: "members", title: "Members", key: "m" },
  { kind: "tokens", title: "Tokens", key: "k" },
  { kind: "settings", title: "Settings", key: "i" },
]
// Those that this server has something for.
export const pages = (): typeof ALL => ALL.filter(page => page.kind !== "settings" || (may("admin") && has("GET", "/v1/settings")))

export function viewOf(place: Place): View {
  switch (place.kind) {
    case "workflows": return place.name ? workflowView(place) : workflowsView()
    case "tasks": return tasksView(place)
    case "schedules": return schedulesView(place)
    case "events": return eventsView(place)
    case "members": return membersView()
    case "tokens": return tokensView()
    case "settings": return settingsView()
    case "runs": return place.name ? runView(place) : runsView(place)
    default: return nowView(place)
  }
}
