// The pages by the first word of the address.

import type { View } from "./app"
import type { Place } from "./route"
import { runView } from "./run"
import { runsView } from "./runs"
import { workflowsView, workflowView } from "./workflows"

export const PAGES = [
  { kind: "runs", title: "Runs", key: "r" },
  { kind: "workflows", title: "Workflows", key: "w" },
]

export function viewOf(place: Place): View {
  if (place.kind === "workflows") return place.name ? workflowView(place) : workflowsView()
  return place.kind === "runs" && place.name ? runView(place) : runsView(place)
}
