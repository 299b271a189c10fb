"""docs/reference/calls.md and the pages below it: every call, from the OpenAPI document."""

from tools.pages.calls.pages import calls_pages

__all__ = ["calls_pages"]
