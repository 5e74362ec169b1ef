"""abide: durable workflows. A client for programs and a worker for task functions."""
from .client import Client
from .errors import (AbideError, ApiError, Conflict, Forbidden, InvalidRequest, NonRetryableError,
                     NotFound, RunFailed, ServerError, ServerUnreachable, TaskCancelled, TaskError,
                     Unauthorized, WaitTimeout)
from .fields import Duration, Time
from .resources import (DeadLetters, Handlers, Queues, Schedules, ServerInfo, Tasks, Tokens, Topics, CodeTurns,
                        Workflows)
from .worker import Context, Worker

__all__ = ["AbideError", "ApiError", "Client", "Conflict", "Context", "DeadLetters", "Duration",
           "Forbidden", "Handlers", "InvalidRequest", "NonRetryableError", "NotFound", "Queues",
           "RunFailed", "Schedules", "ServerError", "ServerInfo", "ServerUnreachable",
           "TaskCancelled", "TaskError", "Tasks", "Time", "Tokens", "Topics", "CodeTurns", "Unauthorized",
           "WaitTimeout", "Worker", "Workflows"]
