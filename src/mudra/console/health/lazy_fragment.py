"""A part of a page that comes after its words (decision 0066).

A page says in words how things stand and is painted; htmx then asks the same address for the
part. Without htmx, or when the address asks for the table in it, it is in the page itself.
"""

from collections.abc import Mapping

from msgspec import Struct

from mudra.console.framework.static_assets import ASSETS


class LazyFragment(Struct, frozen=True):
    """A part by its member of the query: `part` gives it alone, anything else has it in the page.

    `shown` is asked for by the link next to a part that did not come, and by a page that renews
    itself.
    """

    word: str
    table: str
    """The table in it: an address that sorts, filters, pages or exports it wants the part."""

    def comes_later(self, query: Mapping[str, str]) -> bool:
        """Tell whether the page leaves this part to a request of its own."""
        asked = self.word in query or query.get("export") == self.table or self.sorted_by(query)
        return not asked and bool(ASSETS.address("built/htmx.min.js"))

    def is_part(self, query: Mapping[str, str]) -> bool:
        """Tell whether this part alone is asked for."""
        return query.get(self.word) == "part"

    def is_opened(self, query: Mapping[str, str]) -> bool:
        """Tell whether the reader has asked to see its table."""
        return self.sorted_by(query) or query.get(self.word) == "shown"

    def sorted_by(self, query: Mapping[str, str]) -> bool:
        """Tell whether the address sorts, filters or pages its table."""
        return any(name.startswith(f"{self.table}.") for name in query)

    def table_query(self, query: Mapping[str, str]) -> Mapping[str, str]:
        """The query that links of its table keep: of the page, never of the part alone."""
        return {name: value for name, value in query.items() if name != self.word}
