"""abide: durable workflows. A client for programs and a worker for task functions."""
from .client import Client, Tasks
from .errors import (AbideError, ApiError, NonRetryableError, RunFailed, ServerUnreachable,
                     TaskCancelled, TaskError, WaitTimeout)
from .worker import Context, Worker

__all__ = ["AbideError", "ApiError", "Client", "Context", "NonRetryableError", "RunFailed",
           "ServerUnreachable", "TaskCancelled", "TaskError", "Tasks", "WaitTimeout", "Worker"]
