"""Tests of workflows: a private server with a clock that you move, mocks, and crashes on purpose.

    from abide.testing import Environment, every_crash

    with Environment(order) as env:
        env.mock.step("charge", lambda card: {"id": 1})
        run = env.start(order, {"card": 7})
        env.advance("24h")
        assert run.result() == …
"""
from .crashes import Difference, every_crash
from .environment import Environment, Mocks
from .server import TestServer

__all__ = ["Difference", "Environment", "Mocks", "TestServer", "every_crash"]
