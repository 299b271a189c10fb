"""The names of APIs in sentences, by their codes of spec 2.5 and 2.6."""

from typing import Final

from mudra.metrics.payload.catalogue import NotificationType, RequestType

_NAMES: Final = {
    RequestType.ACCOUNT_DISCOVERY: "account discovery",
    RequestType.ACCOUNT_LINK: "account linking",
    RequestType.ACCOUNT_DELINK: "account delinking",
    RequestType.ACCOUNT_LINK_VERIFY: "confirmation of linking",
    RequestType.CONSENT: "consent",
    RequestType.CONSENT_NOTIFICATION: "consent notification",
    RequestType.FI_REQUEST: "FI request",
    RequestType.FI_READY_TIME: "time to data ready",
    RequestType.FI_FAILED_TIME: "time to a failed request",
    RequestType.FI_FETCH: "FI fetch",
    RequestType.HEARTBEAT: "heartbeat",
}
_NOTIFICATIONS: Final = {
    NotificationType.FI: "FI notification",
    NotificationType.ACCOUNT_LINK: "account linking notification",
    NotificationType.CONSENT: "consent notification",
}
CONSENT_RECEIVED: Final = "cnot-received"
"""`cnot` of spec 2.6, where it could be confused with that of spec 2.5."""
_OF_CAUSES: Final = {
    NotificationType.FI.value: "FI notification, received by the AA",
    NotificationType.ACCOUNT_LINK.value: "account linking notification, received by the AA",
    CONSENT_RECEIVED: "consent notification, received by the AA",
}


def api_name(code: str) -> str:
    """Returns the name of a type of request metrics; an unknown code as it is."""
    return _NAMES.get(RequestType(code), code) if code in tuple(RequestType) else code


def api_names(codes: str) -> str:
    """Returns the names of the APIs of a cause, whose codes are separated by commas."""
    return " and ".join(_OF_CAUSES.get(code, api_name(code)) for code in codes.split(","))


def notification_name(code: str) -> str:
    """Returns the name of a type of notification metrics; an unknown code as it is."""
    if code not in tuple(NotificationType):
        return code
    return f"{_NOTIFICATIONS[NotificationType(code)]}, received by the AA"
