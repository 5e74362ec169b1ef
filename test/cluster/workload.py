"""Clients and workers that keep a cluster busy, and write down what they were told.

Each client thread plays one small session after the other, against all nodes at random: it starts runs,
signals, publishes, cancels, reads. What is not answered is sent again, elsewhere, under the same key, until
somebody says yes or no: so at the end every operation has an answer, and what clients may believe is known.
Workers claim tasks over HTTP and do to them what workers do: complete them, fail, fall asleep, die, say it twice.

The flows are made so that a run's result tells everything that happened to it. checker.py reads the log and the
results; the form of the log is described there.
"""
import http.client
import json
import random
import threading
import time
import urllib.parse

CALL_SECONDS = 4      # then the answer counts as lost; a stopped node still gets to it later
TASK_LEASE_SECONDS = 3
QUEUE = "chaos"

TASK = """{ queue: "chaos", retry: { attempts: 1000, delay: "20ms", factor: 1 } }"""
FLOWS = {
    # What it was told, in order. Goes on as itself now and then, so that signals meet that as well.
    "ledger": """
const got = Inputs.got ?? []
let ended = Inputs.ended ?? 0
while (true) {
  const message = await Signal.next("add")
  got.push(message)
  State.set("count", got.length)
  if (message.last) ended++
  if (ended === Inputs.senders) return got
  if (got.length % 5 === 0) await Workflow.continueAs({ ...Inputs, got, ended })
}
""",
    "job": f"""
const results = []
for (let i = 0; i < Inputs.n; i++) results.push(await Task.run("work", {{ run: Context.runId, i }}, {TASK}))
const wide = Array.from({{ length: Inputs.wide }}, (_, k) => Inputs.n + k)
results.push(...await Promise.all(wide.map(i => Task.run("work", {{ run: Context.runId, i }}, {TASK}))))
return results
""",
    "tick": f"""return [await Task.run("work", {{ run: Context.runId, i: 0 }}, {TASK})]""",
    "kid": """
await Timer.delay(Inputs.seconds)
return { i: Inputs.i, id: Context.runId }
""",
    "family": """
const kids = Array.from({ length: Inputs.n }, (_, i) => Workflow.run("kid", { i, seconds: i / 10 }))
return await Promise.all(kids)
""",
    "sleeper": """
const naps = []
for (const ms of Inputs.naps) {
  const before = Date.now()
  await Timer.delay(ms / 1000)
  naps.push({ ms, before, after: Date.now() })
}
return naps
""",
    "eater": """
const eaten = []
while (eaten.length < Inputs.n) eaten.push(await Event.wait(Inputs.topic))
return eaten
""",
    "victim": """
try {
  await Signal.next("never")
} finally {
  State.set("cleaned", true)
}
""",
}
SCHEDULE = {"workflow": "tick", "every": "1s", "overlap": "allow", "catch_up": "1h"}


class Log:
    """Append-only; a line is out before whoever wrote it goes on."""

    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")
        self.lock = threading.Lock()
        self.next_op = 1

    def begin(self):
        with self.lock:
            number = self.next_op
            self.next_op += 1
            return number

    def write(self, op, phase, **fields):
        line = json.dumps({"op": op, "phase": phase, "at": time.time(), **fields}, separators=(",", ":"))
        with self.lock:
            self.file.write(line + "\n")
            self.file.flush()


class NoAnswer(Exception):
    """It may have happened or not."""


class Refused(Exception):
    def __init__(self, status, code):
        super().__init__("%d %s" % (status, code))
        self.status = status
        self.code = code


class Caller:
    """One thread's connections to all nodes."""

    def __init__(self, ports, rng):
        self.ports = ports
        self.rng = rng
        self.connections = {}
        self.bad_until = {}

    def pick(self):
        now = time.monotonic()
        good = [port for port in self.ports if self.bad_until.get(port, 0) < now]
        return self.rng.choice(good or self.ports)

    def call(self, method, path, body=None, headers=None, seconds=CALL_SECONDS):
        """The answer of any one node."""
        port = self.pick()
        connection = self.connections.pop(port, None)
        try:
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
                connection.connect()
            connection.sock.settimeout(seconds)
            data = body if isinstance(body, (str, bytes)) or body is None else json.dumps(body)
            connection.request(method, path, body=data, headers=headers or {})
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            if connection is not None:
                connection.close()
            self.bad_until[port] = time.monotonic() + self.rng.uniform(0.2, 2)
            raise NoAnswer("%s: %s" % (type(error).__name__, error)) from None
        if response.will_close:
            connection.close()
        else:
            self.connections[port] = connection
        if response.status >= 500:
            self.bad_until[port] = time.monotonic() + self.rng.uniform(0.1, 0.5)
            raise NoAnswer("%d %s" % (response.status, text[:200].decode("utf-8", "replace")))
        answer = json.loads(text) if text else None
        if response.status >= 400:
            raise Refused(response.status, answer.get("code"))
        return answer

    def close(self):
        for connection in self.connections.values():
            connection.close()


