"""Definitions: what @workflow makes of a function."""
from __future__ import annotations

import hashlib
import inspect
import textwrap
from typing import (TYPE_CHECKING, Any, Callable, Coroutine, Dict, Generic, Optional, TypeVar, Union,
                    overload)

from ..convert import Decoder, annotation, decoder

if TYPE_CHECKING:
    from .blocking import BlockingContext
    from .context import Context

I = TypeVar("I")  # noqa: E741
R = TypeVar("R")
_VERSION_LENGTH = 12


class Workflow(Generic[I, R]):
    """A durable function with its name and version. Calling it is calling the function."""

    def __init__(self, function: Callable[..., Any], name: Optional[str], version: Optional[str],
                 input: Any, description: Optional[str] = None,
                 schema: Optional[Dict[str, Any]] = None):
        self.function = function
        self.description = description
        self.schema = schema
        self.name = name or function.__name__
        self.version = version or source_hash(function)
        self.is_async = inspect.iscoroutinefunction(function)
        parameters = list(inspect.signature(function).parameters.values())
        if not 1 <= len(parameters) <= 2:
            raise TypeError("a workflow takes a context and an input, or a context alone: %s%s" % (
                self.name, inspect.signature(function)))
        self.takes_input = len(parameters) == 2
        wanted = annotation(function, parameters[1].name) if self.takes_input else Any
        self.read_input: Decoder = decoder(input if input is not None else wanted)
        self.read_result: Decoder = decoder(annotation(function, "return"))
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __repr__(self) -> str:
        return "<workflow %s, version %s>" % (self.name, self.version)


def source_hash(function: Callable[..., Any]) -> str:
    """Of the function's source: a version that changes when the code does."""
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise ValueError("the source of %r is not known: give the workflow a version" % function) from None
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:_VERSION_LENGTH]


class Decorator:
    """@workflow(…), waiting for its function."""

    def __init__(self, name: Optional[str], version: Optional[str], input: Any,
                 description: Optional[str], schema: Optional[Dict[str, Any]]):
        self._options = (name, version, input, description, schema)

    @overload
    def __call__(self, function: "Callable[[Context, I], Coroutine[Any, Any, R]]") -> Workflow[I, R]: ...
    @overload
    def __call__(self, function: "Callable[[BlockingContext, I], R]") -> Workflow[I, R]: ...
    @overload
    def __call__(self, function: "Callable[[Context], Coroutine[Any, Any, R]]") -> Workflow[None, R]: ...
    @overload
    def __call__(self, function: "Callable[[BlockingContext], R]") -> Workflow[None, R]: ...

    def __call__(self, function: Callable[..., Any]) -> Workflow[Any, Any]:
        return Workflow(function, *self._options)


@overload
def workflow(name: "Callable[[Context, I], Coroutine[Any, Any, R]]") -> Workflow[I, R]: ...
@overload
def workflow(name: "Callable[[BlockingContext, I], R]") -> Workflow[I, R]: ...
@overload
def workflow(name: "Callable[[Context], Coroutine[Any, Any, R]]") -> Workflow[None, R]: ...
@overload
def workflow(name: "Callable[[BlockingContext], R]") -> Workflow[None, R]: ...
@overload
def workflow(name: Optional[str] = None, *, version: Optional[str] = None,
             input: Any = None, description: Optional[str] = None,
             schema: Optional[Dict[str, Any]] = None) -> Decorator: ...


def workflow(name: Union[Callable[..., Any], str, None] = None, *, version: Optional[str] = None,
             input: Any = None, description: Optional[str] = None,
             schema: Optional[Dict[str, Any]] = None) -> Any:
    """Decorator: makes a workflow of an `async def` or a plain function.

    name     the function's name unless given
    version  the first 12 digits of the SHA-256 of the function's source unless given
    input    what the input is read as: the parameter's annotation unless given
    description, schema
             shown with the workflow; a start whose input does not fit the schema is refused with
             BAD_INPUT. They belong to the version: give another one when they change
    """
    if callable(name):
        return Workflow(name, None, version, input)
    return Decorator(name, version, input, description, schema)
