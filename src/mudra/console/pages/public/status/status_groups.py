"""Groups of institutions on the public status: what they serve, as filters with counts."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from mudra.localization.language import gettext, translatable
from mudra.metrics.public_status.status_history import FipHistory

_TITLES: Final = {
    "deposits": translatable("Banking deposits"),
    "funds": translatable("Funds"),
    "securities": translatable("Securities"),
    "insurance": translatable("Insurance"),
    "pension": translatable("Pension"),
    "tax": translatable("Tax"),
    "other": translatable("Other"),
}


class GroupLink(Struct, frozen=True):
    """A filter: how many institutions it shows, and its address."""

    title: str
    count: int
    address: str
    is_chosen: bool


def title_of(group: str) -> str:
    """Returns the title of a group; of the operator's own it is made of its name."""
    return gettext(_TITLES[group]) if group in _TITLES else group.replace("-", " ").capitalize()


def group_links(
    found: Iterable[FipHistory], chosen: str, words: str, kept: Mapping[str, str]
) -> list[GroupLink]:
    """Returns a filter for each group among those that were found by words; the first is all.

    None where there is nothing to choose.
    """
    listed = list(found)
    counts = Counter(group for fip in listed for group in fip.groups)
    if len(counts) + any(not fip.groups for fip in listed) < 2 and not chosen:  # noqa: PLR2004  # one of them is no choice
        return []
    places = {group: place for place, group in enumerate(_TITLES)}
    groups = sorted(counts, key=lambda group: (places.get(group, len(places)), group))
    links = [GroupLink(gettext("All"), len(listed), _address("", words, kept), not chosen)]
    return links + [
        GroupLink(title_of(one), counts[one], _address(one, words, kept), one == chosen)
        for one in groups
    ]


def _address(group: str, words: str, kept: Mapping[str, str]) -> str:
    values = {"q": words, "group": group, **kept}
    return "/status?" + urlencode({name: text for name, text in values.items() if text})
