"""Subscriptions to the public status by email or webhook: asking for one, and the page of its link.

Opening the link changes nothing, because email scanners open links; its buttons post. The same
answer for every address; requests are limited by sender here, and by address where emails are
written.
"""

from collections.abc import Mapping
from http import HTTPStatus
from time import monotonic
from types import MappingProxyType
from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.error_page import error_page, no_such_page
from mudra.console.framework.page_language import write_in_language
from mudra.console.framework.page_responses import site_facts
from mudra.console.framework.render import page, sentence
from mudra.console.framework.session.csrf import is_same_origin
from mudra.console.pages.public.status.status_cache import InjectedStatusCache
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.body.request_body import FORM_LIMITS, read_form
from mudra.http.request.request_context import AnyRequest, address_of
from mudra.http.response.http_refusals import Unavailable
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.localization.language import current, gettext
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.subscriptions.chat_subscription import CHATS, format_of
from mudra.metrics.subscriptions.status_webhooks import OptedIn, StatusWebhooks
from mudra.metrics.subscriptions.subscribe import (
    ask_for_subscription,
    confirm_subscription,
    end_subscription,
    subscription_of,
)
from mudra.metrics.subscriptions.subscription import Subscription, SubscriptionGone
from mudra.metrics.subscriptions.subscription_store import Subscriptions
from mudra.metrics.subscriptions.webhook_subscription import (
    MAX_URL,
    TooManyChallenges,
    TooManySubscriptions,
)
from mudra.shared.network_address import address_key
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.rate_limit import KeyedRateLimit

BURST: Final = 10
_PER_HOUR: Final = 10
_HOUR_S: Final = 3600
_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_EMPTY: Final = {
    "problem": "", "url_problem": "", "typed_url": "", "secret": "", "sent": False, "limited": "",
}  # fmt: skip
_SENDERS: Final = KeyedRateLimit(_PER_HOUR / _HOUR_S, BURST, monotonic)
"""Of this process, by address (IPv6 by /64): no sender's address is stored."""


def may_subscribe(dependencies: HttpDependencies) -> bool:
    """Return whether emails leave this service, so that a subscription has a use."""
    return dependencies.settings.sandbox or dependencies.settings.smtp_url is not None


