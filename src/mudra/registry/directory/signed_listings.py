"""Listings of the directory, signed and cached as finished bytes."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

from msgspec import Struct

from mudra.registry.directory.directory import Directory, DirectoryListing
from mudra.registry.ports import DirectoryLog

_MAX_COUNT: Final = 2_000
"""Cached listings. Three of them are whole lists, a megabyte each; others hold one entry."""


class SignedListing(Struct, frozen=True):
    """A listing with its detached signature."""

    listing: DirectoryListing
    signature: str


class SignedListings:
    """Signed listings, cached as long as the directory and the signing key stay the same."""

    def __init__(self, sign: Callable[[bytes], str], signing_kid: Callable[[], str]) -> None:
        self._sign = sign
        self._signing_kid = signing_kid
        self._made_of: tuple[Directory | None, str] = (None, "")
        self._cached: OrderedDict[Hashable, SignedListing] = OrderedDict()

    def __len__(self) -> int:
        """Return how many listings are cached."""
        return len(self._cached)

    def get(
        self, directory: Directory, key: Hashable, make: Callable[[], DirectoryListing | None]
    ) -> SignedListing | None:
        """Return the listing of `key`, made if it is not cached; None if there is none."""
        made_of = (directory, self._signing_kid())
        if self._made_of[0] is not made_of[0] or self._made_of[1] != made_of[1]:
            self._cached.clear()
            self._made_of = made_of
        cached = self._cached.get(key)
        if cached is None:
            listing = make()
            if listing is None:  # not cached: there is no end of unknown IDs
                return None
            cached = self._cached[key] = self.sign(listing)
            if len(self._cached) > _MAX_COUNT:
                self._cached.popitem(last=False)
        self._cached.move_to_end(key)
        return cached

    def sign(self, listing: DirectoryListing) -> SignedListing:
        """Sign a listing without caching it."""
        return SignedListing(listing, self._sign(listing.body))


class DirectoryReads(Struct, frozen=True):
    """The directory and its signed listings, cached in this process."""

    log: DirectoryLog
    listings: SignedListings
