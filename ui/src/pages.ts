// The pages by the first word of the address.

import type { View } from "./app"
import { eventsView } from "./events"
import { nowView } from "./now"
import type { Place } from "./route"
import { runView } from "./run"
import { runsView } from "./runs"
import { schedulesView } from "./schedules"
import { membersView, tokensView } from "./system"
import { tasksView } from "./tasks"
import { workflowsView, workflowView } from "./workflows"

export const PAGES = [
  { kind: "now", title: "Now", key: "n" },
  { kind: "runs", title: "Runs", key: "r" },
  { kind: "workflows", title: "Workflows", key: "w" },
  { kind: "tasks", title: "Tasks", key: "t" },
  { kind: "schedules", title: "Schedules", key: "s" },
  { kind: "events", title: "Events", key: "e" },
  { kind: "members", title: "Members", key: "m" },
  { kind: "tokens", title: "Tokens", key: "k" },
]

export function viewOf(place: Place): View {
  switch (place.kind) {
    case "workflows": return place.name ? workflowView(place) : workflowsView()
    case "tasks": return tasksView(place)
    case "schedules": return schedulesView()
    case "events": return eventsView(place)
    case "members": return membersView()
    case "tokens": return tokensView()
    case "runs": return place.name ? runView(place) : runsView(place)
    default: return nowView()
  }
}
