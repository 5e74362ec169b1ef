import type { Definition, InputAnd, RunHandle, RunReference } from "./workflow.js"
export * from "./workflow.js"

/** A number of seconds, or text such as "500ms", "2s", "15m", "24h", "30d", "1h30m", "PT15M". */
export type Duration = number | string
/** RFC 3339 text, or a Date. */
export type Time = string | Date
/** One text (several of them with commas), or a list of them. */
export type Several = string | readonly string[]
export type Json = any

export interface ConnectionOptions {
  /** URL of the server; $ABIDE_SERVER or http://127.0.0.1:7433 unless given. */
  server?: string
  /** Bearer token; $ABIDE_TOKEN unless given. */
  token?: string
  /** How long one request may take; 30 s unless given. */
  timeout?: Duration
  /** How long a request is tried again while the server is away; 30 s unless given. */
  retryFor?: Duration
  /** Certificate authority, PEM, for https with certificates of your own. */
  ca?: string | Uint8Array
}

export interface PageOptions {
  /** How many items one request asks for. */
  pageSize?: number
}

// ---- what the server answers: the schemas of /openapi.json ----

export type RunStatus = "pending" | "running" | "suspended" | "paused" | "completed" | "failed" | "cancelled"

export interface Wait {
  on: string
  name: string | null
  since: string | null
  deadline: string | null
  filter?: string
  /** The task's name, or the workflow of the run. */
  label?: string
  /** Of a task that nobody asks for. Not in lists. */
  unserved?: Unserved | null
}

/** A run in a list. */
export interface RunItem {
  id: string
  workflow: string
  kind: string
  status: RunStatus
  priority: number
  tags: string[]
  waits: Wait[]
  attempt: number
  attempts: number
  incarnation: number
  cancel_requested: boolean
  created_at: string | null
  started_at: string | null
  updated_at: string | null
  finished_at: string | null
  next_wake_at: string | null
  deadline_at: string | null
  idle_since: string | null
  released: boolean
  pause_reason: Json
  /** It could go on, and waits for a node that has its workflow in C. */
  waits_for_code: boolean
}

export interface Run extends RunItem {
  parent_id: string | null
  traceparent: string | null
  registered: boolean
  version: string | null
  /** What its script has set with State.set. */
  state: { [key: string]: Json }
  result: Json
  error: Json
}

/** One entry of a run's log, or one of its steps. */
export interface LogEntry {
  seq: number
  at: string | null
  kind: string
  name: string | null
  outcome: string
  target?: string
  step_state?: string
  position?: number
  iteration?: number
  attempt?: number
  data?: Json
}

/** A value of a script, as deep as asked. */
export interface View {
  name?: string
  key?: string
  path?: string
  type: string
  text: string
  size?: number
  items?: View[]
  left_out?: number
}

export interface Frame {
  file: string
  line: number
  column: number
  function: string | null
  locals: { [name: string]: Json }
  variables: View[]
}

/** A script when it failed. */
export interface PostMortem {
  frames: Frame[]
  excerpt: { line: number; text: string }[]
  causes: { type?: string; message?: string; code?: string }[]
}

/** The beginning of a turn that is kept. */
export interface Turn {
  turn: number
  bytes: number
  after: number
  last: number
  file: string | null
  line: number | null
  column: number | null
  function: string | null
}

export interface SetValue {
  path: string
  /** As text; null: it was not there. */
  old: string | null
  new: string
}

export interface VariablesSet {
  /** False: a dry run. */
  changed: boolean
  values: SetValue[]
}

export interface TurnDiff {
  run_id: string
  from: { turn: number | null; file: string | null; line: number | null; column: number | null; function: string | null }
  to: { turn: number | null; file: string | null; line: number | null; column: number | null; function: string | null }
  changes: { function: string | null; path: string; change: string; from: string | null; to: string | null }[]
  more: boolean
}

export interface Snapshot {
  run_id: string
  kind: string
  status: RunStatus
  bytes: number
  taken_at: string | null
  waits: Wait[]
  frames: Frame[]
  variables: { name: string; function: string | null; bytes: number }[]
  value: View | null
  failure: PostMortem | null
}

/** Answers for a run that is tried. */
export interface TryOptions {
  tasks?: readonly ({ name: string; result?: Json } | { name: string; error: Json })[]
  /** Child workflows. */
  children?: readonly ({ name: string; result?: Json } | { name: string; error: Json })[]
  signals?: readonly { name: string; payload?: Json }[]
  events?: readonly { topic: string; payload?: Json }[]
  /** How much time may pass. */
  time?: Duration
  /** Begin as that kept turn began. */
  turn?: number
  /** Put the copy on this version of its workflow first, or on the `current` one. */
  version?: string
  /** The same with a version that is not deployed. */
  source?: string
}

