"""The parts of pages that are the same for every reader, made once (decision 0137).

That is a part of a page, such as a table, which has nothing of its reader: neither rights, name,
zone nor the token of forms. The language of the page is part of each question.
"""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from markupsafe import Markup

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download
from mudra.console.framework.render import part
from mudra.console.framework.table import Table
from mudra.localization.language import current

R = TypeVar("R")
T = TypeVar("T")


async def shared_part(
    page_context: PageContext,
    question: Hashable,
    made_of: object,
    make: Callable[[], T],
    *,
    large: bool,
) -> T:
    """Return what `make` makes in a thread, or made for another reader of the same figures.

    `made_of` is all that the part is made of, but for what the question says. It is kept as long
    as the part is: `large` where it has all FIPs.
    """

    async def apart() -> T:
        return await asyncio.to_thread(make)

    parts = page_context.dependencies.page_parts
    return await parts.get((question, current().tag), made_of, apart, large=large)


async def shared_table(
    page_context: PageContext,
    question: Hashable,
    made_of: object,
    table: Table[R],
    rows: Callable[[], Sequence[R]],
    *empty: str,
    large: bool,
) -> Markup | Download:
    """Return a table without times as the page shows it, or the file that is asked for.

    `empty` is what is shown without rows; see `shared_part` for the others.
    """
    query = page_context.query
    if table.is_exported(query):
        file = await asyncio.to_thread(lambda: table.export(rows(), query))
        assert file is not None  # it is asked for
        return file

    def drawn() -> Markup:
        return part("shared_table.html", {"view": table.view(rows(), query), "empty": empty})

    asked = (question, tuple(sorted(query.items())))
    return await shared_part(page_context, asked, made_of, drawn, large=large)
