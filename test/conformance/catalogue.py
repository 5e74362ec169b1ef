"""The workflows of CATALOGUE.md for workers in Python.

They ask `tools` for everything durable: a class that each worker program has, on its own library.
"""

import json
import os
import urllib.request

ENV = os.environ
CODE = ENV.get("CONFORMANCE_CODE", "1")


class Told(Exception):
    """What the suite tells an effect to throw."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.error = error


def call(run, name, say=None):
    """An effect."""
    request = urllib.request.Request(ENV["CONFORMANCE_EFFECTS"],
                                     json.dumps({"run": run, "name": name, "say": say}).encode())
    with urllib.request.urlopen(request) as answer:
        said = json.load(answer)
    if "error" in said:
        raise Told(said["error"])
    return said.get("result")


def body_of(run, name, body):
    if "call" in body:
        return lambda: call(run, name, body["call"])
    return lambda: "x" * body["text"] if "text" in body else body["value"]


class Player:
    """Evaluates one program."""

    def __init__(self, tools, input):
        self.tools, self.input, self.names, self.begun, self.errors = tools, input, {}, {}, []

    def begin(self, expression):
        """What can be awaited; anything else as a branch."""
        begin = getattr(self, "begin_" + expression[0], None)
        return begin(*expression[1:]) if begin else self.value(expression)

    async def value(self, expression):
        kind, arguments = expression[0], expression[1:]
        if hasattr(self, "begin_" + kind):
            return await self.begin(expression)
        if hasattr(self, "is_" + kind):
            return getattr(self, "is_" + kind)(*arguments)
        return await getattr(self, "do_" + kind)(*arguments)

    # what can be awaited

    def begin_step(self, name, body, options=None):
        return self.tools.step(name, body_of(self.tools.run_id, name, body), options or {})

    def begin_sleep(self, duration):
        return self.tools.sleep(duration)

    def begin_signal(self, name, timeout=None):
        return self.tools.signal(name, timeout)

    def begin_event(self, topic, options=None):
        return self.tools.event(topic, options or {})

    def members(self, members):
        return [self.begin(each) for each in members]

    def begin_all(self, members):
        return self.tools.all(self.members(members))

    def begin_any(self, members):
        return self.tools.any(self.members(members))

    def begin_race(self, members):
        return self.tools.race(self.members(members))

    def begin_all_settled(self, members):
        return self.tools.all_settled(self.members(members))

    def plain(self, expression):
        """Of an expression that awaits nothing."""
        try:
            self.value(expression).send(None)
        except StopIteration as end:
            return end.value
        raise TypeError(f"{expression} awaits something")

    def begin_task(self, name, input, options=None):
        return self.tools.task(name, self.plain(input), options or {})

    def begin_child(self, name, input, options=None):
        return self.tools.child(name, self.plain(input), options or {})

    def begin_sleep_until(self, at):
        return self.tools.sleep_until(self.plain(at))

    async def do_begin(self, name, expression):
        self.begun[name] = self.begin(expression)

    async def do_await(self, name):
        return await self.begun[name]

    # values

    def is_value(self, value):
        return value

    def is_data(self):
        return self.input.get("data")

    def is_get(self, name):
        return self.names.get(name)

    async def do_set(self, name, expression):
        self.names[name] = await self.value(expression)
        return self.names[name]

    async def do_at(self, expression, key):
        return (await self.value(expression))[key]

    async def do_list(self, *expressions):
        return [await self.value(each) for each in expressions]

    async def do_do(self, *expressions):
        return (await self.do_list(*expressions) or [None])[-1]

    async def do_add(self, left, right):
        return await self.value(left) + await self.value(right)

    async def do_less(self, left, right):
        return await self.value(left) < await self.value(right)

    async def do_equal(self, left, right):
        return await self.value(left) == await self.value(right)

    async def do_if(self, condition, then, otherwise):
        return await self.value(then if await self.value(condition) else otherwise)

    async def do_repeat(self, count, expression):
        found = []
        for self.names["i"] in range(count):
            found.append(await self.value(expression))
        return found

    async def do_while(self, condition, expression):
        while await self.value(condition):
            await self.value(expression)

    def is_throw(self, error):
        raise self.tools.thrown(error)

    async def do_try(self, expression, handler):
        try:
            return await self.value(expression)
        except self.tools.errors as error:
            self.names["error"] = self.tools.described(error)
            self.errors.append(error)
        return await self.value(handler)

    def is_again(self):
        raise self.errors.pop()

    async def do_finally(self, expression, cleanup):
        try:
            value = await self.value(expression)
        except self.tools.errors:
            await self.value(cleanup)
            raise
        await self.value(cleanup)
        return value

    # commands

    async def do_start(self, name, input, options=None):
        await self.tools.start(name, await self.value(input), options or {})

    async def do_emit(self, topic, payload):
        self.tools.emit(topic, await self.value(payload))

    async def do_stream(self, value, type="message"):
        self.tools.stream(await self.value(value), type)

    async def do_state(self, name, value):
        self.tools.state(name, await self.value(value))

    def is_log(self, text):
        self.tools.log(text)

    def is_now(self):
        return self.tools.now_ms()

    def is_random(self):
        return self.tools.random()

    def is_uuid(self):
        return self.tools.uuid()

    def is_changed(self, name):
        return self.tools.changed(name)

    def is_aborted(self):
        return self.tools.is_told_to_end()

    def is_info(self):
        return self.tools.info()

    async def do_continue_as(self, data):
        self.tools.continue_as({**self.input, "data": await self.value(data)})


async def play(tools, input):
    code = input["code"]
    return await Player(tools, input).value(code.get(CODE, code["1"]))


# The ten.


def step(tools, name, **options):
    return tools.step(name, lambda: call(tools.run_id, name), options)


async def order(tools, input):
    receipt = await step(tools, "charge")
    await tools.sleep("5ms")
    return {"card": input["card"], "receipt": receipt, "label": await step(tools, "ship")}


async def saga(tools, input):
    booked, results = [], []
    try:
        for each in input:
            results.append(await step(tools, f"book {each}"))
            booked.append(each)
    except tools.errors:
        return {"undone": [await step(tools, f"undo {each}") for each in reversed(booked)]}
    return {"booked": results}


async def loop(tools, input):
    return sum([await step(tools, "page") for _ in range(input)])


async def countdown(tools, input):
    total = input["sum"] + await step(tools, "tick")
    if input["left"] > 1:
        tools.continue_as({"left": input["left"] - 1, "sum": total})
    return total


async def fan(tools, input):
    parts = await tools.all([step(tools, f"part {place}") for place in range(input)])
    return [*parts, await step(tools, "merge")]


async def flaky(tools, _):
    return [await step(tools, "unsteady", attempts=5, delay="1ms"), await step(tools, "after")]


async def family(tools, input):
    children = await tools.all([tools.child(input["child"], name, {}) for name in input["names"]])
    return {"children": list(children), "report": await step(tools, "report")}


async def leaf(tools, input):
    got = await step(tools, "leaf")
    await tools.sleep("1ms")
    return {"of": input, "got": got}


async def race(tools, _):
    quick = await tools.race([step(tools, "quick"), tools.signal("never", None)])
    await tools.all([tools.sleep("1ms"), tools.sleep("2ms")])
    return [quick, await step(tools, "done")]


async def agent(tools, input):
    thoughts = []
    for number in range(input):
        tools.now_ms()
        thoughts.append(await step(tools, "think"))
        tools.emit("thoughts", thoughts[-1])
        tools.stream(thoughts[-1], "message")
        tools.state("round", number + 1)
    return thoughts


ALL = (play, order, saga, loop, countdown, fan, flaky, family, leaf, race, agent)
