"""The steps of a pipeline as the config writes them, and what is wrong between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, Literal, cast

from ...common.did_you_mean import nearest
from ...problems import Fault, Faulty, Path
from ...schema.constraints import AfterValidator
from ...schema.records import (
    Record,
    key,
)
from ..conditions import Conditions
from ..templates import check_templates, path_of, references

MAX_STEPS = 50
MAX_CONCURRENCY = 16
_ID = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
_GIVEN = ("result", "error", "errors", "skipped")
_OF_AN_ITEM = ("item", "index")


def _list_or_template(value: Any) -> Any:
    if isinstance(value, str) and not references(value):
        raise Faulty(Fault((), "is a text and no template", "write a list, or such as '{{ input.cities }}'"))
    if not isinstance(value, str | list):
        raise Faulty(Fault((), "must be a list or a template that gives one"))
    return cast("Any", value)


class StepConfig(Record):
    """One step: a call of another tool, or one for each item of a list."""

    id: str = key("The name of the step: later templates refer to {{ steps.ID.result }}.", pattern=_ID)
    tool: str = key("The tool to call.", least=1, most=128)
    arguments: dict[str, Any] = key(
        "The tool's arguments: templates over input, steps and, with for_each, item and index.",
        check=check_templates,
        factory=dict[str, Any],
    )
    when: Conditions | None = key(
        "Conditions by path, such as steps.ID.result.count: {gt: 0}; the step is skipped unless all hold.",
        default=None,
    )
    for_each: Annotated[Any, AfterValidator(check_templates)] = key(
        "A list, or a template that yields one: the step calls its tool for each item.",
        check=_list_or_template,
        default=None,
    )
    concurrency: int = key(
        "How many of the calls of a for_each run at the same time.", least=1, most=MAX_CONCURRENCY, default=4
    )
    on_error: Literal["fail", "continue", "skip"] = key(
        "When a call fails: fail the pipeline; continue, with null as its result; or skip it, "
        "which leaves it out of a for_each's list of results.",
        default="fail",
    )


def check_steps(steps: Sequence[StepConfig], result: Any) -> None:
    """Raise ``Faulty`` when an id is there twice, or a template or condition names a step not before it."""
    faults = [*_count_faults(steps), *_twice(steps)]
    before: list[str] = []
    for index, step in enumerate(steps):
        faults += [
            Fault(("steps", index, *f.path), f.message, f.hint, f.on_key) for f in _step_faults(step, before)
        ]
        before.append(step.id)
    faults += _reference_faults(("result",), references(result), before)
    if faults:
        raise Faulty(*faults)


def _count_faults(steps: Sequence[StepConfig]) -> Iterator[Fault]:
    if len(steps) > MAX_STEPS:
        yield Fault(
            ("steps",), f"has {len(steps)} steps, the most is {MAX_STEPS}", "use for_each, or two tools"
        )


def _twice(steps: Sequence[StepConfig]) -> Iterator[Fault]:
    for index, step in enumerate(steps):
        if any(step.id == other.id for other in steps[:index]):
            yield Fault(("steps", index, "id"), f"there is another step {step.id!r}", "give it another id")


def _step_faults(step: StepConfig, before: Sequence[str]) -> Iterator[Fault]:
    for name, value in step.arguments.items():
        used = references(value)
        yield from _reference_faults(("arguments", name), used, before)
        if step.for_each is None and (lone := next((path for path in used if path[0] in _OF_AN_ITEM), None)):
            yield Fault(("arguments", name), f"{lone[0]!r} is only there with for_each", "add for_each")
    yield from _reference_faults(("for_each",), references(step.for_each), before)
    for written in step.when or {}:
        yield from _reference_faults(("when", written), [path_of(written)], before)


def _reference_faults(place: Path, used: Iterable[Path], before: Sequence[str]) -> Iterator[Fault]:
    for path in sorted(used, key=str):
        head, name, member = (*path[:3], None, None, None)[:3]
        if head != "steps" or name is None:
            continue
        if name not in before:
            yield Fault(place, f"there is no step {name!r} before", nearest(str(name), before))
        elif member is not None and member not in _GIVEN:
            yield Fault(place, f"a step has no {member!r}", nearest(str(member), _GIVEN))