/** What a run would do. */
export interface Trial {
  run_id: string
  workflow: string
  version: string
  turn: number | null
  status: string
  result: Json
  error: Json
  reason: string | null
  now: string
  turns: number
  effects: { at: string; kind: string; name: string | null; data: Json }[]
  state: { [key: string]: Json }
  waits: { on: string; name: string | null; until: string | null }[]
  variables: { function: string; name: string; before: string | null; after: string }[]
  unused: string[]
}

/** What a debugger goes on with; the snapshot is hexadecimal. */
export interface RunCopy {
  run_id: string
  workflow: string
  version: string
  file: string
  source: string
  turn: number | null
  at: string
  input: Json
  snapshot: string | null
  deliveries: { slot: number; outcome: string; data: Json }[]
}

/** An event or signal that nobody has taken. */
export interface Pending {
  id: string
  event_id: string | null
  name?: string
  taken?: boolean
  created_at: string | null
  expires_at: string | null
  payload: Json
}

export interface Published {
  event_id: string
  resumed: number
  pending: boolean
  duplicate: boolean
}

export type TaskStatus = "queued" | "leased" | "completed" | "failed" | "cancelled"

export interface Task {
  id: string
  name: string
  queue: string
  status: TaskStatus
  priority: number
  attempt: number
  max_attempts: number
  worker: string | null
  concurrency_key: string | null
  cancel_requested: boolean
  created_at: string | null
  started_at: string | null
  finished_at: string | null
  next_at: string | null
  input: Json
  result: Json
  error: Json
  progress: Json
  /** When nobody asks for it. Not in lists. */
  unserved?: Unserved | null
}

/** A task that nobody asks for. */
export interface Unserved {
  queue: string
  /** Of the task. */
  name: string
  /** One of that name that waits. */
  task_id: string
  since: string | null
  /** Names that workers ask its queue for. */
  asked: string[]
  /** Queues in which its name is asked for. */
  other_queues: string[]
  /** The name that is nearest, if one is near. */
  did_you_mean: string | null
}

export interface ClaimedTask {
  id: string
  name: string
  queue: string
  input: Json
  attempt: number
  token: number
  lease_until: string | null
  lease_ms: number
  run_id: string | null
  step: number | null
  traceparent: string | null
  tracestate: string | null
}

/** An entry of the journal of a run that another process executes. */
export interface JournalEntry {
  seq: number
  kind: string
  op: number
  name: string | null
  outcome: string
  attempt: number
  data: Json
}

export interface ServerTime {
  now: string
  is_virtual: boolean
}

export interface Advanced extends ServerTime {
  is_settled: boolean
  next_at: string | null
}

export interface ClaimedTurn {
  turn: number
  run_id: string
  workflow: string
  version: string | null
  epoch: number
  attempt: number
  parent_id: string | null
  started_at: string | null
  tags: string[]
  traceparent: string | null
  cancelled: boolean
  now: string
  lease_until: string
  input: Json
  after: number
  journal: JournalEntry[]
}

export interface TurnVerdict {
  turn: number
  status: string
  now: string
  run_status?: string
  is_held?: boolean
  cancelled?: boolean
  journal?: JournalEntry[]
  seq?: number
  code?: string
  detail?: string
}

/** What became of a leased task. */
export type TaskOutcome =
  | { id: string; token: number; result: Json }
  | { id: string; token: number; error: { type?: string; message: string; retryable?: boolean; details?: Json } }
  | { id: string; token: number; release: true }

export interface Verdict {
  id: string
  status: "accepted" | "cancelled" | "fenced" | "not_found"
  retried?: boolean
  code?: string
  detail?: string
}

export interface Workflow {
  name: string
  version: string
  kind: string
  current: boolean
  created_at: string | null
  config: Json
  registered: boolean
  /** Name of its file, if it was deployed with one. */
  file: string | null
}

export interface Deployed {
  version: string
  workflows: { name: string; new: boolean }[]
  /** What is probably a mistake. */
  warnings: Finding[]
}

export interface Place {
  line: number | null
  column: number | null
  function: string | null
  source: string | null
  waiting: number
  failed: number
  example: string | null
}

export interface Places {
  version: string
  places: Place[]
  more: boolean
}

/** Runs of one version at one place. */
export interface PlanGroup {
  version: string
  line: number | null
  column: number | null
  function: string | null
  source: string | null
  count: number
  failed: number
  verdict: string
  reason: string | null
  example: string | null
}

/** What a version would mean for the runs there are. */
export interface Plan {
  workflow: string
  current: string | null
  new: string
  is_same: boolean
  groups: PlanGroup[]
  moves: number
  refused: number
  stays: number
  unknown: number
  more: boolean
  others?: Plan[]
  warnings?: Finding[]
}

export interface Finding {
  severity: string
  code: string
  message: string
  hint: string | null
  /** What to write instead of what is between start and end. */
  suggestion: string | null
  file: string
  line: number
  column: number
  endLine: number
  endColumn: number
  start: number
  end: number
  /** The line, cut around the place when it is long. */
  excerpt: string
}

