"""``sql_query``: one statement on a database of ``services.databases``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import override

from ...calls.context import Context
from ...common.did_you_mean import nearest
from ...common.tool_hints import READS, Hints
from ...engines.databases._database import Statement
from ...engines.databases._statement import fault_of, first_word, parameters_of, split_lists
from ...engines.parameters import known_parameters
from ...engines.registration import handler
from ...problems import Fault, Faulty
from ...schema.records import Record, key

if TYPE_CHECKING:
    from ..services._databases import Databases

MOST_ROWS = 10_000


class Options(Record):
    """The ``options`` of ``sql_query``."""

    database: str = key("Name of the database in services.databases.", least=1)
    statement: str = key(
        "One SQL statement; :name is the argument of that name, always as a bound parameter. A list "
        "expands to its values, as in id IN :ids.",
        least=1,
        most=20_000,
    )
    read_only: bool = key("Whether the statement may only read; the database enforces it.", default=True)
    max_rows: int = key(
        "Most rows of a result; truncated is true when there are more.", least=1, most=MOST_ROWS, default=100
    )
    timeout_ms: int = key(
        "Longest time for the statement, in milliseconds.", least=1, most=3_600_000, default=10_000
    )

    @override
    def check(self) -> None:
        """It is one statement, and a query when it may change nothing."""
        fault = fault_of(self.statement, read_only=self.read_only)
        if fault is not None:
            raise Faulty(Fault(("statement",), *fault))


def _misfits(options: Options, parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _unbound(options, parameters)
    given = parameters.get("properties")
    schemas: Mapping[str, Any] = cast("Mapping[str, Any]", given) if isinstance(given, Mapping) else {}
    listed, single = split_lists(options.statement)
    for name in listed:
        if _type(schemas.get(name)) not in (None, "array"):
            yield "statement", f"IN :{name} takes a list, but the parameter is no array (give it type: array)"
    for name in single:
        if name not in listed and _type(schemas.get(name)) == "array":
            yield "statement", f"a list stands only after IN, as in IN :{name}, but the parameter is an array"


def _type(schema: Any) -> str | None:
    """The one type that ``schema`` allows; ``None`` where it has none or several."""
    name = cast("Mapping[str, Any]", schema).get("type") if isinstance(schema, Mapping) else None
    return name if isinstance(name, str) else None


def _unbound(options: Options, parameters: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = known_parameters(parameters)
    if known is None:
        return
    for name in parameters_of(options.statement):
        if name not in known:
            hint = nearest(name, known) if known else "add it to parameters"
            yield "statement", f"the tool has no parameter {name!r} for :{name} ({hint})"


def _database(options: Options) -> str:
    return f"database {options.database!r}"


def _references(written: Mapping[str, Any]) -> Iterator[tuple[str, str, object]]:
    yield "database", "databases", written.get("database")


def _hints(options: Options) -> Hints:
    if options.read_only:
        return READS
    adds = first_word(options.statement) == "INSERT"  # what else it does, triggers and clauses decide
    return {"read_only": False} if adds else {"read_only": False, "destructive": True}


@handler(
    "sql_query",
    kind="internal",
    options=Options,
    misfits=_misfits,
    target=_database,
    references=_references,
    hints=_hints,
)
def sql_query(arguments: dict[str, Any], context: Context) -> dict[str, Any]:
    """The arguments are the values of the statement's ``:name`` parameters; what is absent is null.

    ``{"rows": [{column: value}], "row_count", "truncated"}``; of a statement that gives no rows,
    ``{"rows_affected"}``.
    """
    options: Options = context.options
    databases: Databases = context.service("databases")
    statement = Statement(options.statement, options.read_only, options.max_rows, options.timeout_ms)
    return databases.get(options.database).run(statement, arguments, context.cancelled.is_set)
