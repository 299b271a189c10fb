"""The template environment of all pages: autoescape on, undefined names are errors."""

from collections.abc import Mapping
from functools import cache

import jinja2
from litestar import Response

from mudra.console.shelf import SHELF

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mudra.console", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = SHELF.address
    return environment


def page(template: str, facts: Mapping[str, object], *, status: int = 200) -> Response[str]:
    """Render a page with the strict policy of quality I10; never cached."""
    return Response(
        _environment().get_template(template).render(facts),
        status_code=status,
        media_type="text/html",
        headers={
            "Content-Security-Policy": _POLICY,
            "Cache-Control": "no-store",
            "X-Frame-Options": "DENY",
            "Cross-Origin-Opener-Policy": "same-origin",
        },
    )