class Actor:
    """What clients and workers have in common."""

    def __init__(self, load, name):
        self.load = load
        self.name = name
        self.rng = random.Random("%s/%s" % (load.seed, name))
        self.caller = Caller(load.ports, self.rng)
        self.count = 0

    def name_of(self, what):
        self.count += 1
        return "%s-%s-%d" % (what, self.name, self.count)

    def operate(self, kind, method, path, body=None, headers=None, op=None, take=None, **fields):
        """Sends until there is an answer, which it returns; None: refused, or time is up."""
        op = op or self.load.log.begin()
        while not self.load.is_over:
            self.load.log.write(op, "sent", kind=kind, **fields)
            try:
                answer = self.caller.call(method, path, body, headers)
            except NoAnswer as lost:
                self.load.log.write(op, "unknown", reason=str(lost))
                self.load.pause(self.rng.uniform(0.05, 0.4))
            except Refused as refused:
                self.load.log.write(op, "refused", status=refused.status, code=refused.code)
                return None
            else:
                answer = take(answer) if take else answer
                self.load.log.write(op, "acknowledged", answer=answer)
                return answer
        return None


class Client(Actor):
    def run(self):
        sessions = [(self.play_ledger, 4), (self.play_job, 4), (self.play_topic, 2), (self.play_family, 1),
                    (self.play_sleeper, 1), (self.play_victim, 1)]
        functions, weights = zip(*sessions)
        while not self.load.is_stopping:
            self.rng.choices(functions, weights)[0]()
        self.caller.close()

    def start(self, workflow, body):
        """Half of the runs have an id of ours, half one that the server makes for a key."""
        op = self.load.log.begin()
        run, key = self.name_of("run"), None
        request = {"workflow": workflow, "input": body, "tags": ["op:%d" % op]}
        headers = {}
        if self.rng.random() < 0.5:
            request["id"] = run
        else:
            run, key = None, run
            headers["Idempotency-Key"] = key
        answer = self.operate("start", "POST", "/v1/runs", request, headers, op=op, workflow=workflow, input=body,
                              run=run, key=key, take=lambda answer: {"id": answer["id"]})
        return answer and answer["id"]

    def signal(self, run, sender, seq, total):
        message = {"sender": sender, "seq": seq, "last": seq == total}
        path = "/v1/runs/%s/signals/add?id=%s-%s-%d" % (run, run, sender, seq)
        self.operate("signal", "POST", path, message, run=run, **message)

    def read(self, run):
        """Ended is final: whatever somebody has seen must be there at the end."""
        op = self.load.log.begin()
        self.load.log.write(op, "sent", kind="read", run=run)
        try:
            answer = self.caller.call("GET", "/v1/runs/%s/result?wait=2s" % run)
        except (NoAnswer, Refused) as problem:
            self.load.log.write(op, "unknown", reason=str(problem))
        else:
            self.load.log.write(op, "acknowledged",
                                answer={"status": answer["status"], "result": answer.get("result")})

    def maybe_read(self, run):
        if self.rng.random() < 0.5:
            self.read(run)

    def play_ledger(self):
        run = self.start("ledger", {"senders": 2})
        if run is None:
            return
        counts = {sender: self.rng.randint(2, 8) for sender in ("a", "b")}
        left = [(sender, seq) for sender in counts for seq in range(1, counts[sender] + 1)]
        self.rng.shuffle(left)
        order = {sender: iter(range(1, counts[sender] + 1)) for sender in counts}
        for sender, _ in left:  # shuffled between the senders, in order for each
            self.signal(run, sender, next(order[sender]), counts[sender])
            if self.rng.random() < 0.2:
                self.load.pause(self.rng.uniform(0, 1))
        self.maybe_read(run)

    def play_job(self):
        run = self.start("job", {"n": self.rng.randint(1, 4), "wide": self.rng.randint(0, 4)})
        if run is not None:
            self.maybe_read(run)

    def play_topic(self):
        topic = self.name_of("topic")
        shares = [self.rng.randint(1, 4) for _ in range(2)]
        self.operate("topic", "PUT", "/v1/topics/" + topic, {"consume": "one", "visible": "all"},
                     take=lambda answer: None)
        runs = []
        first = self.rng.randint(0, sum(shares))  # so many events before the second eater is there
        for seq in range(1, sum(shares) + 1):
            while len(runs) < 2 and seq > first * len(runs):
                runs.append(self.start("eater", {"topic": topic, "n": shares[len(runs)]}))
            self.operate("emit", "POST", "/v1/events/%s?id=%s-%d" % (topic, topic, seq), {"seq": seq},
                         topic=topic, seq=seq)
        while len(runs) < 2:
            runs.append(self.start("eater", {"topic": topic, "n": shares[len(runs)]}))

    def play_family(self):
        run = self.start("family", {"n": self.rng.randint(1, 5)})
        if run is not None:
            self.maybe_read(run)

    def play_sleeper(self):
        self.start("sleeper", {"naps": [self.rng.randint(1, 1500) for _ in range(self.rng.randint(1, 3))]})

    def play_victim(self):
        run = self.start("victim", {})
        if run is None:
            return
        self.load.pause(self.rng.uniform(0, 1))
        self.operate("cancel", "POST", "/v1/runs/%s/cancel" % run, {}, run=run)
        self.maybe_read(run)