export interface Findings {
  ok: boolean
  workflows: string[]
  findings: Finding[]
}

export interface Topic {
  name: string
  consume: "one" | "all"
  visible: "all" | "after-create" | "after-wait"
  expire: string | null
  cap: number
  pending: number
  full: boolean
}

export interface DeadLetter {
  id: string
  event_id: string | null
  run_id: string | null
  topic: string | null
  name: string | null
  reason: string
  created_at: string | null
  expires_at: string | null
  payload: Json
}

export interface Schedule {
  name: string
  workflow: string
  input: Json
  cron?: string
  every?: string
  at?: string
  timezone: string
  jitter: string
  overlap: Overlap
  catch_up: string
  tags: string[]
  paused: boolean
  next_at: string | null
  last_at: string | null
  last_run_id: string | null
  started: number
  skipped: number
  missed: number
  failed: number
  last_error: string | null
}

export interface Queue {
  name: string
  queued: number
  blocked: number
  running: number
  oldest_at: string | null
  oldest_age_seconds: number
  set: boolean
  paused: boolean
  max_running: number
  max_per_key: number
  rate_count: number
  rate_period: string | null
  opens_at: string | null
}

export type Scope = "read" | "client" | "worker" | "admin"

export interface Token {
  id: string
  name: string
  scopes: Scope[]
  hint: string
  created_at: string | null
  expires_at: string | null
  expired: boolean
}

export interface Node {
  id: number
  name: string
  version: string | null
  alive: boolean
  started_at: string | null
  lease_until: string | null
  executing: number
  resident: number
}

/** What a worker claims; with `names` null, any task of the queues. */
export interface WorkerAsk {
  queues: string[]
  names: string[] | null
}

/** A worker that claimed tasks lately; `queues` and `names` are those of its last claim. */
export interface WorkerInfo extends WorkerAsk {
  id: string
  /** The node that it asks. */
  node: string
  /** All kinds of claims it makes, the last one first. */
  asks: WorkerAsk[]
  /** A claim of it waits, or did within ten seconds. */
  present: boolean
  /** Claims of it that wait now. */
  waiting?: number
  first_claim_at?: string | null
  last_claim_at?: string | null
  handed_out?: number
  completed?: number
  failed?: number
  /** When it claimed, or a task of it ended. */
  last_seen_at?: string | null
  /** Of the last five minutes; per_minute: how many ended. */
  recent?: { claimed: number, completed: number, failed: number, per_minute: number }
  /** The User-Agent of its last claim. */
  library?: string | null
  /** Tasks it has now. */
  held: number
}

/** Tasks that a node executes itself, of any queue. */
export interface NodeFunctions {
  node: string
  names: string[]
}

export interface WorkerList {
  items: WorkerInfo[]
  functions: NodeFunctions[]
  /** One per queue and name. */
  unserved: Unserved[]
  /** Always null. */
  next: string | null
}

/** A request that helps, as it can be sent. */
export interface Action {
  verb: string
  method: string
  path: string
  body: Json
  about: string
  command: string
}

export interface AttentionGroup {
  kind: string
  title: string
  count: number
  /** False: there may be more than were looked at. */
  is_exact: boolean
  since: string | null
  latest: string | null
  workflow: string | null
  error: { [member: string]: Json } | null
  place: string | null
  queue: string | null
  name: string | null
  examples: string[]
  q: string | null
  advice: string
  actions: Action[]
}

export interface Attention {
  at: string | null
  groups: AttentionGroup[]
  looked_at: { [kind: string]: number }
  totals: { [kind: string]: number }
}

export interface Access {
  open: boolean
  reason: string
  scopes: string[]
  token: { [member: string]: Json } | null
}

export interface BulkResult {
  id: string
  status: string
  code?: string
  detail?: string
}

export interface Bulk {
  verb: string
  dry_run: boolean
  changed: number
  unchanged: number
  refused: number
  looked_at: number
  results: BulkResult[]
  reasons: BulkReason[]
  next: string | null
}

export interface BulkReason {
  code: string
  detail: string
  count: number
  example: string
}

/** A term of a filter; from and to are bytes of its text. */
export interface FilterTerm {
  from: number
  to: number
  field: string
  op: string
  values: string[]
  negated: boolean
}

export interface FilterFault {
  at: number
  length: number
  detail: string
  did_you_mean: string | null
}

export interface Completion {
  text: string
  from: number
  to: number
  about: string
}

export interface FilterRead {
  ok: boolean
  terms: FilterTerm[]
  error: FilterFault | null
  completions: Completion[]
}

export interface Stats {
  runs: { [status: string]: number }
  tasks: { [status: string]: number }
  pending_events: number
  pending_signals: number
  dead_letters: number
  schedules: number
  started_total: number
  completed_total: number
  failed_total: number
  cancelled_total: number
  resident_runs: number
  active_runs: number
  commits: number
  committed_operations: number
  turns: number
  disk_free_bytes: number | null
  server_started_at: string | null
}

