// A server with a little of everything in it: for the tests of the pages and for the pictures.

export const ORDER = `// Charges an order, asks a person when it is large, and ships it.
function total(items) {
  return items.reduce((sum, item) => sum + item.price * item.count, 0)
}

async function ask(amount) {
  const reason = \`over the limit by \${amount - 100}\`
  return await Signal.when("approval", { timeout: "24h" })
}

const amount = total(Inputs.items)
State.set("customer", Inputs.customer)
const receipt = await Task.run("charge", { customer: Inputs.customer, amount })
console.log("charged", amount)
await Timer.delay("50ms")
if (amount > 100) {
  const approval = await ask(amount)
  if (!approval.ok) throw new Error(\`refused by \${approval.by}\`)
}
const parcel = await Task.run("ship", { receipt }, { retry: { attempts: 5, delay: "1h" } })
return { receipt, parcel }
`
export const BROKEN = `const items = Inputs.items
let sum = 0
for (const item of items) sum += item.price.value
return sum
`
export const EVENT = `const paid = await Event.wait(Inputs.topic ?? "payments")
return paid
`
export const PICKUP = `const parcel = await Task.run("pack", { customer: Inputs.customer })
return parcel
`
export const NOTE = `await Task.run("log", { message: Inputs.text })
return Inputs.text
`
export const INPUT = { customer: "Ada", items: [{ name: "lamp", price: 40, count: 3 }, { name: "bulb", price: 4, count: 10 }] }
export const HOSTILE = "<img src=x onerror=alert(1)>\"'&lt;b&gt;"

export async function fill(server) {
  await server.deploy("order", ORDER)
  await server.deploy("broken", BROKEN)
  await server.deploy("invoice", EVENT)
  await server.deploy("note", NOTE)
  await server.deploy("pickup", PICKUP)
  for (let n = 1; n <= 12; n++) await server.start_run("note", `note-${n}`, { text: `note ${n}` }, { tags: [n % 2 ? "eu" : "us"] })
  await server.call("PUT", "/v1/schedules/nightly", { workflow: "note", cron: "30 2 * * *", timezone: "Europe/Berlin", input: { text: "nightly" } })
  await server.post("/v1/tokens", { name: "laptop", scopes: ["client"] })
  await server.start_run("broken", "broken-1", { items: [{}] })
  await server.start_run("invoice", "invoice-1")
  await server.call("PUT", "/v1/topics/payments", { consume: "all", expire: "24h" })
  await server.post("/v1/events/stock", { item: "lamp", left: 3 })
  // One that waits for a person, one whose task will be tried again in an hour, one that waits for a worker.
  for (const id of ["order-1", "order-2"]) {
    await server.start_run("order", id, INPUT, { tags: ["eu"] })
    await server.work("charge", { result: { receipt: `r-${id}` } })
    await server.until(id, run => run.waits[0]?.on === "signal")
  }
  await server.post("/v1/runs/order-2/signals/approval", { ok: true, by: "Bo" })
  await server.work("ship", { error: { type: "NoCourier", message: "the courier is not there" } })
  await server.start_run("pickup", "order-3", INPUT, { tags: ["us"] })
  await server.until("order-3", run => run.waits[0]?.on === "task")
  await server.until("broken-1", run => run.status === "failed")
  await server.until("note-12", run => run.status === "completed")
}
