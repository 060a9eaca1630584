"""Records: data held to a declared shape, and frozen."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel
from pydantic_core import ValidationError
from typing_extensions import override

from toolspan_server.schema.constraints import BeforeValidator, Limits
from toolspan_server.schema.records import NamedRecords, Record, is_same, key


class Wheel(Record):
    size: int = key("In inches.", least=1)
    tags: tuple[Annotated[str, Limits(least=1)], ...] = key(default=())


class Car(Record):
    name: str = key(pattern="^[a-z]+$", spellings=["carName", "car_name"])
    fuel: Literal["oil", "none"] | None = key(default=None)
    wheels: dict[str, Wheel] = key(factory=dict)
    secret: Any = key(default="", hidden=True)

    @override
    def check(self) -> None:
        if self.fuel == "oil" and not self.wheels:
            raise ValueError("burns oil and goes nowhere")


class Fleet(NamedRecords):
    root: dict[Annotated[str, Limits(pattern="^[a-z]$")], Wheel]


class Loose(Record, unknown="ignore"):
    a: Annotated[int, BeforeValidator(lambda value, info: info.context or value)] = key(default=0)


def faults(model: type[Record], data: Any) -> list[tuple[tuple[int | str, ...], str]]:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(data)
    return [(error["loc"], error["type"]) for error in caught.value.errors()]


def test_data_becomes_a_record_with_the_defaults_of_what_is_absent() -> None:
    car = Car.model_validate({"carName": "a", "wheels": {"left": {"size": 16, "tags": ["x"]}}})
    assert (car.name, car.fuel, car.secret) == ("a", None, "")
    assert car.wheels["left"].tags == ("x",)
    assert car.model_fields_set == {"name", "wheels"}
    assert car.model_dump()["wheels"] == {"left": {"size": 16, "tags": ("x",)}}


def test_every_fault_is_told_with_its_place() -> None:
    assert faults(Car, {"wheels": {"l": {"size": 0, "tags": [""]}}, "nmae": 1}) == [
        (("carName",), "missing"),
        (("wheels", "l", "size"), "greater_than_equal"),
        (("wheels", "l", "tags", 0), "string_too_short"),
        (("nmae",), "extra_forbidden"),
    ]
    assert faults(Car, []) == [((), "model_type")]
    assert faults(Car, {"car_name": "A", "fuel": "gas"}) == [
        (("car_name",), "string_pattern_mismatch"),
        (("fuel",), "literal_error"),
    ]


def test_the_whole_is_checked_when_its_parts_are_right() -> None:
    with pytest.raises(ValidationError, match="burns oil and goes nowhere"):
        Car(name="a", fuel="oil")


def test_a_key_has_its_own_name_and_every_other_spelling() -> None:
    assert {Car(**{name: "a"}).name for name in ("name", "carName", "car_name")} == {"a"}


def test_a_record_cannot_be_changed_but_copied_with_changes() -> None:
    wheel = Wheel(size=16)
    with pytest.raises(ValidationError, match="frozen"):
        wheel.size = 17
    other = wheel.model_copy(update={"size": 17})
    assert (wheel.size, other.size, other.model_fields_set) == (16, 17, {"size"})


def test_records_are_equal_by_their_values_and_hash_alike() -> None:
    assert Wheel(size=16) == Wheel(size=16, tags=[]) != Wheel(size=17)
    assert hash(Wheel(size=16)) == hash(Wheel(size=16))
    assert Wheel(size=16) != Loose()


def test_a_hidden_value_is_not_shown() -> None:
    car = Car(name="a", secret="hush")
    assert repr(car) == "Car(name='a', fuel=None, wheels={})"
    assert car.secret == "hush"


def test_an_object_of_any_names_is_one_record() -> None:
    fleet = Fleet.model_validate({"a": {"size": 3}})
    assert fleet.root["a"].size == 3
    assert fleet.model_dump() == {"a": {"size": 3, "tags": ()}}
    assert faults(Fleet, {"A": {"size": 3}}) == [(("A", "[key]"), "string_pattern_mismatch")]


@pytest.mark.requirement("I15.4.42")
def test_objects_of_any_names_are_the_same_only_if_their_entries_are() -> None:
    one, same = Fleet.model_validate({"a": {"size": 1}}), Fleet.model_validate({"a": {"size": 1}})
    assert is_same(one, same) and hash(one) == hash(same)
    for other in ({"a": {"size": 2}}, {"b": {"size": 1}}, {"a": {"size": 1}, "b": {"size": 1}}, {}):
        assert not is_same(one, Fleet.model_validate(other))


def test_unknown_keys_can_be_ignored_and_the_context_reaches_every_part() -> None:
    assert Loose.model_validate({"a": 1, "b": 2}).model_dump() == {"a": 1}
    assert Loose.model_validate({"a": 1}, context=7).a == 7


def test_a_record_of_nothing_has_every_initial_value() -> None:
    assert Loose.initial() == Loose() and Loose.initial().model_fields_set == set()


def test_a_subclass_has_the_keys_of_its_base() -> None:
    class Spare(Wheel):
        flat: bool = key(default=False)

    assert list(Spare.model_fields) == ["size", "tags", "flat"]
    assert Spare(size=9).model_dump() == {"size": 9, "tags": (), "flat": False}


def test_a_check_may_change_the_value() -> None:
    class Loud(Record):
        said: str = key(check=str.upper)

    assert Loud(said="hey").said == "HEY"


def test_the_error_is_the_one_that_pydantic_raises() -> None:
    class Model(BaseModel):
        size: int

    for made in (Model.model_validate, Wheel.model_validate):
        with pytest.raises(ValidationError):
            made({"size": "x"})
