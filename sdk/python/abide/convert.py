"""Between Python's values and JSON: what annotations say is what a function gets.

Dataclasses, TypedDicts, NamedTuples, enums, dates, UUIDs, decimals and, where it is installed,
pydantic's models are written as JSON and read back by annotation. What has no annotation is plain
JSON: dictionaries, lists, texts, numbers.
"""
from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import json
import typing
import uuid
from typing import Any, Callable, Dict, Tuple, Union

from .errors import AbideError

Decoder = Callable[[Any], Any]
PAYLOAD_MAX = 4 << 20  # bytes
_PLAIN = (str, int, float, bool, type(None))


class ConversionError(AbideError):
    """A value is not what the annotation says."""


class PayloadTooLarge(AbideError, ValueError):
    """An input, a result or a payload is larger than the server takes."""


# ---- writing ----

def _plain(value: Any) -> Any:
    """What json.dumps does not know, as something that it does."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if hasattr(value, "model_dump_json"):  # pydantic 2
        return json.loads(value.model_dump_json())
    if hasattr(value, "__fields__") and hasattr(value, "json"):  # pydantic 1
        return json.loads(value.json())
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    raise TypeError("%s cannot be written as JSON" % type(value).__name__)


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"),
                           default=_plain).encode


def encode(value: Any) -> str:
    """As JSON text; TypeError or ValueError when it cannot be."""
    try:
        return _encode(value)
    except RecursionError:
        raise ValueError("it is nested too deeply, or contains itself") from None


def encode_payload(value: Any) -> str:
    """The same for what the server keeps; PayloadTooLarge when it would not."""
    text = encode(value)
    size = len(text) if text.isascii() else len(text.encode("utf-8"))
    if size > PAYLOAD_MAX:
        raise PayloadTooLarge("%d bytes of JSON; at most %d are allowed: keep it elsewhere and pass "
                              "on where it is" % (size, PAYLOAD_MAX))
    return text


def again(value: Any, text: str) -> Any:
    """The value as a replay would see it, where `text` is what was written of it."""
    return value if type(value) in _PLAIN else json.loads(text)


# ---- reading ----

def _same(value: Any) -> Any:
    return value


def _wrong(wanted: Any, value: Any) -> ConversionError:
    name = getattr(wanted, "__name__", str(wanted))
    return ConversionError("%s was expected, not %.200s" % (name, json.dumps(value, default=str)))


def _scalar(kind: type) -> Decoder:
    def decode(value: Any) -> Any:
        if kind is float and type(value) is int:
            return float(value)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise _wrong(kind, value)
        return value
    return decode


def _parsed(kind: Any, parse: Callable[[Any], Any]) -> Decoder:
    def decode(value: Any) -> Any:
        try:
            return parse(value)
        except (TypeError, ValueError, KeyError, ArithmeticError):
            raise _wrong(kind, value) from None
    return decode


def _when(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def _nothing(value: Any) -> Any:
    if value is not None:
        raise _wrong("null", value)


def _model(kind: Any, parse: Callable[[Any], Any]) -> Decoder:
    """Of pydantic, whose errors say more than ours would."""
    def decode(value: Any) -> Any:
        try:
            return parse(value)
        except ValueError as error:
            raise ConversionError("%s: %s" % (kind.__name__, error)) from None
    return decode


def _items(kind: Any, item: Decoder, build: Callable[[Any], Any]) -> Decoder:
    def decode(value: Any) -> Any:
        if not isinstance(value, list):
            raise _wrong(kind, value)
        return build(item(each) for each in value)
    return decode


def _members(kind: Any, decoders: Dict[str, Decoder], required: typing.AbstractSet[str],
             build: Callable[[Dict[str, Any]], Any]) -> Decoder:
    name = getattr(kind, "__name__", str(kind))

    def decode(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _wrong(kind, value)
        if not value.keys() <= decoders.keys() or not required <= value.keys():
            strange = sorted(value.keys() - decoders.keys())
            missing = sorted(required - value.keys())
            raise ConversionError("%s: %s" % (name, "; ".join(
                text for text in ("it has no member " + ", ".join(strange) if strange else "",
                                  "missing: " + ", ".join(missing) if missing else "") if text)))
        built = {}
        for key, member in value.items():
            try:
                built[key] = decoders[key](member)
            except ConversionError as error:
                raise ConversionError("%s.%s: %s" % (name, key, error)) from None
        return build(built)
    return decode


def _dataclass(kind: Any) -> Decoder:
    hints = typing.get_type_hints(kind)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    required = {field.name for field in fields if field.default is dataclasses.MISSING
                and field.default_factory is dataclasses.MISSING}
    return _members(kind, {field.name: decoder(hints[field.name]) for field in fields}, required,
                    lambda members: kind(**members))


def _union(kinds: Tuple[Any, ...]) -> Decoder:
    decoders = [decoder(kind) for kind in kinds]

    def decode(value: Any) -> Any:
        faults = []
        for each in decoders:
            try:
                return each(value)
            except ConversionError as error:
                faults.append(str(error))
        raise ConversionError(faults[0] if len(faults) == 2 and value is not None
                              else "; ".join(faults))
    # None first: an Optional that is None is no attempt at the other one.
    if type(None) in kinds:
        return lambda value: None if value is None else decode(value)
    return decode


def _generic(kind: Any, origin: Any) -> Decoder:
    arguments = typing.get_args(kind)
    if origin is Union or type(kind).__name__ == "UnionType":
        return _union(arguments)
    if origin is typing.Literal:
        return _parsed(kind, lambda value: arguments[arguments.index(value)])
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        decoders = [decoder(each) for each in arguments]

        def decode(value: Any) -> Any:
            if not isinstance(value, list) or len(value) != len(decoders):
                raise _wrong(kind, value)
            return tuple(each(item) for each, item in zip(decoders, value))
        return decode
    if isinstance(origin, type) and issubclass(origin, collections.abc.Mapping):
        if arguments and arguments[0] not in (str, Any):
            raise TypeError("%s: the keys of JSON are texts" % (kind,))
        item = decoder(arguments[1]) if arguments else _same

        def decode_mapping(value: Any) -> Any:
            if not isinstance(value, dict):
                raise _wrong(kind, value)
            return {key: item(each) for key, each in value.items()}
        return decode_mapping
    if isinstance(origin, type) and issubclass(origin, collections.abc.Iterable):
        build: Any = origin if origin in (set, frozenset, tuple) else list
        return _items(kind, decoder(arguments[0]) if arguments else _same, build)
    if str(origin).rpartition(".")[2] in ("Annotated", "Required", "NotRequired", "ReadOnly"):
        return decoder(arguments[0])
    return _class(origin)


def _class(kind: Any) -> Decoder:
    if hasattr(kind, "model_validate"):  # pydantic 2
        return _model(kind, kind.model_validate)
    if hasattr(kind, "parse_obj") and hasattr(kind, "__fields__"):  # pydantic 1
        return _model(kind, kind.parse_obj)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind)
    if hasattr(kind, "__required_keys__"):  # a TypedDict
        hints = typing.get_type_hints(kind)
        return _members(kind, {name: decoder(hint) for name, hint in hints.items()},
                        kind.__required_keys__, _same)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):  # a NamedTuple
        hints = typing.get_type_hints(kind)
        decoders = [decoder(hints.get(name, Any)) for name in kind._fields]
        return _items(kind, _same, lambda items: kind(*(
            each(item) for each, item in zip(decoders, items))))
    if issubclass(kind, enum.Enum):
        return _parsed(kind, kind)
    if kind in (list, dict) or kind in _PLAIN:
        return _scalar(kind)
    if kind in (tuple, set, frozenset):
        return _items(kind, _same, kind)
    if kind is datetime.datetime:
        return _parsed(kind, _when)
    if kind in (datetime.date, datetime.time):
        return _parsed(kind, kind.fromisoformat)
    if kind is datetime.timedelta:
        return _parsed(kind, lambda value: datetime.timedelta(seconds=value))
    if kind in (uuid.UUID, decimal.Decimal):
        return _parsed(kind, kind)
    return _same


@functools.lru_cache(maxsize=1024)
def decoder(kind: Any) -> Decoder:
    """A function that makes a value of that annotation from JSON."""
    if kind in (None, type(None)):
        return _nothing
    if kind in (Any, object, inspect.Parameter.empty) or isinstance(kind, typing.TypeVar):
        return _same
    origin = typing.get_origin(kind)
    if origin is not None:
        return _generic(kind, origin)
    if hasattr(kind, "__supertype__"):  # a NewType
        return decoder(kind.__supertype__)
    return _class(kind) if isinstance(kind, type) else _same


def annotation(function: Callable[..., Any], name: str) -> Any:
    """Of a parameter, or of "return"; Any when there is none or it cannot be resolved."""
    try:
        return typing.get_type_hints(function).get(name, Any)
    except Exception:  # an annotation that only type checkers understand
        return Any
