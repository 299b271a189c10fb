"""GET /.well-known/security.txt: where a vulnerability here is reported (RFC 9116)."""

from datetime import timedelta
from typing import Final

from litestar import Response, get
from litestar.exceptions import NotFoundException

from mudra.http.dependencies import InjectedDependencies

PATH: Final = "/.well-known/security.txt"
_VALID: Final = timedelta(days=180)
"""RFC 9116 2.5.5 asks for less than a year."""


@get(PATH, include_in_schema=False)
async def security_txt(dependencies: InjectedDependencies) -> Response[str]:
    """Return the contacts of `MUDRA_SECURITY_CONTACT`; 404 where none is set."""
    contacts = dependencies.settings.security_contact
    if not contacts:
        raise NotFoundException
    expires = (dependencies.clock() + _VALID).replace(microsecond=0)
    lines = [
        *(f"Contact: {one}" for one in contacts),
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        f"Preferred-Languages: {dependencies.settings.language}",
        f"Canonical: {dependencies.settings.public_origins[0]}{PATH}",
    ]
    return Response(
        "".join(f"{one}\n" for one in lines),
        media_type="text/plain",
        headers={"Cache-Control": "public, max-age=86400"},
    )
