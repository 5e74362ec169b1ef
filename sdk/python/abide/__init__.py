"""abide: durable workflows. Workflows and tasks as functions of your program, and clients."""
from .async_client import AsyncClient, AsyncRunHandle
from .client import Client
from .convert import ConversionError, PayloadTooLarge
from .errors import (AbideError, ApiError, CancelledError, ChildError, Conflict, Forbidden,
                     InvalidRequest, NondeterminismError, NonRetryableError, NotFound,
                     OperationError, OperationTimeout, RunFailed, ServerError, ServerUnreachable,
                     StepCancelled, StepError, TaskCancelled, TaskError, Unauthorized, WaitTimeout,
                     WorkflowMisuse)
from .fields import Duration, Time
from .handles import RunHandle
from .jobs import TaskContext
from .resources import (CodeTurns, DeadLetters, Handlers, Queues, Schedules, ServerInfo, Tasks,
                        Tokens, Topics, Workflows)
from .worker import Worker
from .workflows.blocking import BlockingContext
from .workflows.context import Context, RunInfo
from .workflows.definition import Workflow, workflow
from .workflows.operation import NoneSucceeded, Operation, Settled
from .workflows.step import Retry, StepContext, current_step

__all__ = ["AbideError", "ApiError", "AsyncClient", "AsyncRunHandle", "BlockingContext", "CancelledError", "ChildError", "Client",
           "CodeTurns", "Conflict", "Context", "ConversionError", "DeadLetters", "Duration",
           "Forbidden", "Handlers", "InvalidRequest", "NonRetryableError", "NondeterminismError",
           "NoneSucceeded", "NotFound", "Operation", "OperationError", "OperationTimeout",
           "PayloadTooLarge", "Queues", "Retry", "RunFailed", "RunHandle", "RunInfo", "Schedules",
           "ServerError", "ServerInfo", "ServerUnreachable", "Settled", "StepCancelled",
           "StepContext", "StepError", "TaskCancelled", "TaskContext", "TaskError", "Tasks",
           "Time", "Tokens", "Topics", "Unauthorized", "WaitTimeout", "Worker", "Workflow",
           "WorkflowMisuse", "Workflows", "current_step", "workflow"]
