"""Twenty mistakes that people make in workflows, each with its mocks and a corrected twin.

A mistake has a name, what `abide sim` says about it, the mocks, the wrong script and the right one.
"""
from collections import namedtuple

Planted = namedtuple("Planted", "name found mocks wrong right")

DECLINED = {"error": {"message": "declined", "final": True}}
ONCE = "{ retry: { attempts: 1 } }"

PLANTED = [
    Planted(
        "lost time-out", 'waits for signal "approval", which does not come',
        {"signal:approval": {"maybe": {"ok": True}}},
        'return await Signal.next("approval")',
        'return await Signal.when("approval", { timeout: "24h" }).catch(() => null)'),
    Planted(
        "double charge after a retry", 'check "charged once" is not true',
        {"charge": True, "check:charged once": "once.charge <= 1"},
        """
        for (let i = 0; i < 2; i++) {
          try {
            return await Task.run("charge", null, { retry: { attempts: 1 } })
          } catch (error) {
            console.log("again")
          }
        }
        """,
        'return await Task.run("charge", null, { retry: { attempts: 3 } })'),
    Planted(
        "race between approval and expiry", 'check "shipped or released" is not true',
        {"ship": True, "release": True, "signal:approval": {"maybe": True},
         "check:shipped or released": "done.ship === 0 || done.release === 0"},
        """
        const expiry = async () => {
          await Timer.delay("24h")
          await Task.run("release", null)
        }
        await Promise.race([Signal.next("approval"), expiry()])
        await Task.run("ship")
        """,
        """
        const approval = await Signal.when("approval", { timeout: "24h" }).catch(() => null)
        await Task.run(approval === null ? "release" : "ship")
        """),
    Planted(
        "forgotten cancel of a hold", 'check "no hold is left" is not true',
        {"hold": True, "capture": True, "release": True, "signal:confirm": {"maybe": True},
         "check:no hold is left": 'status !== "completed" || once.hold === once.capture + once.release'},
        """
        await Task.run("hold")
        const confirm = await Signal.when("confirm", { timeout: "1h" }).catch(() => null)
        if (confirm === null) return "expired"
        await Task.run("capture")
        """,
        """
        await Task.run("hold")
        const confirm = await Signal.when("confirm", { timeout: "1h" }).catch(() => null)
        await Task.run(confirm === null ? "release" : "capture")
        """),
    Planted(
        "forgotten refund when the second step fails", 'check "goods or money" is not true',
        {"charge": True, "ship": {"any": [True, DECLINED]}, "refund": True,
         "check:goods or money": "done.charge === 0 || done.ship > 0 || done.refund > 0"},
        """
        await Task.run("charge")
        await Task.run("ship")
        """,
        """
        await Task.run("charge")
        try {
          await Task.run("ship")
        } catch (error) {
          await Task.run("refund")
        }
        """),
    Planted(
        "lost signal that came before the wait", 'check "a stop stops it" is not true',
        {"send": True, "recall": True, "signal:stop": {"maybe": "please"},
         "check:a stop stops it": "taken.stop === 0 || done.send === 0 || done.recall > 0"},
        """
        await Promise.race([Signal.next("stop"), Timer.delay("1h")])
        await Task.run("send")
        const stop = await Signal.when("stop", { timeout: "1h" }).catch(() => null)
        if (stop) await Task.run("recall")
        """,
        """
        const early = await Signal.when("stop", { timeout: "1h" }).catch(() => null)
        if (early) return
        await Task.run("send")
        const stop = await Signal.when("stop", { timeout: "1h" }).catch(() => null)
        if (stop) await Task.run("recall")
        """),
    Planted(
        "event consumed by the wrong branch", 'check "each has its own" is not true',
        {"event:paid": {"maybe": [{"order": 2}, {"order": 1}]},
         "check:each has its own": "!result || result.every((paid, i) => paid === null || paid.order === i + 1)"},
        """
        const paid = () => Event.wait("paid", { timeout: "1h" }).catch(() => null)
        return await Promise.all([paid(), paid()])
        """,
        """
        const paid = order => Event.wait("paid", { filter: { order }, timeout: "1h" }).catch(() => null)
        return await Promise.all([paid(1), paid(2)])
        """),
    Planted(
        "effect that is repeated with its attempt", 'check "one letter" is not true',
        {"mail": True, "check:one letter": "done.mail <= 1"},
        'await Task.run("mail", { to: "Ada" })',
        """
        try {
          await Task.run("mail", { to: "Ada" }, { retry: { attempts: 1 } })
        } catch (error) {
          return "look whether it was sent"
        }
        """),
    Planted(
        "stale variable after a loop", 'Invariant "the quote is of that shop" is not true',
        {"quote": [{"shop": "a", "price": 9}, {"any": [{"shop": "b", "price": 9}, DECLINED]}]},
        """
        let quote
        for (const shop of ["a", "b"]) {
          try {
            quote = await Task.run("quote", { shop }, { retry: { attempts: 1 } })
          } catch (error) {
            console.log("no quote of", shop)
          }
          Invariant("the quote is of that shop", !quote || quote.shop === shop)
        }
        """,
        """
        for (const shop of ["a", "b"]) {
          let quote
          try {
            quote = await Task.run("quote", { shop }, { retry: { attempts: 1 } })
          } catch (error) {
            console.log("no quote of", shop)
          }
          Invariant("the quote is of that shop", !quote || quote.shop === shop)
        }
        """),
    Planted(
        "unhandled rejection of a parallel branch", "a rejection is handled by nobody",
        {"audit": {"any": [True, DECLINED]}, "ship": True},
        """
        const audit = async () => { await Task.run("audit") }
        const branch = audit()
        await Task.run("ship")
        await Timer.delay("1h")
        await branch
        """,
        """
        const audit = async () => { await Task.run("audit") }
        const branch = audit().catch(error => console.warn(error.message))
        await Task.run("ship")
        await Timer.delay("1h")
        await branch
        """),
    Planted(
        "loser of a race acts later", 'Always "what has expired stays so" is not true',
        {"reserve": True, "notify": True},
        """
        let status = "open"
        let hasExpired = false
        Always("what has expired stays so", () => !hasExpired || status === "expired")
        const reserve = async () => {
          await Task.run("reserve")
          status = "reserved"
        }
        const expire = async () => {
          await Timer.delay("1h")
          status = "expired"
          hasExpired = true
        }
        await Promise.race([reserve(), expire()])
        await Task.run("notify", status)
        return status
        """,
        """
        let status = "open"
        let hasExpired = false
        Always("what has expired stays so", () => !hasExpired || status === "expired")
        const reserve = async () => {
          await Task.run("reserve")
          if (status === "open") status = "reserved"
        }
        const expire = async () => {
          await Timer.delay("1h")
          if (status !== "open") return
          status = "expired"
          hasExpired = true
        }
        await Promise.race([reserve(), expire()])
        await Task.run("notify", status)
        return status
        """),
    Planted(
        "wrong order assumption in Promise.all", 'Invariant "the first is a" is not true',
        {"step": True},
        """
        const seen = []
        const step = async name => {
          await Task.run("step", name)
          seen.push(name)
        }
        await Promise.all([step("a"), step("b")])
        Invariant("the first is a", seen[0] === "a")
        """,
        """
        const step = async name => {
          await Task.run("step", name)
          return name
        }
        const seen = await Promise.all([step("a"), step("b")])
        Invariant("the first is a", seen[0] === "a")
        """),
    Planted(
        "off-by-one in retries", 'check "at most three" is not true',
        {"charge": {"any": [True, DECLINED]}, "check:at most three": "calls.charge <= 3"},
        """
        for (let tries = 0; ; tries++) {
          try {
            return await Task.run("charge", null, { retry: { attempts: 1 } })
          } catch (error) {
            if (tries === 3) throw error
          }
        }
        """,
        """
        for (let tries = 1; ; tries++) {
          try {
            return await Task.run("charge", null, { retry: { attempts: 1 } })
          } catch (error) {
            if (tries === 3) throw error
          }
        }
        """),
    Planted(
        "deadlock between two waits", "waits for event",
        {},
        """
        workflow both() {
          await Promise.all([Workflow.run("left"), Workflow.run("right")])
        }
        workflow left() {
          await Event.wait("right is ready")
          Event.emit("left is ready")
        }
        workflow right() {
          await Event.wait("left is ready")
          Event.emit("right is ready")
        }
        """,
        """
        workflow both() {
          await Promise.all([Workflow.run("left"), Workflow.run("right")])
        }
        workflow left() {
          Event.emit("left is ready")
          await Event.wait("right is ready")
        }
        workflow right() {
          Event.emit("right is ready")
          await Event.wait("left is ready")
        }
        """),
    Planted(
        "never-ending loop on a repeated signal", "the run does not end",
        {"signal:edit": "more"},
        """
        for (;;) {
          const edit = await Signal.when("edit", { timeout: "1h" }).catch(() => null)
          if (edit === null) return "done"
        }
        """,
        """
        for (let edits = 0; edits < 3; edits++) {
          const edit = await Signal.when("edit", { timeout: "1h" }).catch(() => null)
          if (edit === null) return "done"
        }
        return "enough"
        """),
    Planted(
        "timeout shorter than the retries", 'check "no money without goods" is not true',
        {"charge": True, "check:no money without goods": 'status === "completed" || done.charge === 0'},
        """
        const late = async () => {
          await Timer.delay("30s")
          throw new Error("not charged")
        }
        await Promise.race([Task.run("charge", null, { retry: { attempts: 3, delay: "1m" } }), late()])
        return "goods"
        """,
        """
        await Task.run("charge", null, { retry: { attempts: 3, delay: "1m" } })
        return "goods"
        """),
    Planted(
        "missing await", 'check "a transfer has both sides" is not true',
        {"debit": {"any": [True, DECLINED]}, "credit": True,
         "check:a transfer has both sides": 'status !== "completed" || done.debit > 0'},
        """
        const debit = Task.run("debit")
        await Task.run("credit")
        return "transferred"
        """,
        """
        await Task.run("debit")
        await Task.run("credit")
        return "transferred"
        """),
    Planted(
        "compensation in the wrong order", 'check "last booked is first cancelled" is not true',
        {"hotel": True, "flight": True, "cancel hotel": True, "cancel flight": True,
         "pay": {"any": [True, DECLINED]},
         "check:last booked is first cancelled":
             '!order.includes("cancel hotel") || order.indexOf("cancel flight") < order.indexOf("cancel hotel")'},
        """
        const undo = []
        try {
          await Task.run("hotel")
          undo.push("cancel hotel")
          await Task.run("flight")
          undo.push("cancel flight")
          await Task.run("pay")
        } catch (error) {
          for (const name of undo) await Task.run(name)
        }
        """,
        """
        const undo = []
        try {
          await Task.run("hotel")
          undo.push("cancel hotel")
          await Task.run("flight")
          undo.push("cancel flight")
          await Task.run("pay")
        } catch (error) {
          for (const name of undo.reverse()) await Task.run(name)
        }
        """),
    Planted(
        "child failure that is swallowed", 'check "what is shipped was packed" is not true',
        {"workflow:pack": {"any": [True, {"error": {"message": "no boxes"}}]},
         "check:what is shipped was packed": "!result || !result.isShipped || done.pack > 0"},
        """
        await Workflow.run("pack").catch(error => console.warn(error.message))
        return { isShipped: true }
        """,
        """
        try {
          await Workflow.run("pack")
        } catch (error) {
          return { isShipped: false }
        }
        return { isShipped: true }
        """),
    Planted(
        "clock jump past a deadline", "fails with RangeError",
        {"signal:go": {"maybe": True}},
        """
        const deadline = Date.now() + 3600000
        await Signal.when("go", { timeout: "30m" }).catch(() => null)
        await Timer.delay((deadline - Date.now()) / 1000)
        """,
        """
        const deadline = Date.now() + 3600000
        await Signal.when("go", { timeout: "30m" }).catch(() => null)
        await Timer.until(deadline)
        """),
]
