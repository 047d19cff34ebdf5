"""Frozen values behave as frozen dataclasses with slots do."""

import copy
import inspect
import pickle
import subprocess
import sys
from dataclasses import KW_ONLY, FrozenInstanceError, InitVar, asdict, dataclass, field, fields, replace
from threading import Barrier, Thread

import pytest

from claude_mem_lite.values import frozen


@frozen
class Place:
    """Value with every form of a field."""

    name: str
    line: int = 1
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False)
    key: str = field(default="", repr=False)


@frozen
class Wider(Place):
    column: int = 0


@frozen
class Nothing:
    """Value without fields."""


@frozen
class Checked:
    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("negative")


@dataclass(frozen=True, slots=True)
class Standard:
    name: str
    line: int = 1
    tags: list[str] = field(default_factory=list)


def test_arguments_are_taken_as_a_dataclass_takes_them() -> None:
    assert (Place("a").name, Place("a").line, Place("a").tags) == ("a", 1, [])
    assert Place("a", 2, tags=["x"]) == Place(name="a", line=2, tags=["x"])
    assert asdict(Place("a", 2, ["x"], "n", "k")) == {"name": "a", "line": 2, "tags": ["x"], "note": "n", "key": "k"}
    assert Place("a").tags is not Place("a").tags
    assert [each.name for each in fields(Place)] == ["name", "line", "tags", "note", "key"]


@pytest.mark.parametrize("arguments", [{}, {"name": "a", "colour": "red"}])
def test_wrong_arguments_are_refused_as_a_dataclass_refuses_them(arguments: dict[str, str]) -> None:
    messages = []
    for cls in (Place, Standard):
        with pytest.raises(TypeError) as refused:
            cls(**arguments)  # type: ignore[arg-type]
        messages.append(str(refused.value).replace(cls.__name__, "CLASS"))
    assert messages[0] == messages[1]


def test_a_value_cannot_be_changed() -> None:
    place = Place("a")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
        place.name = "b"  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
        del place.name
    with pytest.raises(FrozenInstanceError):
        place.other = 1  # type: ignore[attr-defined]
    assert not hasattr(place, "__dict__")


def test_values_are_equal_by_their_compared_fields_and_their_class() -> None:
    assert Place("a", note="x") == Place("a", note="y")
    assert Place("a") != Place("b")
    assert Place("a") != Wider("a")
    assert Place("a").__eq__("a") is NotImplemented
    assert Nothing() == Nothing()


def test_equal_values_have_equal_hashes() -> None:
    assert len({Checked(1), Checked(1), Checked(2)}) == 2
    assert hash(Nothing()) == hash(Nothing())


def test_the_text_of_a_value_leaves_hidden_fields_out() -> None:
    assert repr(Place("a", key="secret")) == "Place(name='a', line=1, tags=[], note='')"


@pytest.mark.parametrize("value", [Place("a", 2, ["x"], "note", "key"), Wider("a", column=3), Nothing()])
def test_a_value_can_be_copied_and_pickled(value: object) -> None:
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert other == value
        assert repr(other) == repr(value)
    assert [getattr(copy.copy(value), each.name) for each in fields(value)] == [  # type: ignore[arg-type]
        getattr(value, each.name)
        for each in fields(value)  # type: ignore[arg-type]
    ]


def test_a_subclass_has_the_fields_of_both() -> None:
    wider = Wider("a", column=4)
    assert (wider.name, wider.column) == ("a", 4)
    assert asdict(replace(wider, line=3)) == {"name": "a", "line": 3, "tags": [], "note": "", "key": "", "column": 4}


def test_a_value_may_check_itself() -> None:
    assert replace(Checked(1), number=2).number == 2
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)


def test_values_match_by_position() -> None:
    match Place("a", 7):
        case Place(name, line):
            assert (name, line) == ("a", 7)


def test_the_first_instance_may_be_made_by_several_threads() -> None:
    @frozen
    class Fresh:
        number: int

    together, made = Barrier(4), []

    def make() -> None:
        together.wait()
        made.append(Fresh(3))

    threads = [Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [Fresh(3)] * 4


class _KeywordOnly:
    name: str
    _: KW_ONLY
    line: int = 1


class _KeywordField:
    line: int = field(default=1, kw_only=True)


class _NoParameter:
    line: int = field(default=1, init=False)


class _FieldNotHashed:
    line: int = field(default=1, hash=False)


class _FieldHashedAlone:
    line: int = field(default=1, compare=False, hash=True)


class _OnlyForInit:
    line: InitVar[int]


class _OwnEquality:
    line: int

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class _OwnHash:
    line: int

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize(
    "cls",
    [
        _KeywordOnly,
        _KeywordField,
        _NoParameter,
        _FieldNotHashed,
        _FieldHashedAlone,
        _OnlyForInit,
        _OwnEquality,
        _OwnHash,
    ],
)
def test_a_class_that_needs_more_than_shared_methods_is_refused(cls: type) -> None:
    with pytest.raises(TypeError, match=cls.__name__):
        frozen(cls)


def test_nothing_is_compiled_before_the_first_instance() -> None:
    program = (
        "import builtins; from claude_mem_lite.values import frozen\n"
        "compiled, run = [], builtins.exec\n"
        "builtins.exec = lambda text, *more: (compiled.append(text), run(text, *more))\n"
        "@frozen\nclass One:\n  a: int\n"
        "before = len(compiled); One(1); One(2); print(before, len(compiled))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["0", "1"]


def test_the_compiled_parameters_are_those_of_the_fields() -> None:
    Place("a")
    assert list(inspect.signature(Place).parameters) == ["name", "line", "tags", "note", "key"]
