"""Durable functions: workflows whose code is Python.

Begin with definition.py (what @workflow makes) and context.py (what such a function may ask for).
Then, from the inside outwards:

    operation.py   what can be awaited, and combinations of it
    replay.py      the journal of one run: what was asked for before, what is new
    loop.py        asyncio without a clock or a network, for `async def` functions
    drivers.py     lets a function run until it can go on no more: a coroutine, or a thread
    steps.py       executes steps: threads, attempts, time limits
    run.py         one run in memory: from a turn to its commits
    pump.py        commits of all runs, in one request at a time
    service.py     claims, heartbeats, memory, stopping
"""
