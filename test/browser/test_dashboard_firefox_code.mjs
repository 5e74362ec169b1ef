// The tests of test_dashboard_code.mjs in Firefox.
process.env.ABIDE_BROWSER = "firefox"
await import("./test_dashboard_code.mjs")