export interface Setting {
  name: string
  value: Json
  source: string
  description: string
}

/** How much happened, step by step; null where nothing is known. */
export interface Rates {
  step_ms: number
  from: string | null
  to: string | null
  series: { [name: string]: (number | null)[] }
  nodes: number
}

/** An event of the handler API. */
export interface Envelope {
  value: { [key: string]: Json }
  qualified_name: string | null
  type: string
  types: string[] | null
}

export interface Handler {
  handler_id: string
  workflow_name: string
  run_id: string | null
  error: string | null
  status: "running" | "completed" | "failed" | "cancelled"
  started_at: string
  updated_at: string | null
  completed_at: string | null
  idle_since: string | null
  released: boolean
  result: Envelope | null
}

// ---- options ----

export interface StartOptions {
  /** Your id; one that exists starts nothing and answers that run. */
  id?: string
  /** Idempotency key; one is made unless there is an id. */
  key?: string
  tags?: readonly string[]
  delay?: Duration
  startAt?: Time
  priority?: number
  queue?: string
  timeout?: Duration
  ttl?: Duration
  /** What becomes of signals nobody took when it ends. */
  leftoverSignals?: "discard" | "topic" | "dead_letter"
  /** The topic, when that is "topic". */
  leftoverTopic?: string
  /** Answer once the run has ended, or after this long. */
  wait?: Duration
  traceparent?: string
  tracestate?: string
}

export interface RunFilter extends PageOptions {
  /** A filter such as "status:failed age>2h". */
  q?: string
  status?: Several
  workflow?: Several
  tag?: string
  parent?: string
  waitingOn?: string
  /** KEY=VALUE of State.set; VALUE is JSON, other text is a string. */
  state?: string
  idleBefore?: Time
  createdBefore?: Time
  createdAfter?: Time
  /** An expression that is true where a run waits, such as "order.total > 100". */
  where?: string
}

export interface TaskOptions {
  id?: string
  queue?: string
  priority?: number
  delay?: Duration
  attempts?: number
  retryDelay?: Duration
  retryFactor?: number
  retryMaxDelay?: Duration
  timeout?: Duration
  scheduleTimeout?: Duration
  heartbeatTimeout?: Duration
  concurrencyKey?: string
}

export interface TaskFilter extends PageOptions {
  status?: Several
  queue?: string
  name?: string
  /** Id of the run that they belong to. */
  run?: string
}

export interface ClaimOptions {
  /** ["default"] unless given. */
  queues?: readonly string[]
  /** Tasks it can do; any unless given. */
  names?: readonly string[]
  /** Most tasks to hand out; 1 unless given. */
  max?: number
  wait?: Duration
  lease?: Duration
}

export interface SendOptions {
  /** Deduplicates; one is made unless given. */
  id?: string
  traceparent?: string
}

export interface TopicOptions {
  consume?: "one" | "all"
  visible?: "all" | "after-create" | "after-wait"
  expire?: Duration
  cap?: number
}

export type Overlap = "skip" | "queue" | "allow" | "cancel-old"

/** Exactly one of cron, every and at says when. */
export type ScheduleOptions = {
  /** Of the cron line; UTC unless given. */
  timezone?: string
  /** Start up to this much later. */
  jitter?: Duration
  /** While the run before goes on. */
  overlap?: Overlap
  /** Missed ticks up to this late still start, each once. */
  catchUp?: Duration
  priority?: number
  timeout?: Duration
  ttl?: Duration
  tags?: readonly string[]
  paused?: boolean
} & (
  | { cron: string; every?: undefined; at?: undefined }
  | { every: Duration; cron?: undefined; at?: undefined }
  | { at: Time; cron?: undefined; every?: undefined }
)

export type QueueOptions = {
  maxRunning?: number
  maxPerKey?: number
  paused?: boolean
} & ({ rateCount: number; ratePeriod: Duration } | { rateCount?: undefined; ratePeriod?: undefined })

/** What is not given stays as it is. */
export interface QueueChanges {
  maxRunning?: number
  maxPerKey?: number
  /** 0 takes the period with it. */
  rateCount?: number
  ratePeriod?: Duration
  paused?: boolean
}

export interface HandlerStartOptions {
  /** More fields of the start event. */
  kwargs?: { [key: string]: Json }
  handlerId?: string
}

// ---- the client ----

