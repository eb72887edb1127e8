"""What a file format's options are: the keys of its sources and sinks, each with a form, a default and a line of docs.

    @dataclass(frozen=True)
    class CsvOptions(FormatOptions):
        delimiter: str = option(CHARACTER, ",", "the character between two fields")

A format names one such class for reading and one for writing (`formats/format.py`).  The pipeline language reads the
keys from YAML and Python, writes them back and documents them.  Readers get the object as `Dataset.options`, writers as
`Target.options`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar

from gpuetl.records import dataclass

T = TypeVar("T")
Plain = str | int | float | bool | None | Sequence["Plain"] | Mapping[str, "Plain"]
"""Data as YAML has it: a list is a tuple."""
JsonSchema = Mapping[str, Any]
"""What an editor checks and completes a value by."""


class BadOption(ValueError):
    """A value that an option does not take.

    `path` are the keys of maps and the numbers of list entries down to the part that is wrong.  `word` is a name that
    is none of `choices`, for a hint to the one that is meant.
    """

    def __init__(
        self, message: str, hint: str = "", path: Sequence[str | int] = (), choices: Sequence[str] = (), word: str = ""
    ) -> None:
        super().__init__(message)
        self.message, self.hint, self.path, self.choices, self.word = message, hint, tuple(path), choices, word


@dataclass(frozen=True)
class Form(Generic[T]):
    """How an option's value is read from plain data, and written back.

    `what` completes "takes …".  `read` raises `BadOption`.  `schema` is the JSON Schema of the value, if there is more
    to say than that it is any.
    """

    what: str
    read: Callable[[Plain], T]
    write: Callable[[T], Plain] = lambda value: value  # type: ignore[assignment,return-value]
    schema: JsonSchema | None = None


def option(form: Form[Any], default: Any, doc: str) -> Any:
    """Declare a field of `FormatOptions`; `doc` is one line without a full stop."""
    return dataclasses.field(default=default, metadata={"form": form, "key": "", "doc": doc})


@dataclass(frozen=True)
class FormatOptions:
    """The options of a source or sink, by default none.  Values are hashable."""

    @classmethod
    def of(cls, options: FormatOptions) -> Self:
        """Return options that are of this class; the defaults in place of others."""
        return options if isinstance(options, cls) else cls()

    @property
    def quarantines(self) -> bool:
        """Whether bad rows of the source become a relation of their own."""
        return getattr(self, "on_bad_row", "") == "quarantine"

    @property
    def changed(self) -> tuple[tuple[str, Any], ...]:
        """The options that are not at their default, with their values."""
        own = ((f.name, getattr(self, f.name), f.default) for f in dataclasses.fields(self))
        return tuple((name, value) for name, value, default in own if value != default)


NO_OPTIONS = FormatOptions()


def option_names(options: type[FormatOptions]) -> tuple[str, ...]:
    """Return the names of the options that a class declares."""
    return tuple(f.name for f in dataclasses.fields(options))


# Forms.


def kind_of(value: object) -> str:
    """Return what a user would call a value of YAML."""
    if isinstance(value, str):
        return "text"
    names = {dict: "a map", tuple: "a list", list: "a list", bool: "true or false", int: "a number", float: "a number"}
    return "nothing" if value is None else names.get(type(value), type(value).__name__)


def scalar(value: Plain, kind: type, what: str) -> Any:
    """Return a value of one of Python's plain types; a boolean is no number.

    Raises
    ------
    BadOption
        For any other value.
    """
    if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
        return value
    shown = f" '{value}'" if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
    raise BadOption(f"takes {what}, got {kind_of(value)}{shown}")


def choice(*names: str, null: str = "") -> Form[str]:
    """Return the form of a name that is one of `names`; YAML's null is the one that `null` names."""
    what = f"one of {', '.join(names)}"

    def read(value: Plain) -> str:
        if value is None and null:
            return null
        text = str(scalar(value, str, what))
        if text not in names:
            raise BadOption(f"takes {what}, got '{text}'", choices=names, word=text)
        return text

    return Form(what, read, schema={"enum": [*names, *([None] if null else [])]})


def read_strings(value: Plain) -> tuple[str, ...]:
    """Read a text, or a list of texts; empty ones count."""
    values = value if isinstance(value, list | tuple) else (value,)
    read: list[str] = []
    for number, item in enumerate(values):
        try:
            read.append(str(scalar(item, str, "a string")))
        except BadOption as error:
            path = (number,) if values is value else ()
            raise BadOption(error.message, error.hint, path) from None
    return tuple(read)


def one_or_list(values: tuple[str, ...]) -> Plain:
    """Write one text as it is, several as a list."""
    return values[0] if len(values) == 1 else list(values)


def read_character(value: Plain) -> str:
    """Read one character that is neither a quote nor the end of a line."""
    text = str(scalar(value, str, "one character"))
    if len(text) != 1 or text in '"\r\n':
        raise BadOption(f"takes one character, got {text!r}", 'Tabs are written "\\t".')
    return text


def whole_number(least: int = 0, most: int = 2**63 - 1) -> Form[int]:
    """Return the form of a whole number in a range."""

    def read(value: Plain) -> int:
        number = int(scalar(value, int, "a whole number"))
        if not least <= number <= most:
            span = f"from {least}" if most == 2**63 - 1 else f"from {least} to {most}"
            raise BadOption(f"takes a whole number {span}, got {number}")
        return number

    most_shown = {} if most == 2**63 - 1 else {"maximum": most}
    return Form("a whole number", read, schema={"type": "integer", "minimum": least, **most_shown})


BOOLEAN: Form[bool] = Form(
    "true or false", lambda value: bool(scalar(value, bool, "true or false")), schema={"type": "boolean"}
)
STRING: Form[str] = Form("a string", lambda value: str(scalar(value, str, "a string")), schema={"type": "string"})
ONE_OR_MORE: JsonSchema = {"type": ["string", "array"], "items": {"type": "string"}}
STRINGS: Form[tuple[str, ...]] = Form("a string or a list of strings", read_strings, one_or_list, ONE_OR_MORE)
CHARACTER: Form[str] = Form("one character", read_character, schema={"type": "string", "maxLength": 1})
COUNT = whole_number()
