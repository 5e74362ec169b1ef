// What abide.mjs and abide_code.mjs have in common: runs of a server, through the client.

/** The system of driver.mjs, all but its workflows: `workflowOf` answers what start() takes for a name. */
export const runsOf = (client, workflowOf) => ({
  run: (name, input, id) => client.run(workflowOf(name), input, id ? { id } : {}),
  begin: (name, input, id) => client.start(workflowOf(name), input, { id }),
  waiting: async () => (await client.server.stats()).runs.suspended ?? 0,
  isWaiting: async (id) => {
    try {
      return (await client.show(id)).status === "suspended"
    } catch (error) {
      if (error.status === 404) return false
      throw error
    }
  },
  signal: (id) => client.signal(id, "go", 1),
})