export class Client {
  constructor(options?: ConnectionOptions)
  readonly deadLetters: DeadLetters
  readonly handlers: Handlers
  readonly queues: Queues
  readonly schedules: Schedules
  readonly server: ServerInfo
  readonly tasks: Tasks
  readonly codeTurns: CodeTurns
  readonly tokens: Tokens
  readonly topics: Topics
  readonly workflows: Workflows
  /** Makes `source` the current version of the workflow `name`; `file` is what errors call it. */
  deploy(name: string, source: string, options?: { file?: string }): Promise<Deployed>
  /** What deploying it would mean for the runs that wait or failed; deploys nothing. */
  plan(name: string, source: string, options?: { file?: string }): Promise<Plan>
  /** Looks for mistakes without deploying; `file` is what the findings call it. */
  check(source: string, options?: { file?: string }): Promise<Findings>
  start(workflow: string, input?: Json, options?: StartOptions): Promise<Run>
  start<Input, Result>(definition: Definition<Input, Result>, ...more: InputAnd<Input, StartOptions>):
    Promise<RunHandle<Result>>
  /** A handle of any run; with its definition, its result has a type. Asks the server nothing. */
  handle<Result = Json>(runId: string, definition?: Definition<any, Result>): RunReference<Result>
  /** Waits for the end of a run. Throws RunFailed, or WaitTimeout when `timeout` passed first. */
  result(runId: string, options?: { timeout?: Duration }): Promise<Json>
  /** Waits for the end of a run, good or bad; answers the run. Throws WaitTimeout. */
  wait(runId: string, options?: { timeout?: Duration }): Promise<Run>
  /** start and result in one. */
  run(workflow: string, input?: Json, options?: StartOptions & { resultTimeout?: Duration }): Promise<Json>
  run<Input, Result>(definition: Definition<Input, Result>,
    ...more: InputAnd<Input, StartOptions & { resultTimeout?: Duration }>): Promise<Result>
  show(runId: string): Promise<Run>
  /** Runs that match, newest first, read page by page as you go on. */
  list(filter?: RunFilter): AsyncGenerator<RunItem, void>
  /** What changes on the server, as it happens; one with a `reason` says that more changed than is told. */
  changes(options?: { kind?: Several; run?: string; after?: number; signal?: AbortSignal }):
    AsyncGenerator<{ [member: string]: Json }, void>
  /** The same to up to 1000 runs: `ids`, or a page of what the filter `q` finds; go on with `cursor`. */
  changeMany(verb: "cancel" | "pause" | "resume" | "release" | "retry" | "remove" | "move" | "rewind", options?: {
    ids?: string[]; q?: string; dryRun?: boolean; pageSize?: number; cursor?: string; reason?: string; grace?: Duration
    /** Of retry and move. */
    version?: string
    /** Of rewind: the step to go back to, the last one of that name unless `iteration` is given. */
    step?: string
    iteration?: number
  }): Promise<Bulk>
  /** Removes an ended run and all that belongs to it. */
  remove(runId: string): Promise<void>
  /** True when this asked a living run to end; false when it had ended already. */
  cancel(runId: string, options?: { reason?: string; grace?: Duration }): Promise<boolean>
  pause(runId: string): Promise<boolean>
  resume(runId: string): Promise<boolean>
  /** Takes a waiting run out of memory. */
  release(runId: string): Promise<boolean>
  /** Takes a waiting run into memory. */
  load(runId: string): Promise<boolean>
  /** Goes back to a step, the last one of that name unless `iteration` (from 0) is given. */
  rewind(runId: string, step: string, options?: { iteration?: number }):
    Promise<{ changed: boolean; position: number; dropped: number }>
  /** A new run from a step of this one, or from its start; with `version` in another version of the script. */
  fork(runId: string, options?: { step?: string; iteration?: number; id?: string; version?: string }): Promise<Run>
  fork(runId: string, options: { step?: string; iteration?: number; id?: string; version: string; dryRun: true }):
    Promise<{ changed: boolean; from: string; to: string; id: string }>
  /** Puts a waiting run on another version of its script, at the same place; the current one unless given. */
  move(runId: string, options?: { version?: string; dryRun?: boolean }):
    Promise<{ changed: boolean; from: string; to: string }>
  /** Gives variables of a waiting run other values: all or none. A path is like `order.items[3].price`. */
  set(runId: string, values: { path: string; value: Json }[], options?: { dryRun?: boolean }): Promise<VariablesSet>
  /** Takes up a failed run at its last good place, by a new run; with `version` in another version of the script. */
  retry(runId: string, options?: { id?: string; version?: string }): Promise<Run>
  retry(runId: string, options: { id?: string; version: string; dryRun: true }):
    Promise<{ changed: boolean; from: string; to: string; id: string }>
  /** Its checkpoints in order. */
  steps(runId: string, options?: PageOptions & { name?: string; iteration?: number }): AsyncGenerator<LogEntry, void>
  /** Its history so far; stream() goes on as it is written. */
  log(runId: string, options?: PageOptions & { after?: number }): AsyncGenerator<LogEntry, void>
  /** The log of a run as it is written, until the run has ended; goes on where a connection broke. */
  stream(runId: string, options?: { after?: number; signal?: AbortSignal }): AsyncGenerator<LogEntry, void>
  /** Where its script stands. */
  snapshot(runId: string, options?: { depth?: number; path?: string; turn?: number }): Promise<Snapshot>
  /** Its turns whose beginning is kept, oldest first. */
  turns(runId: string, options?: PageOptions): AsyncGenerator<Turn, void>
  /** What changed in its variables between two kept turns; one that is not given is now. */
  diff(runId: string, fromTurn?: number, toTurn?: number): Promise<TurnDiff>
  /** What it would do with these answers; nothing is written and nothing leaves. */
  tryRun(runId: string, options?: TryOptions): Promise<Trial>
  /** What a debugger needs to go on with a copy of it: script, snapshot, deliveries. */
  copy(runId: string, options?: { turn?: number; secrets?: boolean }): Promise<RunCopy>
  /** Sends a signal to one run. It is kept until the run takes it. */
  signal(runId: string, name: string, payload?: Json, options?: SendOptions):
    Promise<{ event_id: string; delivered: boolean; duplicate: boolean }>
  /** Publishes an event to a topic. */
  emit(topic: string, payload?: Json, options?: SendOptions): Promise<Published>
  /** Signals that the run has not taken, oldest first. */
  signals(runId: string, options?: PageOptions): AsyncGenerator<Pending, void>
  /** Removes those of a name, one by the `id` that signals() shows, or all; answers how many. */
  removeSignals(runId: string, options?: { name?: string; id?: string }): Promise<number>
  close(): void
}

