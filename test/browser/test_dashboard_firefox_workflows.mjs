// The tests of test_dashboard_workflows.mjs in Firefox.
process.env.ABIDE_BROWSER = "firefox"
await import("./test_dashboard_workflows.mjs")
