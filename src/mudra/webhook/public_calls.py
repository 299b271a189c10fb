"""Calls to addresses that the public typed (decision 0117): more limits than other webhooks."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from time import monotonic
from typing import Final

from mudra.metrics.notifications.webhook import CHALLENGE, WaitingMessage
from mudra.metrics.subscriptions.webhook_subscription import MAX_ANSWER, is_answer
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.webhook.reach import Reach
from mudra.webhook.send import Terms, post_signed

_PER_S: Final = 0.5
_BURST: Final = 20
_LOOKUPS: Final = 4
_CALLS: Final = KeyedRateLimit(_PER_S, _BURST, monotonic)
"""Of this process, which alone delivers them: calls to one IP address, whatever its names."""
_NAMES: Final = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="public-names")
_TERMS: Final = Terms(lambda key: not _CALLS.wait_s(key), _NAMES)
_ASKING: Final = Terms(_TERMS.may_call, _NAMES, is_answer, MAX_ANSWER)


async def post_public(message: WaitingMessage, now: datetime, reach: Reach) -> str:
    """Sign and post one; a challenge has to be answered. Returns the problem, or nothing."""
    terms = _ASKING if message.event == CHALLENGE else _TERMS
    return await post_signed(message, now, reach, terms)