export interface Workflows {
  /** The current version of each; with `name`, all versions of that one. */
  list(options?: PageOptions & { name?: string }): AsyncGenerator<Workflow, void>
  show(name: string, options?: { version?: string }): Promise<Workflow & { source: string | null }>
  /** Where runs of a version wait and failed, and how many. */
  places(name: string, options?: { version?: string }): Promise<Places>
}

/** Tasks, those of runs and those that belong to none. */
export interface Tasks {
  /** Queues a task that belongs to no run. */
  create(name: string, input?: Json, options?: TaskOptions): Promise<Task>
  show(taskId: string): Promise<Task>
  list(filter?: TaskFilter): AsyncGenerator<Task, void>
  /** Makes the next attempt due now, or queues a failed task of no run again. */
  retry(taskId: string): Promise<Task & { changed: boolean }>
  /** Leases tasks. The class Worker does this and the next two. */
  claim(worker: string, options?: ClaimOptions): Promise<ClaimedTask[]>
  complete(results: readonly TaskOutcome[]): Promise<Verdict[]>
  /** Both in one request: the tasks that are there once the results are stored. */
  completeAndClaim(results: readonly TaskOutcome[], worker: string, options?: Omit<ClaimOptions, "wait">):
    Promise<{ results: Verdict[]; tasks: ClaimedTask[] }>
  heartbeat(tasks: readonly { id: string; token: number; progress?: Json }[], options?: { lease?: Duration }):
    Promise<Verdict[]>
}

export interface TurnReport {
  turn: number
  outcome: string
  entries?: readonly object[]
  keep?: boolean
  waits?: readonly object[]
  deliver?: "first" | "each"
  result?: Json
  error?: object
  input?: Json
}

export interface TurnClaim {
  worker: string
  workflows: readonly { name: string; version: string }[]
  max?: number
  lease?: Duration
}

/** CodeTurns of workflows that this process executes; docs/protocol.md. */
export interface CodeTurns {
  /** Says which workflows this process has. */
  register(workflows: readonly { name: string; version: string; current?: boolean;
    description?: string; input?: object }[]):
    Promise<{ name: string; version: string; is_new: boolean }[]>
  claim(worker: string, workflows: readonly { name: string; version: string }[],
    options?: { max?: number; wait?: Duration; lease?: Duration }): Promise<ClaimedTurn[]>
  commit(turns: readonly TurnReport[]): Promise<TurnVerdict[]>
  /** The same, and takes turns that are ready by then. */
  commit(turns: readonly TurnReport[], options: { claim: TurnClaim }):
    Promise<{ turns: TurnVerdict[]; claimed: ClaimedTurn[] }>
  heartbeat(turns: readonly { turn: number }[], options?: { lease?: Duration }):
    Promise<{ turn: number; status: string; news: boolean }[]>
  /** The turn with its whole journal. */
  journal(turn: number): Promise<ClaimedTurn>
}

export interface Topics {
  list(options?: PageOptions): AsyncGenerator<Topic, void>
  show(topic: string): Promise<Topic & { waiters: string[] }>
  /** Replaces the policy. */
  set(topic: string, options: TopicOptions): Promise<Topic & { waiters: string[] }>
  /** Changes those parts of the policy that are given; the others stay. */
  change(topic: string, options: TopicOptions): Promise<Topic & { waiters: string[] }>
  /** Events that are kept, oldest first. */
  events(topic: string, options?: PageOptions): AsyncGenerator<Pending, void>
  /** Removes all that are kept; answers how many. */
  removeEvents(topic: string): Promise<number>
  removeEvent(topic: string, eventId: string): Promise<boolean>
}

