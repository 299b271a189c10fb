"""Calls an observer, such as a trace, at each statement of an engine: its text, never a value."""

from collections.abc import Mapping
from typing import Final, Protocol

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import ExceptionContext, ExecutionContext
from sqlalchemy.engine.interfaces import DBAPICursor

_STATEMENT: Final = "mudra.statement"
"""Of a connection: the statement that it runs. There is one at a time."""


class StatementWatch(Protocol):
    """Is called around each statement."""

    def statement_begun(self, statement: str) -> object:
        """Take the text; returns what the end is called with."""
        ...

    def statement_ended(self, begun: object, *, failed: bool) -> None:
        """Take the end of a statement."""
        ...


def watch_engine(engine: sa.Engine, watch: StatementWatch) -> None:
    """Have `watch` called around each statement of this engine from now on."""

    def begun(  # the shape that SQLAlchemy calls
        connection: sa.Connection,
        _cursor: DBAPICursor,
        statement: str,
        _values: Mapping[str, object],
        _context: ExecutionContext | None,
        _many: bool,  # its shape
    ) -> None:
        connection.info[_STATEMENT] = watch.statement_begun(statement)

    def ended(
        connection: sa.Connection,
        _cursor: DBAPICursor,
        _statement: str,
        _values: Mapping[str, object],
        _context: ExecutionContext | None,
        _many: bool,  # its shape
    ) -> None:
        _end(connection, failed=False)

    def failed(context: ExceptionContext) -> None:
        if context.connection is not None and context.statement is not None:
            _end(context.connection, failed=True)

    def _end(connection: sa.Connection, *, failed: bool) -> None:
        found = connection.info.pop(_STATEMENT, None)
        if found is not None:
            watch.statement_ended(found, failed=failed)

    event.listen(engine, "before_cursor_execute", begun)
    event.listen(engine, "after_cursor_execute", ended)
    event.listen(engine, "handle_error", failed)
