"""Routers that belong to one application."""

from typing import Self

import litestar


class Router(litestar.Router):
    """Handlers under one path, made for each application.

    The framework copies a router with all that hangs on it, so that several applications
    may share one: a quarter of the time that it takes to build ours, which shares none.
    """

    def __deepcopy__(self, _: dict[int, object]) -> Self:
        """Stay the same router: it has one owner."""
        return self
