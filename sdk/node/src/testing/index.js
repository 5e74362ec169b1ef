// abide/testing: a private server whose time is virtual, mocks, and crashes at every point.
export { CrashDiffers, everyCrash } from "./crashes.js"
export { TestServer } from "./test_server.js"
