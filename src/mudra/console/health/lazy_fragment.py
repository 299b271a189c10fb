"""Parts of a page that load after its text (decision 0067).

A page renders its text first; htmx then requests the part from the same address.
Without htmx, or when the query concerns its table, the part is in the page itself.
"""

from collections.abc import Mapping

from msgspec import Struct

from mudra.console.framework.static_assets import ASSETS


class LazyFragment(Struct, frozen=True):
    """A part by its query parameter: `part` requests it alone, any other value within the page.

    The value `shown` is in the link next to a part that did not load, and in the requests of a
    page that refreshes itself.
    """

    parameter: str
    table: str
    """The table in it: a query that sorts, filters, pages or exports it includes the part."""

    def comes_later(self, query: Mapping[str, str]) -> bool:
        """Returns whether the page leaves this part to a separate request."""
        wanted = (
            self.parameter in query or query.get("export") == self.table or self.sorted_by(query)
        )
        return not wanted and bool(ASSETS.address("built/htmx.min.js"))

    def is_part(self, query: Mapping[str, str]) -> bool:
        """Returns whether only this part is requested."""
        return query.get(self.parameter) == "part"

    def is_opened(self, query: Mapping[str, str]) -> bool:
        """Returns whether the reader has opened its table."""
        return self.sorted_by(query) or query.get(self.parameter) == "shown"

    def sorted_by(self, query: Mapping[str, str]) -> bool:
        """Returns whether the query sorts, filters or pages its table."""
        return any(name.startswith(f"{self.table}.") for name in query)

    def table_query(self, query: Mapping[str, str]) -> Mapping[str, str]:
        """Returns the query for links of its table: that of the page, not of the part alone."""
        return {name: value for name, value in query.items() if name != self.parameter}
