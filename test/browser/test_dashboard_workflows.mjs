// Workflows and schedules in the browser: where runs stand, versions compared, starting and deploying with a plan,
// and ticks in words.
import assert from "node:assert/strict"
import { assert_accessible, test, wait } from "./harness.mjs"
import { begin, button, confirm, done, open, open_with } from "./steps.mjs"

test("two versions are compared line by line", async world => {
  const { server } = world
  await server.deploy("twice", 'const a = 1\nconst b = 2\nconst c = 3\nreturn a + b + c')
  await server.deploy("twice", 'const a = 1\nconst b = 20\nconst c = 3\nconst d = "<i>4</i>"\nreturn a + b + c + d')
  const page = await open(world, "#/workflows/twice")
  await page.getByRole("link", { name: /^Compare with/ }).click()
  const comparison = page.getByRole("region", { name: "Comparison" })
  await comparison.getByText("3 added, 2 removed").waitFor()
  assert.deepEqual(await comparison.locator(".d-gone code").allInnerTexts(), ["const b = 2", "return a + b + c"])
  assert.deepEqual(await comparison.locator(".d-new code").allInnerTexts(), ["const b = 20", 'const d = "<i>4</i>"', "return a + b + c + d"])
  await assert_accessible(page, "comparison")
  await page.reload()
  await comparison.getByText("3 added, 2 removed").waitFor()
  await page.getByRole("link", { name: "Back to the source" }).click()
  await page.getByRole("region", { name: "Source" }).waitFor()
  await done(page)
})

test("the source shows how many runs stand at which line, and leads to them", async world => {
  const { server } = world
  await server.deploy("heat", 'if (Inputs.fails === "first") throw new Error("first")\nconst go = await Signal.when("go")\nif (go.fails) throw new Error("then")\nawait Signal.when("stop")')
  for (const id of ["heat-1", "heat-2", "heat-3"]) await server.start_run("heat", id)
  for (const id of ["heat-4", "heat-5"]) await server.start_run("heat", id, { fails: "first" })
  for (const id of ["heat-1", "heat-2", "heat-3"]) await server.until(id, run => run.waits[0]?.name === "go")
  for (const id of ["heat-2", "heat-3"]) await server.post(`/v1/runs/${id}/signals/go`, { fails: id === "heat-3" })
  await server.until("heat-2", run => run.waits[0]?.name === "stop")
  for (const id of ["heat-3", "heat-4", "heat-5"]) await server.until(id, run => run.status === "failed")
  const page = await open(world, "#/workflows/heat")
  const link = name => page.getByRole("link", { name, exact: true })
  await link("1 waiting, 1 failed at line 2").waitFor()
  await assert_accessible(page, "heat map")
  for (const [name, ids] of [["1 waiting, 1 failed at line 2", ["heat-3", "heat-1"]], ["1 waiting at line 4", ["heat-2"]], ["2 failed before the first await", ["heat-5", "heat-4"]]]) {
    await page.goto(`${server.url}/#/workflows/heat`)
    await link(name).click()
    await page.locator("#rows a").first().waitFor()
    assert.deepEqual(await page.locator("#rows a").allInnerTexts(), ids)
  }
  await done(page)
})