export interface DeadLetters {
  list(options?: PageOptions): AsyncGenerator<DeadLetter, void>
  /** Delivers it again, and removes it. */
  replay(letterId: string): Promise<{ resumed: number }>
  remove(letterId: string): Promise<void>
}

export interface Schedules {
  list(options?: PageOptions): AsyncGenerator<Schedule, void>
  show(name: string): Promise<Schedule>
  /** Makes or replaces one. */
  set(name: string, workflow: string, input: Json, options: ScheduleOptions): Promise<Schedule>
  remove(name: string): Promise<void>
  pause(name: string): Promise<boolean>
  resume(name: string): Promise<boolean>
  /** Starts a run now, out of turn. */
  trigger(name: string): Promise<Run>
  /** Starts the runs of past ticks that have none. */
  backfill(name: string, start: Time, end: Time): Promise<{ started: number; existing: number }>
}

export interface Queues {
  list(options?: PageOptions): AsyncGenerator<Queue, void>
  show(name: string): Promise<Queue>
  /** Replaces all limits at once. */
  set(name: string, options: QueueOptions): Promise<Queue>
  /** Changes those limits that are given; the others stay. */
  change(name: string, options: QueueChanges): Promise<Queue>
  /** Removes all limits. */
  reset(name: string): Promise<boolean>
  pause(name: string): Promise<boolean>
  resume(name: string): Promise<boolean>
}

/** Needs the scope admin. */
export interface Tokens {
  /** The answer's `token` is shown this once only. */
  create(name: string, scopes: readonly Scope[], options?: { expires?: Duration }): Promise<Token & { token: string }>
  list(options?: PageOptions): AsyncGenerator<Token, void>
  remove(tokenId: string): Promise<void>
}

/** live, ready and health are asked once, without retries; ready throws while it cannot serve. */
export interface ServerInfo {
  live(): Promise<{ status: string }>
  ready(): Promise<{ status: string }>
  health(): Promise<{ status: string }>
  version(): Promise<string>
  stats(): Promise<Stats>
  nodes(): Promise<Node[]>
  /** What the server was told, and where each value comes from; needs the scope admin. */
  settings(): Promise<Setting[]>
  /** Who asks for tasks, and which tasks nobody asks for. */
  workers(): Promise<WorkerList>
  /** How much happened in the last hours, one value per step and series. */
  /** What time it is for runs. */
  time(): Promise<ServerTime>
  /** Moves the clock of a server that was started with --virtual-time. */
  advance(options: { by?: Duration; to?: string; wait?: Duration }): Promise<Advanced>
  rates(options?: { since?: Duration, step?: Duration }): Promise<Rates>
  /** What needs a person, in groups, with what helps. */
  attention(): Promise<Attention>
  /** What this client may do. */
  access(): Promise<Access>
  /** A filter as it is read, with completions at that byte (the end). */
  filter(text: string, position?: number): Promise<FilterRead>
  /** Figures in the text format of Prometheus. */
  metrics(): Promise<string>
  openapi(): Promise<{ [member: string]: Json }>
  /** The HTML of the dashboard. */
  page(): Promise<string>
}

/** The handler API (docs/handlers.md): the same runs by another protocol. */
export interface Handlers {
  list(options?: PageOptions & {
    handlerId?: Several
    status?: Several
    workflowName?: Several
    idleBefore?: Time
  }): AsyncGenerator<Handler, void>
  show(handlerId: string): Promise<Handler>
  /** The handler, with its bare result; it does not wait. */
  result(handlerId: string): Promise<Omit<Handler, "result"> & { result: Json }>
  /** Starts a run. */
  start(workflow: string, startEvent?: Json, options?: HandlerStartOptions): Promise<Handler>
  /** The same, and waits up to `timeout` (300 s) for its end; look at `status`. */
  run(workflow: string, startEvent?: Json, options?: HandlerStartOptions & { timeout?: Duration }): Promise<Handler>
  send(handlerId: string, event: Json, options?: { step?: string }): Promise<{ status: string }>
  /** Envelopes until the run has ended; `after` is a number, -1 for all, or "now". */
  stream(handlerId: string, options?: {
    after?: number | "now"
    includeInternal?: boolean
    includeQualifiedName?: boolean
    signal?: AbortSignal
  }): AsyncGenerator<Envelope & { sequence: number }, void>
  /** With `purge`, removes it too. */
  cancel(handlerId: string, options?: { purge?: boolean }): Promise<{ status: string }>
  release(handlerId: string): Promise<{ status: string }>
  health(): Promise<{ status: string }>
  workflows(): Promise<string[]>
  schema(workflow: string): Promise<{ start: Json; stop: Json }>
  eventSchemas(workflow: string): Promise<Json[]>
  graph(workflow: string): Promise<Json>
}

// ---- the worker ----

