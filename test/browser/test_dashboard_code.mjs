// Runs of functions that workers execute: what their page says without a source, and that everything can be done to them.
import assert from "node:assert/strict"
import { assert_accessible, test, wait } from "./harness.mjs"
import { begin, button, confirm, done, open } from "./steps.mjs"
import { CHARGE, CODE, commit, RESERVE, turn, WAITS } from "./turns.mjs"

const isStep = entry => entry.kind === "step"

test("a run that no worker serves says so, and goes on when one comes", async world => {
  const { server } = world
  await server.post("/v1/turns/register", { workflows: CODE })
  await server.start_run("checkout", "code-1", { customer: "Ada" })
  await server.until("code-1", run => run.waits_for_code)
  const page = await open(world, "#/runs/code-1")
  await page.getByText("No worker asks for version 2 of checkout.").waitFor()
  await assert_accessible(page, "unserved code run")
  await turn(server, "suspended", [CHARGE, ...RESERVE, { kind: "state", name: "customer", value: "Ada" }], WAITS)
  await page.locator(".wait-name", { hasText: "approval" }).waitFor()
  await page.getByText("No worker asks for version").waitFor({ state: "detached" })
  await done(page)
})

test("a start form begins with what the registered input asks for", async world => {
  const { server } = world
  const input = { type: "object", required: ["card"], properties: { card: { type: "string" }, count: { type: "integer" } } }
  await server.post("/v1/turns/register", { workflows: [{ name: "shaped", version: "1", input }] })
  const page = await open(world, "#/workflows/shaped")
  await button(page, "Start…").click()
  const field = page.locator("dialog").getByLabel("Input (JSON)")
  await field.waitFor()
  assert.deepEqual(JSON.parse(await field.inputValue()), { card: "", count: 0 })
  await page.locator("dialog").getByText(/It must fit .*"required":\["card"\]/).waitFor()
  await page.keyboard.press("Escape")
  await done(page)
})

test("steps with their attempts and what it waits for are in the timeline, and there is no source", async world => {
  const { server } = world
  const page = await open(world, "#/runs/code-1")
  const bar = name => page.locator(".tl-row", { hasText: name })
  await bar("approval").waitFor()
  await bar("charge").waitFor()
  assert.equal(await bar("charge").locator(".tl-part").count(), 1)
  assert.match(await bar("reserve").innerText(), /attempt 2/)
  assert.deepEqual(await bar("reserve").locator(".tl-part").evaluateAll(all => all.map(each => each.classList.contains("bad"))), [true, false])
  assert.equal(await page.getByRole("region", { name: "Source" }).count(), 0)
  await page.getByRole("region", { name: "State" }).getByText('"Ada"').waitFor()
  const { items } = await server.get(`/v1/runs?q=${encodeURIComponent('state.customer="Ada" -state.customer="Bo" workflow:checkout')}`)
  assert.deepEqual(items.map(each => each.id), ["code-1"])
  await page.getByText("function of a worker").first().waitFor()
  await assert_accessible(page, "code run")
  for (const to of ["#/workflows", "#/workflows/checkout"]) {
    await page.goto(`${server.url}/${to}`)
    await page.getByText(/unction of a worker/).first().waitFor()
  }
  await done(page)
})

test("it is answered, rewound, forked and retried in place", async world => {
  const { server } = world
  const page = await open(world, "#/runs/code-1")
  await page.locator("#answer-0").fill('{"ok": true}')
  await button(page, "Send approval").click()
  const answered = await turn(server, "running", [])
  assert.deepEqual(answered.journal.at(-1).data, { ok: true })
  await commit(server, answered, "failed", [], { error: { type: "CardDeclined", message: "<b>no</b>" } })
  await page.getByText("CardDeclined: <b>no</b>").first().waitFor()
  await button(page, "Fork from reserve").click()
  await page.getByLabel("Id of the new run").fill("code-2")
  await confirm(page)
  const forked = await turn(server, "suspended", RESERVE, WAITS)
  assert.deepEqual([forked.run_id, forked.journal.filter(isStep).map(each => each.name)], ["code-2", ["charge"]])
  await page.goto(`${server.url}/#/runs/code-2`)
  await button(page, "Rewind to reserve").click()
  await confirm(page)
  const rewound = await turn(server, "failed", [], { error: { type: "Closed", message: "the shop is closed" } })
  assert.deepEqual([rewound.run_id, rewound.journal.filter(isStep).map(each => each.name)], ["code-2", ["charge"]])
  await button(page, "Retry…").click()
  await confirm(page)
  const again = await turn(server, "completed", [], { result: "done" })
  assert.deepEqual(again.journal.filter(isStep).map(each => each.name), ["charge"])
  await wait(async () => (await server.run(again.run_id)).result === "done", "the retry did not end")
  await page.getByRole("heading", { name: "Result" }).waitFor()
  await done(page)
})

await begin()