class Worker(Actor):
    def run(self):
        while not self.load.is_over:
            self.claim()
        self.caller.close()

    def claim(self):
        op = self.load.log.begin()
        self.load.log.write(op, "sent", kind="claim", worker=self.name)
        request = {"worker": self.name, "queues": [QUEUE], "max": 4, "wait": "1s",
                   "lease": "%ds" % TASK_LEASE_SECONDS}
        try:
            tasks = self.caller.call("POST", "/v1/tasks/claim", request)["tasks"]
        except (NoAnswer, Refused) as problem:
            self.load.log.write(op, "unknown", reason=str(problem))
            self.load.pause(self.rng.uniform(0.05, 0.4))
            return
        told = [{"id": task["id"], "token": task["token"], "run": task["input"]["run"], "i": task["input"]["i"]}
                for task in tasks]
        self.load.log.write(op, "acknowledged", answer=told)
        for task in told:
            self.do(task)

    def do(self, task):
        ways = [(self.complete, 80), (self.fail, 5), (self.complete_twice, 5), (self.work_long, 4),
                (self.sleep_in, 4), (self.vanish, 2)]
        functions, weights = zip(*ways)
        way = self.rng.choices(functions, weights)[0]
        if way in (self.work_long, self.sleep_in):
            helper = Worker(self.load, self.name_of("helper"))  # which has connections of its own
            self.load.spawn(getattr(helper, way.__name__), task)
        else:
            way(task)

    def tell(self, task, nonce, op=None):
        result = {"id": task["id"], "token": task["token"], "result": {"i": task["i"], "nonce": nonce}}
        self.operate("complete", "POST", "/v1/tasks/complete", {"results": [result]}, op=op, nonce=nonce,
                     task=task["id"], run=task["run"], i=task["i"],
                     take=lambda answer: answer["results"][0]["status"])

    def complete(self, task):
        self.tell(task, self.name_of("result"))

    def complete_twice(self, task):
        """Two results under one token: only the first can count."""
        self.tell(task, self.name_of("result"))
        self.tell(task, self.name_of("result"))

    def fail(self, task):
        error = {"type": "Chaos", "message": "as it happens", "retryable": True}
        try:
            self.caller.call("POST", "/v1/tasks/complete",
                             {"results": [{"id": task["id"], "token": task["token"], "error": error}]})
        except (NoAnswer, Refused):
            pass  # then its lease ends

    def work_long(self, task):
        """Longer than the lease, which is renewed meanwhile."""
        for _ in range(4):
            self.load.pause(TASK_LEASE_SECONDS / 2.5)
            try:
                self.caller.call("POST", "/v1/tasks/heartbeat",
                                 {"tasks": [{"id": task["id"], "token": task["token"]}]})
            except (NoAnswer, Refused):
                pass
        self.complete(task)
        self.caller.close()

    def sleep_in(self, task):
        """Comes back with a result when somebody else may have the task."""
        self.load.pause(TASK_LEASE_SECONDS * self.rng.uniform(0.9, 1.6))
        self.complete(task)
        self.caller.close()

    def vanish(self, task):
        """Dies with the task in its hands."""


class Load:
    """Everybody. begin(); ...; stop(): no new sessions; finish(): no more workers either."""

    def __init__(self, ports, log_path, seed, clients=6, workers=3):
        self.ports = ports
        self.seed = seed
        self.log = Log(log_path)
        self.is_stopping = False
        self.is_over = False
        self.over = threading.Event()
        self.clients = [Client(self, "c%d" % i) for i in range(clients)]
        self.workers = [Worker(self, "w%d" % i) for i in range(workers)]
        self.threads = []
        self.client_threads = []
        self.problems = []

    def pause(self, seconds):
        self.over.wait(seconds)

    def spawn(self, function, *arguments):
        def guarded():
            try:
                function(*arguments)
            except Exception as problem:  # a bug of the workload; the run must not count as clean
                self.problems.append("%s: %r" % (getattr(function, "__qualname__", function), problem))
                raise

        thread = threading.Thread(target=guarded, daemon=True)
        thread.start()
        self.threads.append(thread)
        return thread

    def deploy(self):
        """While nothing is disturbed yet."""
        caller = Caller(self.ports, random.Random(0))
        for name, source in FLOWS.items():
            caller.call("PUT", "/v1/workflows/" + urllib.parse.quote(name), source.encode(), seconds=30)
        caller.call("PUT", "/v1/schedules/every", SCHEDULE, seconds=30)
        caller.close()

    def begin(self):
        self.deploy()
        self.client_threads = [self.spawn(client.run) for client in self.clients]
        for worker in self.workers:
            self.spawn(worker.run)

    def stop(self, seconds):
        """Ends the sessions that are under way. False: some did not end in that time."""
        self.is_stopping = True
        deadline = time.monotonic() + seconds
        for thread in self.client_threads:
            thread.join(max(0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in self.client_threads)

    def finish(self):
        self.is_over = True
        self.over.set()
        for thread in self.threads:
            thread.join(2 * CALL_SECONDS)
        self.log.file.close()
