// The tests of test_dashboard.mjs in Firefox. The others need what its driver lacks: the bodies of requests, and paper.
process.env.ABIDE_BROWSER = "firefox"
await import("./test_dashboard.mjs")
