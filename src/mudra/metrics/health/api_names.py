"""The names of APIs in sentences, in the current language."""

from typing import Final

from mudra.localization.language import gettext
from mudra.metrics.payload.catalogue import TYPE_OF_API, NotificationType, RequestType, Tag


def api_name(code: str) -> str:
    """Returns the name of an API by its code in incidents; an unknown code as it is."""
    one = TYPE_OF_API.get(code)
    if one is None:
        return code
    name = gettext(one.label)
    if isinstance(one, RequestType):
        return name
    return gettext("%(name)s, received by the AA", name=name)


def api_names(codes: str) -> str:
    """Returns the names of the APIs of a cause, whose codes are separated by commas."""
    return gettext(" and ").join(map(api_name, codes.split(",")))


def type_name(tag: Tag, code: str) -> str:
    """Returns the name of a type of one of the payloads; an unknown code as it is."""
    return api_name(_RECEIVED.get(code, code) if tag is Tag.NOTIFICATIONS else code)


_RECEIVED: Final = {one.value: one.api for one in NotificationType}
