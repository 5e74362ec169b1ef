// What the API answers, as far as the dashboard reads it. /openapi.json describes all of it.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Page<T> { items: T[]; next: string | null }

export interface Unserved {
  queue: string; name: string; task_id: string; since: string | null; asked: string[]; other_queues: string[]
  did_you_mean: string | null
}

export interface Wait {
  on: "event" | "signal" | "task" | "child" | "timer"
  name: string | null; label?: string; since: string | null; deadline: string | null; filter?: string
  unserved?: Unserved | null
}

export interface Problem { type?: string; name?: string; message?: string; stack?: string; cause?: Json; [key: string]: Json | undefined }

export interface RunItem {
  id: string; workflow: string; kind: "flow" | "native" | "code"; status: string; priority: number; tags: string[]; waits: Wait[]
  attempt: number; incarnation: number; cancel_requested: boolean; created_at: string | null; started_at: string | null
  updated_at: string | null; finished_at: string | null; next_wake_at: string | null; deadline_at: string | null
  idle_since: string | null; released: boolean; waits_for_code: boolean; pause_reason: Problem | null
}

export interface Run extends RunItem {
  parent_id: string | null; traceparent: string | null; registered: boolean; version: string | null
  state: { [key: string]: Json }; result: Json; error: Problem | null
}

export interface Entry {
  seq: number; at: string; kind: string; name: string | null; target?: string; outcome: string; step_state?: string
  position?: number; iteration?: number; attempt?: number; data?: Json
}

// A value as the server shows it: a line of text, and what is inside as deep as was asked for.
export interface Shown { name?: string; key?: string; type: string; text: string; size?: number; items?: Shown[]; left_out?: number }

export interface Frame { file: string; line: number; column: number; function: string | null; locals: { [name: string]: Json }; variables: Shown[] }

export interface Snapshot {
  run_id: string; kind: string; status: string; bytes: number; taken_at: string | null; frames: Frame[]
  variables: { name: string; function: string | null; bytes: number }[]
  failure: { frames: Frame[] } | null // how a failed script looked
}

export interface Task {
  id: string; name: string; queue: string; status: string; priority: number; attempt: number; max_attempts: number
  worker: string | null; concurrency_key: string | null; cancel_requested: boolean; created_at: string | null
  started_at: string | null; finished_at: string | null; next_at: string | null; input: Json; result: Json
  error: Problem | null; progress: Json
}

export interface Pending {
  id: string; event_id: string | null; name?: string; taken?: boolean; created_at: string | null
  expires_at: string | null; payload: Json
}

export interface WorkflowItem {
  name: string; version: string; kind: "flow" | "native" | "code"; current: boolean; created_at: string | null
  file: string | null; config: Json; registered: boolean
}

export interface Workflow extends WorkflowItem { source: string | null }

export interface Stats {
  runs: { [status: string]: number }; tasks: { [status: string]: number }; pending_events: number
  pending_signals: number; dead_letters: number; schedules: number; resident_runs: number; active_runs: number
  server_started_at: string | null; disk_free_bytes: number | null
}

export interface Finding {
  severity: string; code: string; message: string; hint: string | null; file: string; line: number; column: number; excerpt: string
}

export interface Queue {
  name: string; queued: number; blocked: number; running: number; oldest_at: string | null; oldest_age_seconds: number; set: boolean; paused: boolean
  max_running: number; max_per_key: number; rate_count: number; rate_period: string | null; opens_at: string | null
}

export interface Worker {
  id: string; node: string; queues: string[]; names: string[] | null; present: boolean; waiting?: number; last_claim_at?: string | null
  handed_out?: number; completed?: number; failed?: number
  recent?: { claimed: number; completed: number; failed: number; per_minute: number }; library?: string | null; held?: number; last_seen_at?: string | null
}

export interface Schedule {
  name: string; workflow: string; input: Json; cron?: string; every?: string; at?: string; timezone: string; jitter: string; overlap: string; catch_up: string
  tags: string[]; paused: boolean; next_at: string | null; last_at: string | null; last_run_id: string | null; started: number; skipped: number
  missed: number; failed: number; last_error: string | null
}

export interface Topic { name: string; consume: string; visible: string; expire: string | null; cap: number; pending: number; full: boolean; waiters?: string[] }

export interface DeadLetter {
  id: string; event_id: string | null; run_id: string | null; topic: string | null; name: string | null; reason: string
  created_at: string | null; expires_at: string | null; payload: Json
}

export interface Node {
  id: number; name: string; version: string | null; alive: boolean; started_at: string | null; lease_until: string | null; executing: number; resident: number
}

export interface Token { id: string; name: string; scopes: string[]; hint: string; created_at: string | null; expires_at: string | null; expired: boolean }

export const STATES = ["pending", "running", "suspended", "paused", "completed", "failed", "cancelled"] as const
export const isOver = (status: string): boolean => status === "completed" || status === "failed" || status === "cancelled"