test("a run is started with an earlier input and options, and mistakes are said while writing", async world => {
  const { server } = world
  const page = await open(world, "#/workflows/note")
  await button(page, "Start…").click()
  const dialog = page.locator("dialog")
  await dialog.getByLabel("Input (JSON)").fill('{"text": ')
  await dialog.getByText(/This is not JSON/).waitFor()
  await dialog.getByLabel("Begin with").selectOption({ label: 'earlier: { "text": "note 12" }' })
  assert.deepEqual(JSON.parse(await dialog.getByLabel("Input (JSON)").inputValue()), { text: "note 12" })
  await dialog.getByLabel("Id", { exact: true }).fill("started-1")
  await dialog.getByLabel("Tags, with commas").fill("a, b")
  await dialog.getByLabel("Priority").fill("7")
  await dialog.getByLabel("Timeout").fill("1h")
  await dialog.locator("summary").click()
  await dialog.getByText(/await client\.start\("note", \{"text":"note 12"\}/).waitFor()
  await assert_accessible(page, "start")
  await confirm(page)
  const run = await server.until("started-1", it => it.status === "completed")
  assert.deepEqual([run.result, run.tags, run.priority], ["note 12", ["a", "b"], 7])
  await done(page)
})

test("a version is deployed after its plan", async world => {
  const { server } = world
  await server.deploy("planned", 'const price = 40\nconst answer = await Signal.when("ok")\nreturn price * 100')
  await server.start_run("planned", "planned-1")
  const before = (await server.until("planned-1", run => run.status === "suspended")).version
  const group = { version: before, line: 2, column: 16, function: null, source: 'const answer = await Signal.when("ok")', count: 1, failed: 0, verdict: "moves", reason: null, example: "planned-1" }
  const plan = { workflow: "planned", current: before, new: "f".repeat(64), is_same: false, groups: [group, { ...group, count: 2, verdict: "refused", reason: "`total` is new", example: null }], moves: 1, refused: 2, stays: 0 }
  const page = await open_with(world, "#/workflows/planned", [["PUT", "/v1/workflows/{name}", ["file", "plan"], url => url.searchParams.get("plan") ? plan : undefined]])
  await button(page, "Deploy a version…").click()
  const dialog = page.locator("dialog")
  await dialog.getByLabel("Source").fill('const price = 40\nconst answer = await Signal.when("ok")\nreturn price')
  await button(page, "Plan…").click()
  await page.getByRole("heading", { name: "Deploy planned?" }).waitFor()
  await dialog.getByText("`total` is new").waitFor()
  assert.equal((await server.get("/v1/workflows/planned")).version, before)
  await assert_accessible(page, "plan")
  await dialog.getByLabel("Afterwards").selectOption("move")
  await button(page, "Deploy").click()
  await dialog.getByText("Of 1 runs, 1 would change.").waitFor()
  await confirm(page)
  await server.until("planned-1", run => run.version !== before)
  await server.post("/v1/runs/planned-1/signals/ok", {})
  assert.equal((await server.until("planned-1", run => run.status === "completed")).result, 40)
  await done(page)
})

test("a schedule says in words when it ticks, and which ticks come", async world => {
  const { server } = world
  await server.call("PUT", "/v1/schedules/workdays", { workflow: "note", cron: "*/15 8-17 * * MON-FRI", timezone: "UTC" })
  const page = await open(world, "#/workflows/note")
  await page.getByRole("region", { name: "Schedules" }).getByText("at 02:30, every day, Europe/Berlin").waitFor()
  await page.getByRole("link", { name: "workdays" }).click()
  await page.getByRole("region", { name: "Next ticks" }).waitFor()
  await page.getByText("every 15 minutes of the hours 08:00 to 17:00, on Monday to Friday UTC").waitFor()
  const ticks = page.getByRole("region", { name: "Next ticks" }).locator("time")
  assert.equal(await ticks.count(), 5)
  assert.equal(await ticks.first().getAttribute("datetime"), new Date((await server.get("/v1/schedules/workdays")).next_at).toISOString())
  await assert_accessible(page, "a schedule")
  await button(page, "Pause workdays").click()
  await wait(async () => (await server.get("/v1/schedules/workdays")).paused, "not paused")
  await page.getByText("It is paused: ticks pass.").waitFor()
  await button(page, "Edit… workdays").click()
  await page.locator("dialog").getByLabel("When").fill("0 12 1 JAN *")
  await page.locator("dialog").getByText(/at 12:00, on day 1 of the month in January; next/).waitFor()
  await confirm(page)
  await wait(async () => (await server.get("/v1/schedules/workdays")).cron === "0 12 1 JAN *", "not changed")
  await button(page, "Trigger workdays").click()
  await page.locator(".crumbs", { hasText: "note" }).waitFor()
  await done(page)
})

await begin()
