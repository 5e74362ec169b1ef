// Answers that a server which has just begun cannot give: a full hour of rates, and settings from several places.

export const RATES = (() => {
  const step_ms = 60_000, length = 60, from = Date.now() - length * step_ms
  const wave = (height, gap = -1) => Array.from({ length }, (_, at) => at === gap ? null : Math.round(height * (1 + Math.sin(at / 6))))
  return {
    step_ms, from: new Date(from).toISOString(), to: new Date(from + length * step_ms).toISOString(), nodes: 2,
    series: { started: wave(40), completed: wave(35), failed: wave(2), cancelled: wave(1), tasks_completed: wave(120), tasks_failed: wave(4), queued: wave(60), suspended: wave(900), resident: wave(300), resume_p50_ms: wave(4, 20), resume_p99_ms: wave(80, 20) },
  }
})()
export const SETTINGS = { items: [{ name: "listen", value: "127.0.0.1:7433", source: "default", description: "where to listen" }, { name: "run-retention", value: "30d", source: "abide.toml", description: "how long ended runs are kept" }] }
