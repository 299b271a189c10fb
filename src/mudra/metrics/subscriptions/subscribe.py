"""Ask for a subscription to the public status, confirm it, end it: double opt-in.

Who asks learns nothing about an address: asking is one statement, and a job writes the email.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from mudra.metrics.subscriptions.subscription import (
    Subscription,
    SubscriptionGone,
    is_lapsed,
    new_token,
)
from mudra.metrics.subscriptions.subscription_store import Subscriptions
from mudra.shared.secret_text import SecretText

COUNTED: Final = timedelta(hours=24)


async def ask_for_subscription(
    subscriptions: Subscriptions,
    email: str,
    fip_id: str,
    language: str,
    random_bytes: Callable[[int], bytes],
    url: str = "",
) -> None:
    """Store a request of a normalized address; the same for every address."""
    await subscriptions.ask(email, fip_id, language, new_token(random_bytes), url)


async def subscription_of(
    subscriptions: Subscriptions, token: SecretText
) -> Subscription | SubscriptionGone:
    """Return the subscription of a link."""
    found = await subscriptions.find(token)
    if found is None or is_lapsed(found, await subscriptions.now()):
        return SubscriptionGone()
    return found


async def confirm_subscription(
    subscriptions: Subscriptions, token: SecretText
) -> Subscription | SubscriptionGone:
    """Confirm the address of a link; again changes nothing."""
    found = await subscription_of(subscriptions, token)
    if isinstance(found, Subscription) and not found.is_confirmed and not found.url:
        await subscriptions.confirm(found.subscription_id)
    return found


async def end_subscription(
    subscriptions: Subscriptions, token: SecretText
) -> Subscription | SubscriptionGone:
    """End the subscription of a link and forget its address."""
    found = await subscription_of(subscriptions, token)
    if isinstance(found, Subscription):
        await subscriptions.end(found.subscription_id)
    return found
