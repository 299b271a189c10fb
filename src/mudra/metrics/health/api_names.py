"""The names of APIs in sentences, by their codes of spec 2.5 and 2.6, in the current language."""

from typing import Final

from mudra.localization.language import gettext, translatable
from mudra.metrics.payload.catalogue import NotificationType, RequestType

_NAMES: Final = {
    RequestType.ACCOUNT_DISCOVERY: translatable("account discovery"),
    RequestType.ACCOUNT_LINK: translatable("account linking"),
    RequestType.ACCOUNT_DELINK: translatable("account delinking"),
    RequestType.ACCOUNT_LINK_VERIFY: translatable("confirmation of linking"),
    RequestType.CONSENT: translatable("consent"),
    RequestType.CONSENT_NOTIFICATION: translatable("consent notification"),
    RequestType.FI_REQUEST: translatable("FI request"),
    RequestType.FI_READY_TIME: translatable("time to data ready"),
    RequestType.FI_FAILED_TIME: translatable("time to a failed request"),
    RequestType.FI_FETCH: translatable("FI fetch"),
    RequestType.HEARTBEAT: translatable("heartbeat"),
}
_NOTIFICATIONS: Final = {
    NotificationType.FI: translatable("FI notification"),
    NotificationType.ACCOUNT_LINK: translatable("account linking notification"),
    NotificationType.CONSENT: translatable("consent notification"),
}
CONSENT_RECEIVED: Final = "cnot-received"
"""`cnot` of spec 2.6, where it could be confused with that of spec 2.5."""
_OF_CAUSES: Final = {
    NotificationType.FI.value: translatable("FI notification, received by the AA"),
    NotificationType.ACCOUNT_LINK.value: translatable(
        "account linking notification, received by the AA"
    ),
    CONSENT_RECEIVED: translatable("consent notification, received by the AA"),
}


def api_name(code: str) -> str:
    """Returns the name of a type of request metrics; an unknown code as it is."""
    return gettext(_NAMES[RequestType(code)]) if code in tuple(RequestType) else code


def api_names(codes: str) -> str:
    """Returns the names of the APIs of a cause, whose codes are separated by commas."""
    return gettext(" and ").join(
        gettext(_OF_CAUSES[code]) if code in _OF_CAUSES else api_name(code)
        for code in codes.split(",")
    )


def notification_name(code: str) -> str:
    """Returns the name of a type of notification metrics; an unknown code as it is."""
    if code not in tuple(NotificationType):
        return code
    name = gettext(_NOTIFICATIONS[NotificationType(code)])
    return gettext("%(name)s, received by the AA", name=name)
