"""The table of stored documents, a row each. Imports SQLAlchemy.

Each method is one statement in one transaction, so none waits for a lock with another in its hands.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Engine,
    MetaData,
    String,
    Table,
    Text,
    delete,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.dialects.mysql import LONGTEXT
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from ...calls.storage import Place

_TABLE = Table(
    "toolspan_storage",
    MetaData(),
    Column("id", String(64), primary_key=True),
    Column("owner", String(64), nullable=False, index=True),
    Column("user_name", Text, nullable=False),
    Column("conversation", Text, nullable=False),
    Column("tool", Text, nullable=False),
    Column("document", Text().with_variant(LONGTEXT(), "mysql", "mariadb"), nullable=False),
    Column("version", String(64), nullable=False),
    Column("size", BigInteger, nullable=False),
)
_COLUMNS = _TABLE.c


class Rows:
    """The rows, by their ``id``. Every method raises ``SQLAlchemyError``."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        try:
            _TABLE.create(engine, checkfirst=True)
        except SQLAlchemyError:  # perhaps another process has made it in this moment
            if not inspect(engine).has_table(_TABLE.name):
                raise

    def read(self, key: str) -> bytes | None:
        """The document; ``None`` when there is no such row."""
        with self.engine.connect() as connection:
            found = connection.execute(select(_COLUMNS.document).where(_COLUMNS.id == key)).scalar()
        return None if found is None else str(found).encode()

    def sizes(self, owner: str, key: str) -> tuple[int, int]:
        """How many bytes the other documents of ``owner`` count for, and how many this one does."""
        of_owner = select(func.coalesce(func.sum(_COLUMNS.size), 0)).where(_COLUMNS.owner == owner)
        with self.engine.connect() as connection:
            own = connection.execute(select(_COLUMNS.size).where(_COLUMNS.id == key)).scalar() or 0
            return int(connection.execute(of_owner).scalar_one()) - own, own

    def insert(self, key: str, owner: str, place: Place, values: Mapping[str, Any]) -> bool:
        """Add a row; returns whether there was none yet."""
        user, conversation, tool = (_readable(each) for each in place)
        names = {"user_name": user, "conversation": conversation, "tool": tool}
        try:
            with self.engine.begin() as connection:
                connection.execute(insert(_TABLE).values(id=key, owner=owner, **names, **values))
        except IntegrityError:
            return False
        return True

    def update(self, key: str, version: str, values: Mapping[str, Any]) -> bool:
        """Change the row; returns whether its version was ``version``."""
        which = (_COLUMNS.id == key) & (_COLUMNS.version == version)
        with self.engine.begin() as connection:
            return connection.execute(update(_TABLE).where(which).values(**values)).rowcount == 1

    def remove(self, key: str, version: str) -> bool:
        """Remove the row; returns whether its version was ``version``."""
        which = (_COLUMNS.id == key) & (_COLUMNS.version == version)
        with self.engine.begin() as connection:
            return connection.execute(delete(_TABLE).where(which)).rowcount == 1


def _readable(text: str) -> str:
    """``text`` for people, in characters that every database holds."""
    return text.encode("unicode_escape", "surrogatepass").decode("ascii")
