"""`gpuetl.records.dataclass` makes what the standard library's makes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
from dataclasses import FrozenInstanceError, field
from pathlib import Path
from typing import Any

import pytest

from gpuetl import records

OPTIONS = [
    {},
    {"frozen": True},
    {"eq": False},
    {"frozen": True, "eq": False},
    {"frozen": True, "repr": False},
    {"kw_only": True},
    {"frozen": True, "eq": False, "kw_only": True},
]


def point(decorate: Any, **options: Any) -> Any:
    class Base:
        x: int
        tags: list[str] = field(default_factory=list)

    class Point(decorate(**options)(Base)):
        """A point with one field of each kind."""

        y: float = 2.0
        hidden: str = field(default="h", repr=False, compare=False)
        late: int = field(init=False)
        named: int = field(default=5, kw_only=True)
        same: int = field(default=7, init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "late", 10 * self.x)

    return decorate(**options)(Point)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_objects_behave_as_those_of_the_standard_library(options: dict[str, Any]):
    own, standard = point(records.dataclass, **options), point(dataclasses.dataclass, **options)
    assert str(inspect.signature(own)) == str(inspect.signature(standard))
    for named in ({"x": 1}, {"x": 1, "tags": ["a"], "y": 3.0, "hidden": "i", "named": 6}):
        ours, theirs = own(**named), standard(**named)
        assert vars(ours) == vars(theirs)
        if options.get("repr", True):
            assert repr(ours) == repr(theirs)
        assert (ours == own(**named)) is (theirs == standard(**named))
        assert (ours == own(x=2)) is (theirs == standard(x=2))
        assert (ours == own(**{**named, "hidden": "j"})) is (theirs == standard(**{**named, "hidden": "j"}))
        assert ours != theirs
        assert dataclasses.asdict(ours) == dataclasses.asdict(theirs)
        assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(theirs)]
        assert (own.__hash__ is None) is (standard.__hash__ is None)
        assert vars(copy.copy(ours)) == vars(theirs)
        with pytest.raises(ValueError, match="init=False"):
            dataclasses.replace(ours, late=1)
        assert vars(dataclasses.replace(ours, x=4)) == vars(dataclasses.replace(theirs, x=4))
    assert own.__match_args__ == standard.__match_args__
    assert own(x=1).tags is not own(x=1).tags


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("values", [(), (1, [], 2.0, "h", 3), (1, [], 2.0, "h", 3, 4)])
def test_wrong_arguments_are_refused_in_the_same_words(options: dict[str, Any], values: tuple[Any, ...]):
    messages = []
    for decorate in (records.dataclass, dataclasses.dataclass):
        with pytest.raises(TypeError) as error:
            point(decorate, **options)(*values)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_frozen_objects_cannot_be_changed():
    for decorate in (records.dataclass, dataclasses.dataclass):
        made = point(decorate, frozen=True)(1)
        for name in ("x", "other"):
            with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
                setattr(made, name, 3)
            with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
                delattr(made, name)
        assert made.x == 1


@records.dataclass(frozen=True)
class Pair:
    """Two values."""

    first: Any
    second: Any = None


@records.dataclass(frozen=True)
class Single:
    """One value."""

    value: Any


@records.dataclass
class Nothing:
    """No value."""


class Triple(Pair):
    """A class that is not decorated."""

    third: Any = 3


def test_equal_objects_have_equal_hashes():
    assert hash(Pair(1, "a")) == hash(Pair(1, "a")) == hash((1, "a"))
    assert hash(Single(1)) == hash((1,))
    assert len({Pair(1), Pair(1), Pair(2)}) == 2
    nan = float("nan")
    assert Single(nan) == Single(nan)  # as tuples, which compare the same object as equal
    assert Nothing() == Nothing()
    assert Pair(1) != Triple(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Nothing())


def test_objects_are_pickled_and_matched():
    assert pickle.loads(pickle.dumps(Pair(1, [2]))) == Pair(1, [2])
    match Pair(1, 2):
        case Pair(first, second):
            assert (first, second) == (1, 2)


def test_a_class_that_derives_keeps_the_first_one_s_init():
    made = Triple(1, 2)
    assert (made.first, made.second, made.third) == (1, 2, 3)
    assert repr(made) == "Triple(first=1, second=2)"
    assert str(inspect.signature(Triple)) == "(first: 'Any', second: 'Any' = None) -> None"


def test_an_object_that_holds_itself_is_shown():
    values: list[Any] = []
    values.append(Single(values))
    assert repr(values) == "[Single(value=[...])]"
    assert repr(Single(Single(1))) == "Single(value=Single(value=1))"


def test_own_methods_stay():
    @records.dataclass(frozen=True)
    class Own:
        value: int

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "own"

    assert Own(1) == Own(2)
    assert hash(Own(1)) == 7
    assert repr(Own(1)) == "own"


def test_no_module_takes_the_standard_library_s():
    """Each class of its costs a millisecond at the start of every command."""
    folder = Path(records.__file__).parent
    standard = re.compile(r"^from dataclasses import .*\bdataclass\b|^\s*@dataclasses\.dataclass", re.MULTILINE)
    modules = (path for path in sorted(folder.rglob("*.py")) if path != Path(records.__file__))
    assert [str(path) for path in modules if standard.search(path.read_text(encoding="utf-8"))] == []
