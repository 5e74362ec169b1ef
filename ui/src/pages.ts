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

// icon: a path in a box of 16.
const ALL = [
  { kind: "now", title: "Now", key: "n", icon: "M1.5 8.5h3l2-5 3 9 2-4h3" },
  { kind: "runs", title: "Runs", key: "r", icon: "M2 4h1M6 4h8M2 8h1M6 8h8M2 12h1M6 12h8" },
  { kind: "workflows", title: "Workflows", key: "w", icon: "M2 2h4v4H2zM10 10h4v4h-4zM4 6v3.5A2.5 2.5 0 0 0 6.5 12H10" },
  { kind: "tasks", title: "Tasks", key: "t", icon: "M2 3h12v10H2zM5 8l2 2 4-4.5" },
  { kind: "schedules", title: "Schedules", key: "s", icon: "M8 2a6 6 0 1 0 .01 0M8 5v3.5l2.5 1.5" },
  { kind: "events", title: "Events", key: "e", icon: "M9 1.5 3 9h4.5L7 14.5 13 7H8.5z" },
  { kind: "members", title: "Members", key: "m", icon: "M2 2.5h12v4.5H2zM2 9h12v4.5H2zM4.5 4.75h.1M4.5 11.25h.1" },
  { kind: "tokens", title: "Tokens", key: "k", icon: "M5.5 7a3.5 3.5 0 1 0 .01 0M8 8.5 13.5 3M11 5.5l2 2" },
  { kind: "settings", title: "Settings", key: "i", icon: "M2 4.5h7M13 4.5h1M9 3v3h4V3zM2 11.5h1M7 11.5h7M3 10v3h4v-3z" },
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
