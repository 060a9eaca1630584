"""The annotation of a record's key is what its values are held to."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import pytest
from pydantic import BaseModel
from pydantic_core import ValidationError
from typing_extensions import override

from toolspan_server.schema.constraints import (
    AfterValidator,
    BeforeValidator,
    Limits,
    OneOf,
    PlainValidator,
    ReadAs,
    WithoutVariable,
)
from toolspan_server.schema.interpolation import FromVariable
from toolspan_server.schema.records import NamedRecords, Record, key

if TYPE_CHECKING:
    from decimal import Decimal

pytestmark = pytest.mark.requirement("I10.2.9")


class Point(Record):
    x: int = key(default=0)


class Model(BaseModel):
    size: int


def _upper(value: str) -> str:
    if not value.isalpha():
        raise ValueError("is no word")
    return value.upper()


Word = Annotated[str, AfterValidator(_upper)]
Color = Literal["red", "blue"]


class Everything(Record):
    text: str = key(default="")
    integer: int = key(default=0)
    number: float = key(default=0.0)
    flag: bool = key(default=False)
    anything: Any = key(default=None)
    color: Color = key(default="red")
    either: Literal["a", 1] = key(default="a")
    perhaps: int | None = key(default=None)
    optional: Optional[str] = key(default=None)  # noqa: UP045  # the older spelling is understood too
    texts: tuple[str, ...] = key(default=())
    by_name: dict[str, tuple[int, ...]] = key(factory=dict)
    point: Point = key(factory=Point.initial)
    points: tuple[Point, ...] | None = key(default=None)
    model: Model | None = key(default=None)
    word: Word | None = key(default=None)
    words: dict[Annotated[str, Limits(pattern="^[a-z]$")], Annotated[Word, Limits(least=2)]] = key(
        factory=dict
    )
    short: Annotated[str, Limits(most=3)] = key(default="")
    one: Annotated[str, OneOf(("x", "y"))] = key(default="x")
    exact: Annotated[int, WithoutVariable()] = key(default=0)
    lenient: Annotated[float, WithoutVariable(strict=False)] = key(default=0.0)
    doubled: Annotated[int, BeforeValidator(lambda data, info: data * 2)] = key(default=0)
    made: Annotated[Point, PlainValidator(lambda data, info: Point(x=data))] = key(factory=Point.initial)
    read: Annotated[Any, ReadAs(dict[str, int] | None)] = key(default=None)


def _fault(record: type[Record], /, **data: Any) -> str:
    with pytest.raises(ValidationError) as caught:
        record.model_validate(data)
    assert len(caught.value.errors()) == 1
    return caught.value.errors()[0]["type"]


ACCEPTED: list[tuple[str, Any, Any]] = [
    ("text", "a", "a"),
    ("integer", 7, 7),
    ("number", 7, 7.0),
    ("number", 0.5, 0.5),
    ("flag", True, True),
    ("anything", [{}], [{}]),
    ("color", "blue", "blue"),
    ("either", 1, 1),
    ("perhaps", None, None),
    ("perhaps", 3, 3),
    ("optional", "x", "x"),
    ("texts", ["a", "b"], ("a", "b")),
    ("by_name", {"a": [1]}, {"a": (1,)}),
    ("point", {"x": 2}, Point(x=2)),
    ("points", [{}], (Point(),)),
    ("model", {"size": 4}, Model(size=4)),
    ("word", "hey", "HEY"),
    ("word", None, None),
    ("words", {"a": "hey"}, {"a": "HEY"}),
    ("short", "abc", "abc"),
    ("one", "y", "y"),
    ("exact", 5, 5),
    ("lenient", "1.5", 1.5),
    ("doubled", 4, 8),
    ("made", 9, Point(x=9)),
    ("read", {"a": 1}, {"a": 1}),
    ("read", None, None),
]


@pytest.mark.parametrize(("name", "data", "value"), ACCEPTED)
def test_data_of_the_annotated_type_is_taken(name: str, data: Any, value: Any) -> None:
    assert getattr(Everything.model_validate({name: data}), name) == value


REFUSED: list[tuple[str, Any, str]] = [
    ("text", 5, "string_type"),
    ("text", None, "string_type"),
    ("integer", "7", "int_type"),
    ("integer", True, "int_type"),
    ("number", "7", "float_type"),
    ("number", float("nan"), "finite_number"),
    ("flag", 1, "bool_type"),
    ("color", "green", "literal_error"),
    ("perhaps", "x", "int_type"),
    ("texts", "ab", "tuple_type"),
    ("texts", [1], "string_type"),
    ("by_name", {"a": ["x"]}, "int_type"),
    ("point", {"y": 2}, "extra_forbidden"),
    ("points", [7], "model_type"),
    ("model", {"size": "big"}, "int_parsing"),
    ("word", "a1", "value_error"),
    ("words", {"a": "h"}, "string_too_short"),
    ("words", {"A": "hey"}, "string_pattern_mismatch"),
    ("short", "abcd", "string_too_long"),
    ("one", "z", "literal_error"),
    ("exact", "5", "int_type"),
    ("lenient", "much", "float_parsing"),
    ("read", {"a": "x"}, "int_type"),
]


@pytest.mark.parametrize(("name", "data", "error"), REFUSED)
def test_data_of_another_type_is_refused(name: str, data: Any, error: str) -> None:
    assert _fault(Everything, **{name: data}) == error


def test_every_key_of_the_example_is_tried() -> None:
    assert {name for name, *_ in ACCEPTED} == set(Everything.model_fields)


class Limited(Record):
    size: int = key(default=5, least=1, most=9)
    share: float | None = key(default=None, above=0, most=1)
    name: str | None = key(default=None, least=2, most=4, pattern="^[a-z]+$")
    names: tuple[str, ...] = key(default=("a",), least=1)
    word: str | None = key(default=None, least=2, check=_upper)


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("size", 0, "greater_than_equal"),
        ("size", 10, "less_than_equal"),
        ("share", 0, "greater_than"),
        ("share", 1.1, "less_than_equal"),
        ("name", "a", "string_too_short"),
        ("name", "abcde", "string_too_long"),
        ("name", "AB", "string_pattern_mismatch"),
        ("names", [], "too_short"),
        ("word", "a1", "value_error"),
        ("word", "a", "string_too_short"),
    ],
)
def test_a_key_narrows_what_its_annotation_says(name: str, data: Any, error: str) -> None:
    assert _fault(Limited, **{name: data}) == error


def test_null_is_within_every_limit_and_no_check_sees_it() -> None:
    limited = Limited(share=None, name=None, word=None)
    assert (limited.share, limited.name, limited.word) == (None, None, None)
    assert Limited(size=9, share=1, name="abcd", word="ab").word == "AB"


@pytest.mark.parametrize("name", ["integer", "number", "flag"])
def test_a_variable_may_stand_for_a_number_or_boolean(name: str) -> None:
    spelled = FromVariable("true" if name == "flag" else "7")
    assert getattr(Everything.model_validate({name: spelled}), name) == (True if name == "flag" else 7)
    assert _fault(Everything, exact=FromVariable("7")) == "int_type"
    assert Limited(size=FromVariable("9")).size == 9
    assert _fault(Limited, size=FromVariable("10")) == "less_than_equal"


class Fleet(NamedRecords):
    root: dict[Annotated[str, Limits(pattern="^[a-z]$")], Point]


def test_the_values_of_named_records_are_what_root_says() -> None:
    assert Fleet.model_validate({"a": {"x": 1}}).root == {"a": Point(x=1)}
    with pytest.raises(ValidationError, match="match pattern"):
        Fleet.model_validate({"A": {}})


def test_a_subclass_reads_the_keys_of_its_base_as_that_annotates_them() -> None:
    class Spot(Point):
        label: str = key(least=1)

        @override
        def check(self) -> None:
            if self.x < 0:
                raise ValueError("is left of all")

    assert Spot(label="a", x=3).model_dump() == {"x": 3, "label": "a"}
    assert _fault(Spot, label="a", x=-1) == "value_error"
    assert Point(x=-1).x == -1


class _List(Record):
    values: list[str] = key()


class _Unimported(Record):
    price: Decimal = key()


class _Senseless(Record):
    flag: bool = key(least=1)


class _Unknown(Record):
    size: Annotated[int, "in inches"] = key()


class _Itself(Record):
    inner: _Itself | None = key(default=None)


@pytest.mark.parametrize(
    ("record", "told"),
    [
        (_List, "_List.values: no data is read as list[str]"),
        (_Unimported, "_Unimported.price: name 'Decimal' is not defined: import it for more than"),
        (_Senseless, "_Senseless.flag: least means nothing for bool"),
        (_Unknown, "_Unknown.size: 'in inches' is no constraint"),
        (_Itself, "_Itself holds itself"),
    ],
)
def test_an_annotation_that_says_no_data_is_an_error_with_its_class_and_key(
    record: type[Record], told: str
) -> None:
    with pytest.raises(TypeError) as raised:
        record.model_validate({})
    assert told in str(raised.value)


def test_a_key_says_nothing_of_the_type_that_its_annotation_says() -> None:
    parameters = signature(key).parameters.values()
    limits = {"least", "most", "above", "pattern", "check"}
    assert {each.name for each in parameters} - limits == {
        "description",
        "default",
        "factory",
        "spellings",
        "hidden",
        "served",
        "inert",
    }


def test_a_key_without_an_annotation_is_an_error_of_its_class() -> None:
    with pytest.raises(TypeError, match=r"Bare\.size has no annotation"):

        class Bare(Record):  # pyright: ignore[reportUnusedClass]  # its definition is what fails
            size = key()


def test_nothing_is_derived_before_a_record_is_used() -> None:
    class Late(Record):
        size: NotYet = key(default=1)  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    assert Late.initial().model_fields_set == set()
    assert Late.model_fields["size"].default == 1
    with pytest.raises(TypeError, match="NotYet"):
        Late()