@post("/status/subscribe", include_in_schema=False)
async def subscribe(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[str]:
    """Take an address; the same answer for all that are addresses."""
    fields = await read_form(request.receive, request.scope["headers"], FORM_LIMITS)
    site = write_in_language(request, dependencies)
    if isinstance(fields, Refusal):
        return error_page(dependencies, fields, gettext("That could not be read"), public=True)
    if is_same_origin(request, dependencies.settings) is False or not may_subscribe(dependencies):
        return no_such_page(dependencies, public=True)
    cached = await cache.get(dependencies)
    if cached is None:
        return error_page(dependencies, Unavailable(), gettext("Status not available"), public=True)
    names = {"": "", **{fip.fip_id: fip.name for fip in cached.snapshot.fips}}
    fip_id = fields.get("fip", "")
    if fip_id not in names:
        return no_such_page(dependencies, public=True)
    facts = {
        **site,
        "name": names[fip_id],
        "fip_id": fip_id,
        "typed": fields.get("email", "")[:254],
    }
    url = fields.get("url", "").strip()
    facts["typed_url"] = url[:MAX_URL]
    email = normalize_email(fields.get("email", ""))
    if isinstance(email, AddressRefused):
        problem = gettext("Enter an email address such as name@example.org.")
        return _page(dependencies, facts | {"state": "ask", "problem": problem}, 400)
    if url and not await _is_possible(dependencies, url):
        problem = gettext(
            "Enter a public https address, such as https://status.example.org/hook, or that of an "
            "incoming webhook of Slack or of a workflow of Microsoft Teams."
        )
        return _page(dependencies, facts | {"state": "ask", "url_problem": problem}, 400)
    wait_s = _SENDERS.wait_s(address_key(address_of(request, dependencies)))
    if wait_s:
        problem = gettext("Too many requests from your network. Try again in an hour.")
        refused = _page(dependencies, facts | {"state": "ask", "problem": problem}, 429)
        refused.headers["Retry-After"] = str(wait_s)
        return refused
    async with dependencies.transaction() as tx:
        await ask_for_subscription(
            tx.service(Subscriptions), email, fip_id, current().tag, dependencies.random_bytes, url
        )
    return _page(dependencies, facts | {"state": "asked"}, HTTPStatus.ACCEPTED)


@get("/status/subscription/{token:str}", include_in_schema=False)
async def show(
    token: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str]:
    """Show a subscription to anyone who has its link, with what can be done about it."""
    async with dependencies.transaction() as tx:
        found = await subscription_of(tx.service(Subscriptions), SecretText(token))
        names = await tx.service(HealthService).names()
    return _of(request, dependencies, found, names, _state(found))


@post("/status/subscription/{token:str}/confirm", include_in_schema=False)
async def confirm(
    token: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str]:
    """Confirm the address; of a webhook, show the key that signs its messages, this once."""
    async with dependencies.transaction() as tx:
        found = await confirm_subscription(tx.service(Subscriptions), SecretText(token))
        names = await tx.service(HealthService).names()
        if isinstance(found, SubscriptionGone) or not found.url:
            return _of(request, dependencies, found, names, "confirmed")
        opted = await tx.service(StatusWebhooks).opt_in(SecretText(token))
    match opted:
        case SubscriptionGone():
            return _of(request, dependencies, opted, names, "gone")
        case TooManySubscriptions():
            return _of(request, dependencies, found, names, "unconfirmed", refusal=opted)
        case OptedIn(subscription, secret):
            state = "confirmed" if subscription.is_confirmed else "opted"
            is_chat = format_of(subscription.url) in CHATS
            key = {"secret": secret.reveal() if secret and not is_chat else ""}
            return _of(request, dependencies, found, names, state, key)


@post("/status/subscription/{token:str}/challenge", include_in_schema=False)
async def challenge(
    token: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str]:
    """Send a challenge to the webhook: what comes of it is seen only once it was answered."""
    async with dependencies.transaction() as tx:
        found = await subscription_of(tx.service(Subscriptions), SecretText(token))
        names = await tx.service(HealthService).names()
        institution = names.get(found.fip_id, "") if isinstance(found, Subscription) else ""
        outcome = await tx.service(StatusWebhooks).challenge(SecretText(token), institution)
    match outcome:
        case Subscription() | SubscriptionGone():
            return _of(request, dependencies, outcome, names, _state(outcome), {"sent": True})
        case TooManyChallenges() | TooManySubscriptions():
            return _of(request, dependencies, found, names, _state(found), refusal=outcome)


@post("/status/subscription/{token:str}/end", include_in_schema=False)
async def end(
    token: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str]:
    """End the subscription: the button of its page, or one click in a mail program (RFC 8058).

    A second click finds nothing to end, and is answered as the first.
    """
    async with dependencies.transaction() as tx:
        found = await end_subscription(tx.service(Subscriptions), SecretText(token))
    return _of(request, dependencies, found, {}, "ended")


@get("/status/channel/{link:str}", include_in_schema=False)
async def show_channel(
    link: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str]:
    """Show the subscription of a channel to its readers; opening the link changes nothing."""
    async with dependencies.transaction() as tx:
        found = await tx.service(StatusWebhooks).of_channel(SecretText(link))
        names = await tx.service(HealthService).names()
    return _of_channel(request, dependencies, link, found, names)


@post("/status/channel/{link:str}/confirm", include_in_schema=False)
async def confirm_channel(
    link: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str]:
    """Post to the channel from now on."""
    async with dependencies.transaction() as tx:
        found = await tx.service(StatusWebhooks).confirm_channel(SecretText(link))
        names = await tx.service(HealthService).names()
    return _of_channel(request, dependencies, link, found, names)


@post("/status/channel/{link:str}/end", include_in_schema=False)
async def end_channel(
    link: FromPath[str], request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str]:
    """Post nothing more to the channel, and forget its address."""
    async with dependencies.transaction() as tx:
        found = await tx.service(StatusWebhooks).end_channel(SecretText(link))
    return _of(request, dependencies, found, {}, "ended")


def _of_channel(
    request: AnyRequest,
    dependencies: HttpDependencies,
    link: str,
    found: Subscription | SubscriptionGone | TooManySubscriptions,
    names: Mapping[str, str],
) -> Response[str]:
    """Returns the page of a channel: it names neither its address nor who asked for it."""
    match found:
        case TooManySubscriptions():
            problem = page_problem(found)
            facts = write_in_language(request, dependencies)
            shown = {"state": "gone", "name": "", "limited": sentence(problem.sentence)}
            return _page(dependencies, facts | shown, problem.status)
        case Subscription() if found.is_confirmed:
            state = "channel-confirmed"
        case _:
            state = "channel"
    return _of(request, dependencies, found, names, state, {"channel": link})


async def _is_possible(dependencies: HttpDependencies, url: str) -> bool:
    async with dependencies.transaction() as tx:
        return tx.service(StatusWebhooks).is_possible(url)


def _state(found: Subscription | SubscriptionGone) -> str:
    if isinstance(found, SubscriptionGone) or not (found.is_confirmed or found.opted_at):
        return "unconfirmed"
    return "confirmed" if found.is_confirmed else "opted"


def _of(  # what one page needs
    request: AnyRequest,
    dependencies: HttpDependencies,
    found: Subscription | SubscriptionGone,
    names: Mapping[str, str],
    state: str,
    more: Mapping[str, object] = _NOTHING,
    refusal: TooManyChallenges | TooManySubscriptions | None = None,
) -> Response[str]:
    own = found.language if isinstance(found, Subscription) else ""
    facts = write_in_language(request, dependencies, own)
    match found:
        case SubscriptionGone() if state != "ended":
            return _page(dependencies, facts | {"state": "gone", "name": ""}, HTTPStatus.GONE)
        case SubscriptionGone():
            return _page(dependencies, facts | {"state": state, "name": ""})
        case Subscription():
            name = names.get(found.fip_id, found.fip_id)
            chat = CHATS.get(format_of(found.url) or Format.STANDARD, "")
            shown = {"state": state, "name": name, "subscription": found, "chat": chat, **more}
            if refusal is None:
                return _page(dependencies, facts | shown)
            problem = page_problem(refusal)
            limited = {"limited": sentence(problem.sentence)}
            answer = _page(dependencies, facts | shown | limited, problem.status)
            answer.headers.update(problem.headers)
            return answer


def _page(
    dependencies: HttpDependencies, facts: dict[str, object], status: int = HTTPStatus.OK
) -> Response[str]:
    # The address may be the link itself: it is sent to no one as a referrer.
    headers = {"Referrer-Policy": "no-referrer" if "subscription" in facts else "same-origin"}
    values = site_facts(dependencies) | _EMPTY | facts
    return page("subscription.html", values, status=status, headers=headers)


handlers: Final[list[ControllerRouterHandler]] = [
    *(subscribe, show, confirm, challenge, end),
    *(show_channel, confirm_channel, end_channel),
]
