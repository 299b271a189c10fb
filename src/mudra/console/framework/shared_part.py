"""What pages make of the same figures for every reader is made once (decision 0155).

Rows of a table, sorted and labeled, and a part of a page that has nothing of its reader: neither
rights, names, zone nor the word of forms. The language of the page is part of each question.
"""

import asyncio
from collections.abc import Callable, Hashable
from typing import TypeVar

from mudra.console.framework.page_context import PageContext
from mudra.localization.language import current

T = TypeVar("T")


async def shared_part(
    page_context: PageContext, question: Hashable, made_of: object, make: Callable[[], T]
) -> T:
    """Return what `make` makes in a thread, or made for another reader of the same figures.

    `made_of` is all that the part is made of, but for what the question says.
    """

    async def apart() -> T:
        return await asyncio.to_thread(make)

    parts = page_context.dependencies.page_parts
    return await parts.get((question, current().tag), made_of, apart)
