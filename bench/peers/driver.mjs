// The workloads of bench/peers.py for a system that is used from Node: commands on standard input,
// one answer per line on standard output, as bench/peers/abide.c does for the C library.
//
// A system says how it does each thing (abide.mjs, dbos.mjs, restate.mjs); what is done, and when
// the clock runs, is the same for all of them and is here.
//
//   run(workflow, input, id)   starts a run and waits for its result
//   begin(workflow, input, id) answers when the run is stored
//   waiting()                  how many runs wait in `gate`;  isWaiting(id): whether that one does
//   signal(id)                 lets the run in `gate` go on
// Workflows: chain(steps), gate(id), fan(width), until(ms since 1970; answers how much time was left
// when it began), and loop(id): steps without end, each of which calls touch(id).
import readline from "node:readline"

const PARKED_AT_ONCE = 64
const touched = new Map() // id of a looping run: [when its first step was done here, how many]

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

export function touch(id) {
  const seen = touched.get(id)
  if (seen === undefined) touched.set(id, [Date.now(), 1])
  else seen[1]++
  return 1
}

async function until(condition, limitMs) {
  const end = Date.now() + limitMs
  while (!(await condition())) {
    if (Date.now() > end) return false
    await pause(2)
  }
  return true
}

// Calls work(i) for each i below count, so many at once.
async function atOnce(count, limit, work) {
  let next = 0
  const lane = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: Math.min(limit, count) }, lane))
}

const median = (values) => values.sort((a, b) => a - b)[Math.round((values.length - 1) / 2)]

async function medianOf(rounds, work) {
  const times = []
  for (let i = 0; i < rounds; i++) times.push(await work(i))
  return { p50: median(times) }
}

async function timed(work) {
  const start = performance.now()
  await work()
  return performance.now() - start
}

const commands = (system, state) => ({
  async chain(runs, concurrency) {
    return { seconds: (await timed(() => atOnce(runs, concurrency, () => system.run("chain", 10)))) / 1000 }
  },
  one: (steps, rounds) => medianOf(rounds, () => timed(() => system.run("chain", steps))),
  fan: (width, rounds) => medianOf(rounds, () => timed(() => system.run("fan", width))),
  event: (rounds) => medianOf(rounds, async () => {
    const id = `event-${state.life}-${state.events++}`
    const ended = system.run("gate", id, id)
    if (!(await until(() => system.isWaiting(id), 60000))) throw new Error(`${id} does not wait`)
    await pause(3)
    return timed(async () => {
      await system.signal(id)
      await ended
    })
  }),
  async park(total, limitSeconds) {
    const missing = total - state.parked
    const seconds = (await timed(async () => {
      const first = state.parked
      state.parked = total
      await atOnce(missing, PARKED_AT_ONCE, (i) => system.begin("gate", `park-${first + i}`, `park-${first + i}`))
      await until(async () => (await system.waiting()) >= total, limitSeconds * 1000)
    })) / 1000
    return { seconds, waiting: await system.waiting() }
  },
  async timers(runs, leadMs) {
    const at = Date.now() + leadMs
    const ended = []
    await atOnce(runs, runs, async (i) => {
      ended.push(await system.run("until", at, `timer-${state.life}-${at}-${i}`))
    })
    return { last_late: Date.now() - at, started_late: ended.filter((left) => left <= 0).length }
  },
  async loop(runs) {
    await atOnce(runs, runs, (i) => system.begin("loop", `loop-${i}`, `loop-${i}`))
    await until(() => touched.size === runs && [...touched.values()].every(([, count]) => count >= 5), 60000)
    return { runs: touched.size }
  },
  async resumed(runs, limitSeconds) {
    const areAll = await until(() => touched.size >= runs, limitSeconds * 1000)
    const times = [...touched.values()].map(([at]) => at)
    return { first: Math.min(...times), all: areAll ? Math.max(...times) : null }
  },
})

// Until standard input ends: the orchestrator is gone then, whatever the reason.
export async function drive(system) {
  const state = { life: process.pid, events: 0, parked: 0 }
  const table = commands(system, state)
  const say = (answer) => process.stdout.write(`@${JSON.stringify(answer)}\n`)
  say({ ready: true })
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [name, ...words] = line.trim().split(" ")
    try {
      say(await table[name](...words.map(Number)))
    } catch (error) {
      say({ error: `${name}: ${error.stack ?? error}` })
    }
  }
  process.exit(0)
}
