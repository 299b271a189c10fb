"""Every command of the guides is run by its own words, in a sandbox.

What a reader fills in, and what others do meanwhile, is in tests/docs/guides.py.
"""

from pathlib import Path

import pytest
from tests.docs.follow import follow
from tests.docs.guides import GUIDES as MEMBERS_GUIDES
from tests.docs.left_out import is_left_out
from tests.docs.operators_guides import OPERATORS_GUIDES
from tests.docs.test_call_samples import COMMANDS, samples
from tests.docs.test_signed_samples import SIGNED, signed_samples
from tests.support.depth import with_every_change
from tests.support.documents.blocks import blocks_of
from tests.support.service import Service

GUIDES = {**MEMBERS_GUIDES, **OPERATORS_GUIDES}
LONG = {
    f"docs/{page}.md"
    for page in (
        "how-to/check-an-implementation",
        "how-to/registry",
        "how-to/onboard-a-member",
        "operations/running",
    )
}
"""What takes the longest of them waits for `make test-slow`: half of what all take."""


@pytest.mark.parametrize(
    "guide", with_every_change(GUIDES.keys() - LONG, GUIDES), ids=lambda guide: Path(guide).stem
)
def test_a_guide_works_by_its_own_words(guide: str, sandbox: Service, tmp_path: Path) -> None:
    sampled = [block for kind in COMMANDS for block in samples(guide, kind)]
    sampled += [block for kind in SIGNED for block in signed_samples(kind)]
    blocks = [one for one in blocks_of(guide) if one not in sampled and not is_left_out(one)]

    with GUIDES[guide](sandbox, tmp_path) as fill:
        follow(blocks, sandbox, tmp_path, fill, strict=True)
