"""Rotates signing keys, on a schedule and before the first start."""

import os
from collections.abc import Sequence

from mudra.audit.event import Caller
from mudra.tokens.signing_keys.signing_key_service import KEY_CHANGE_S, KeyChange
from mudra.unit_of_work import OpenUnitOfWork


async def maintain_keys(unit_of_work: OpenUnitOfWork) -> Sequence[KeyChange]:
    """Creates, activates, retires and destroys signing keys that are due."""
    async with unit_of_work(within_s=KEY_CHANGE_S) as work:
        caller = Caller(f"system:{os.uname().nodename}")
        return await work.signing_keys.maintain(caller, await work.people.now())
