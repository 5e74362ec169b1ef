"""What can go wrong: on the way to the server, in a run, and in a task function."""
from __future__ import annotations

import asyncio
import builtins
from typing import Any, Dict, Optional, Type


class AbideError(Exception):
    """Everything this library raises by itself."""


class ApiError(AbideError):
    """The server refused a request; `code` is stable and documented in docs/errors.md.

    The classes below say which kind of refusal it is; `status`, `code` and `detail` are the same
    for all of them, and `body` is the whole answer.
    """

    def __init__(self, status: int, code: str, detail: str, body: Any = None):
        super().__init__("%s (%s, HTTP %d)" % (detail, code, status))
        self.status = status
        self.code = code
        self.detail = detail
        self.body = body


class InvalidRequest(ApiError):
    """400, 413, 422: what was sent is wrong. Sending it again does not help."""


class Unauthorized(ApiError):
    """401: no token, or one that the server does not know."""


class Forbidden(ApiError):
    """403: the token's scopes do not cover this."""


class NotFound(ApiError):
    """404: there is no such run, task, workflow, …"""


class Conflict(ApiError):
    """409: it is not in a state in which this can be done."""


class ServerError(ApiError):
    """5xx: the server, or the store behind it, cannot do it now. The outcome may be unknown."""


_CLASSES: Dict[int, Type[ApiError]] = {
    400: InvalidRequest, 401: Unauthorized, 403: Forbidden, 404: NotFound, 409: Conflict,
    413: InvalidRequest, 422: InvalidRequest}


def api_error(status: int, code: str, detail: str, body: Any = None) -> ApiError:
    if status >= 500:
        return ServerError(status, code, detail, body)
    return _CLASSES.get(status, ApiError)(status, code, detail, body)


class ServerUnreachable(AbideError):
    """No answer came, however often it was tried. What was asked for may have happened."""


class WaitTimeout(AbideError):
    """The run had not ended when the time was over. It goes on."""


class RunFailed(AbideError):
    """The run has ended without a result; `error` is its error object, `status` how it ended.

    The message says why, down to what the task function raised.
    """

    def __init__(self, run_id: str, status: str, error: Any):
        message = "run %s %s" % (run_id, status)
        cause = error
        while isinstance(cause, dict) and cause.get("message"):
            message += ": %s" % cause["message"]
            value = cause.get("value")
            cause = (value if isinstance(value, dict) else cause).get("cause")
        super().__init__(message)
        self.run_id = run_id
        self.status = status
        self.error = error


class OperationError(AbideError):
    """What a workflow awaited has failed: StepError, TaskError, ChildError.

    `type` is the name of the error where it happened, `details` any JSON it came with, `cause` the
    error object (a dictionary) behind it, if any.
    """

    def __init__(self, message: str, *, type: Optional[str] = None, details: Any = None,
                 cause: Any = None):
        super().__init__(message)
        self.type = type or self.__class__.__name__
        self.details = details
        self.cause = cause


class StepError(OperationError):
    """A step of a workflow has failed for good."""


class ChildError(OperationError):
    """A child run has failed, or was cancelled."""


class TaskError(OperationError):
    """A task has failed for good; raise it in a task function to say how the attempt failed.

    `type` is what the workflow sees as the error's type and what `non_retryable` lists are matched
    with; `details` is any JSON that helps.
    """

    def __init__(self, message: str, *, type: Optional[str] = None, details: Any = None,
                 retryable: bool = True, cause: Any = None):
        super().__init__(message, type=type, details=details, cause=cause)
        self.retryable = retryable


class NonRetryableError(TaskError):
    """Raise it in a step or a task function when trying again cannot help."""

    def __init__(self, message: str, *, type: Optional[str] = None, details: Any = None):
        super().__init__(message, type=type, details=details, retryable=False)


class OperationTimeout(AbideError, builtins.TimeoutError):
    """What a workflow waited for did not come in time. `except TimeoutError` catches it."""


class CancelledError(asyncio.CancelledError):
    """The run was asked to end. Clean up, and let it go on: then the run ends as cancelled.

    As in asyncio it is no Exception, so `except Exception` does not swallow it.
    """


class NondeterminismError(AbideError):
    """The code asks for something else than the journal of the run has."""


class WorkflowMisuse(AbideError):
    """Something that a workflow must not do, or not here; the message says what to do instead."""


class TaskCancelled(AbideError):
    """Raised by TaskContext.check() when nobody wants the result any more."""


class StepCancelled(AbideError):
    """Raised by StepContext.check() when nobody wants the result any more."""
