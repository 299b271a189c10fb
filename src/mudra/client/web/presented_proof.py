"""The proof in the headers of a request to a member's own HTTP, and its addresses."""

from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

from mudra.shared.dpop_proof import PresentedProof


def checked_origins(origins: Iterable[str]) -> tuple[str, ...]:
    """Return origins such as https://fip.example.org; raises ValueError for anything else."""
    found = tuple(one.rstrip("/") for one in origins)
    for one in found:
        parts = urlsplit(one)
        if parts.scheme not in {"http", "https"} or one != f"{parts.scheme}://{parts.netloc}":
            raise ValueError(
                f"an origin is scheme and host only, such as https://fip.example.org: {one}"
            )
    return found


def presented_proof(
    values: Sequence[str], method: str, path: str, origins: Sequence[str]
) -> PresentedProof | None:
    """Return the proof of a request; None without one.

    The host of the request is not looked at, because its sender chooses it: a peer to whom a
    proof was sent could use it here.
    """
    if not values:
        return None
    # A path without its slash would become a part of the host.
    below = path.removeprefix("/")
    return PresentedProof(tuple(values), method, tuple(f"{one}/{below}" for one in origins))
