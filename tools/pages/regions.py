"""Regions of a hand-written page that `make docs` writes: between two comments with one name."""

import re
from collections.abc import Mapping
from typing import Final

_REGION: Final = re.compile(
    r"(?P<begin><!-- made by make docs: (?P<name>[a-z-]+) -->\n).*?(?P<end><!-- end -->)",
    re.DOTALL,
)


def filled(page: str, texts: Mapping[str, str]) -> str:
    """Returns a page with these texts in its regions.

    Raises KeyError for a region without a text, and ValueError for a text without a region.
    """
    met = set()

    def body(found: re.Match[str]) -> str:
        met.add(found["name"])
        return f"{found['begin']}\n{texts[found['name']].strip()}\n\n{found['end']}"

    text = _REGION.sub(body, page)
    if met != texts.keys():
        raise ValueError(f"no region for {', '.join(sorted(texts.keys() - met))}")
    return text
