// The worker of bench-server that is written with the library for Node.
import { Worker } from "../sdk/node/src/index.js"

const worker = new Worker({ concurrency: 500, poll: "2s" })
worker.task("quick", () => 1)
await worker.run()
