"""`dataclass` as the standard library's, for classes that are cheap to define.

The standard library generates and compiles the text of up to six methods for each class.  That takes a millisecond a
class, and 0.27 s for the classes that a run imports.  Here only `__init__` is compiled, when the first object is made.
The other methods are closures over the names of the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from inspect import Signature, signature
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        cls: type | None = None,
        /,
        *,
        eq: bool = True,
        frozen: bool = False,
        repr: bool = True,  # noqa: A002  named as in the standard library
        kw_only: bool = False,
    ) -> Any:
        """Make a class a dataclass, as `dataclasses.dataclass` does with these arguments.

        `fields`, `replace`, `asdict` and class patterns work as usual.  A class that derives from such a one is to be
        decorated by this, too.
        """

        def decorate(cls: type) -> type:
            return defined(cls, eq, frozen, repr, kw_only)

        return decorate if cls is None else decorate(cls)


def defined(cls: type, eq: bool, frozen: bool, has_repr: bool, kw_only: bool) -> type:
    """Add fields and methods to a class; methods that it defines itself stay."""
    own = set(vars(cls))
    if not cls.__doc__:
        cls.__doc__ = cls.__name__  # or the standard library would write the signature of `__init__`
    dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    found = dataclasses.fields(cls)
    methods: dict[str, Any] = {}
    methods["__init__"] = late_init(cls, frozen)
    if has_repr:
        methods["__repr__"] = repr_of(tuple(f.name for f in found if f.repr))
    if eq:
        methods["__eq__"] = eq_of(values_of(tuple(f.name for f in found if f.compare)))
        hashed = values_of(tuple(f.name for f in found if (f.compare if f.hash is None else f.hash)))
        methods["__hash__"] = hash_of(hashed) if frozen else None
    if frozen:
        methods.update(frozen_methods(cls, frozenset(f.name for f in found)))
    has_own_hash = "__hash__" in own and not (vars(cls)["__hash__"] is None and "__eq__" in own)
    for name, method in methods.items():
        if name not in own or (name == "__hash__" and not has_own_hash):
            if method is not None:
                method.__qualname__ = f"{cls.__qualname__}.{name}"
            setattr(cls, name, method)
    if "__init__" not in own and "__signature__" not in own:
        cls.__signature__ = LateSignature(cls, frozen)  # type: ignore[attr-defined]
    return cls


class FactoryDefault:
    """Stands for the default of a field that is made for each object."""

    def __repr__(self) -> str:
        return "<factory>"


def late_init(cls: Any, frozen: bool) -> Callable[..., None]:
    """Return an `__init__` that puts the real one in its place when it is first called."""

    def __init__(self: Any, /, *values: Any, **named: Any) -> None:  # noqa: N807
        cls.__init__ = real = compiled_init(cls, frozen)
        real(self, *values, **named)

    return __init__


class LateSignature:
    """The signature of a class, for help and editors, which would see the late `__init__`."""

    def __init__(self, cls: type, frozen: bool) -> None:
        self.cls, self.frozen = cls, frozen

    def __get__(self, instance: object, owner: type) -> Signature:
        """Return the signature of the class itself; a class that derives from it has its own."""
        if instance is not None or owner is not self.cls:
            raise AttributeError("__signature__")
        found = signature(compiled_init(self.cls, self.frozen))
        return found.replace(parameters=list(found.parameters.values())[1:])


def compiled_init(cls: Any, frozen: bool) -> Callable[..., None]:
    """Compile the `__init__` of a class: it takes the fields in order, those of `kw_only` by name alone."""
    known: dict[str, Any] = {"_MADE": FactoryDefault(), "_set": object.__setattr__}
    places: list[str] = []
    named: list[str] = []
    lines: list[str] = []
    types: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        if field.default_factory is not MISSING:
            known[f"_make_{name}"] = field.default_factory
            made = f"_make_{name}()"
            value = f"{made} if {name} is _MADE else {name}" if field.init else made
        elif not field.init:
            continue  # the default, if there is one, is an attribute of the class
        if field.init:
            types[name] = field.type
            default = ""
            if field.default is not MISSING:
                known[f"_default_{name}"] = field.default
                default = f"=_default_{name}"
            elif field.default_factory is not MISSING:
                default = "=_MADE"
            (named if field.kw_only else places).append(name + default)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *places, *(["*", *named] if named else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), known)
    init: Callable[..., None] = known["__init__"]
    init.__annotations__ = {**types, "return": None}
    init.__qualname__, init.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
    return init


def values_of(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    """Return what reads attributes of an object as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda record: tuple(getattr(record, name) for name in names)


def repr_of(names: tuple[str, ...]) -> Callable[[Any], str]:
    """Return a method `__repr__`."""

    @recursive_repr()
    def __repr__(self: Any) -> str:  # noqa: N807
        values = list[str]()
        for name in names:  # no generator, whose frames would be a third of those of nested objects
            values.append(f"{name}={getattr(self, name)!r}")
        return f"{type(self).__qualname__}({', '.join(values)})"

    return __repr__


def eq_of(values: Callable[[object], tuple[Any, ...]]) -> Callable[[Any, object], bool]:
    """Return a method `__eq__`: equal are objects of one class with equal values."""

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def hash_of(values: Callable[[object], tuple[Any, ...]]) -> Callable[[Any], int]:
    """Return a method `__hash__`."""

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return __hash__


def frozen_methods(cls: Any, names: frozenset[str]) -> dict[str, Callable[..., None]]:
    """Return the methods that refuse to change an object's fields."""

    def __setattr__(self: Any, name: str, value: object) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def __delattr__(self: Any, name: str) -> None:  # noqa: N807
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    return {"__setattr__": __setattr__, "__delattr__": __delattr__}