/** What a task function may know about its task. */
export interface Context {
  readonly id: string
  readonly name: string
  readonly queue: string
  readonly attempt: number
  readonly runId: string | null
  readonly step: number | null
  readonly traceparent?: string
  readonly tracestate?: string
  /** Aborted when the result is not wanted any more; its reason is a TaskCancelled. */
  readonly signal: AbortSignal
  /** Tells the server how far the task is (any JSON); sent within about a second. */
  progress(value: Json): void
}

export type TaskFunction = (input: any, context: Context) => Json | Promise<Json>

export interface WorkerOptions extends ConnectionOptions {
  /** Which queues to take tasks from; ["default"] unless given. */
  queues?: readonly string[]
  /** How many task functions may run at once; 10 unless given. */
  concurrency?: number
  /** How many runs of workflows may execute at once; 1000 unless given. Those that wait do not count. */
  runConcurrency?: number
  /** How many runs that wait are kept in memory, so that nothing is replayed; 10,000 unless given. */
  maxRunsInMemory?: number
  /** How long a run that waits is kept in memory; 5 min unless given. */
  idleTimeout?: Duration
  /** Shown to operators; made of host and process unless given. */
  name?: string
  /** How long the server waits for a sign of life before it gives a task to another; 30 s. */
  lease?: Duration
  /** How often to give one; also how soon a cancellation is noticed; 5 s or a third of the lease. */
  heartbeat?: Duration
  /** How long stopping waits for functions to finish; 30 s. */
  grace?: Duration
  /** How long one claim waits for tasks; 25 s. */
  poll?: Duration
  /** Gets a message, and the error if there is one; standard error unless given. */
  logger?: Logger
}

export interface Logger {
  debug?(message: string): void
  info?(message: string): void
  warn(message: string): void
  error(message: string, error?: unknown): void
}

/** What a worker has done since it began. */
export interface WorkerStats {
  tasks: { running: number; completed: number; failed: number; released: number }
  workflows: {
    /** The server knows the worker's workflows, and runs of them can be started. */
    isKnown: boolean
    /** Runs that execute now, and those that wait in memory. */
    executing: number
    inMemory: number
    /** Turns: as taken, as ended, and those that somebody else has. */
    claimed: number
    completed: number
    failed: number
    suspended: number
    fenced: number
    paused: number
    steps: number
    stepFailures: number
    /** Entries of journals that were gone through again. */
    replayed: number
    /** Leases of turns that were made longer, because a step took so long. */
    renewals: number
    /** Requests that carried commits, and the commits in them. */
    requests: number
    commits: number
  }
}

export class Worker {
  constructor(options?: WorkerOptions)
  readonly name: string
  /** Does tasks of that name. */
  task(name: string, handler: TaskFunction): this
  /** Executes runs of these workflows. Several versions of one are fine. */
  workflow(...definitions: Definition[]): this
  stats(): WorkerStats
  /** Works until stop() is called, or SIGTERM or SIGINT comes; a second signal kills. */
  run(options?: { handleSignals?: boolean }): Promise<void>
  /** As run(), but a second call answers the same promise. */
  start(options?: { handleSignals?: boolean }): Promise<void>
  /** Makes run() end in order. */
  stop(): void
}

export class AbideError extends Error {}
/** The server refused a request; `code` is stable and documented in docs/errors.md. */
export class ApiError extends AbideError {
  readonly status: number
  readonly code: string
  readonly detail: string
  readonly body: Json
}
/** 400, 413, 422: what was sent is wrong. Sending it again does not help. */
export class InvalidRequest extends ApiError {}
/** 401: no token, or one that the server does not know. */
export class Unauthorized extends ApiError {}
/** 403: the token's scopes do not cover this. */
export class Forbidden extends ApiError {}
/** 404: there is no such run, task, workflow, … */
export class NotFound extends ApiError {}
/** 409: it is not in a state in which this can be done. */
export class Conflict extends ApiError {}
/** 5xx: the server, or the store behind it, cannot do it now. The outcome may be unknown. */
export class ServerError extends ApiError {}
/** No answer came, however often it was tried. What was asked for may have happened. */
export class ServerUnreachable extends AbideError {}
/** The run had not ended when the time was over. It goes on. */
export class WaitTimeout extends AbideError {}
export class RunFailed extends AbideError {
  readonly runId: string
  readonly status: "failed" | "cancelled"
  readonly error: Json
}
export interface TaskErrorOptions {
  type?: string
  details?: Json
  retryable?: boolean
  cause?: unknown
}
/** Throw it in a task function to say how the attempt failed. */
export class TaskError extends AbideError {
  constructor(message: string, options?: TaskErrorOptions)
  readonly type: string
  readonly details: Json
  readonly retryable: boolean
}
/** Throw it in a task function when trying again cannot help. */
export class NonRetryableError extends TaskError {
  constructor(message: string, options?: Omit<TaskErrorOptions, "retryable">)
}
export class TaskCancelled extends AbideError {
  readonly reason: "cancelled" | "lease lost" | "stopping"
}
