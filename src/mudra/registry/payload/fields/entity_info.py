"""Reads the object `entityinfo` and holds its rules for FIP, FIU and AA (spec 2.7)."""

import functools
from collections.abc import Callable
from typing import Final

from msgspec import Struct

from mudra.localization.language import translatable
from mudra.registry.payload import finding_texts as texts
from mudra.registry.payload.entry import Category, EntityInfo, Gateway, Identifier
from mudra.registry.payload.fields.certificate import check_certificate
from mudra.registry.payload.fields.field_rules import fields_of
from mudra.registry.payload.fields.network_rules import read_ip, read_port
from mudra.registry.payload.fields.url_rules import AddressPolicy, baseurl_faults, url_faults
from mudra.registry.payload.inspection import MISSING, Inspection, T, is_empty, show
from mudra.registry.payload.vocabulary import Vocabulary, Words
from mudra.shared.entity_type import EntityType

_INFO: Final = fields_of(EntityInfo)
_GATEWAY: Final = fields_of(Gateway)


def read_entity_info(
    inspection: Inspection,
    path: str,
    value: object,
    entity_type: EntityType | None,
    policy: AddressPolicy,
    vocabulary: Vocabulary,
) -> EntityInfo:
    """Return the object at `path`; without a known type its per-type rules are left out."""
    given = inspection.members(path, value, tuple(_INFO))
    missing = not given and not isinstance(value, dict)
    # A payload without the object has one finding for it, not one for each of its members.
    quiet = Inspection(older=inspection.older) if missing else inspection
    return _Reader(quiet, path, given, entity_type, policy).entity_info(vocabulary)


class _Reader(Struct, frozen=True):
    inspection: Inspection
    path: str
    given: dict[str, object]
    entity_type: EntityType | None
    policy: AddressPolicy

    def entity_info(self, vocabulary: Vocabulary) -> EntityInfo:
        return EntityInfo(
            tags="" if is_empty(self.given.get("tags")) else self.text("tags"),
            name=self.text("name"),
            id=self.text("id"),
            code=self.text("code"),
            entityhandle=self.text("entityhandle") if self.filled("entityhandle") else "",
            identifiers=self.identifiers(vocabulary.identifier_types),
            baseurl=self.baseurl(),
            webviewurl=self.url("webviewurl") if self.filled("webviewurl") else None,
            fitypes=self.fitypes(vocabulary.fi_types),
            inboundports=self.ports("inboundports"),
            outboundports=self.ports("outboundports"),
            ips=self.ips(),
            certificate=check_certificate(
                self.inspection, f"{self.path}.certificate", self.given.get("certificate")
            ),
            gsp=self.gateway(),
        )

    def filled(self, name: str) -> bool:
        """Return whether to read a field that one type alone fills; its misuse is written down."""
        owner, empty = _INFO[name].only, _INFO[name].empty
        value = self.given.get(name)
        if self.entity_type is None or self.entity_type is owner:
            return self.entity_type is not None or not is_empty(value)
        no_content = name == "gsp" and _has_no_content(value)  # the one of these that is an object
        if not is_empty(value) and not no_content:
            problem = texts.OTHER_TYPE % {"type": self.entity_type, "owner": owner}
            dropped = "; it was dropped" if self.inspection.older else ""
            self.inspection.odd(f"{self.path}.{name}", problem + dropped, empty, empty)
        return False

    def text(self, name: str) -> str:
        return self.inspection.text(f"{self.path}.{name}", self.given.get(name), _INFO[name].rule)

    def each(self, name: str, read: Callable[[str, object], T | None]) -> tuple[T, ...]:
        path, value = f"{self.path}.{name}", self.given.get(name)
        return self.inspection.each(path, value, _INFO[name].most, read)

    def url(self, name: str) -> str:
        text = self.text(name)
        faults = url_faults(text, self.policy, query=True) if text else []
        self.inspection.faults(f"{self.path}.{name}", faults)
        return text

    def baseurl(self) -> str:
        if self.older_blank("baseurl", _INFO["baseurl"].rule.allowed):
            return ""
        text = self.text("baseurl")
        faults = baseurl_faults(text, self.policy) if text else []
        self.inspection.faults(f"{self.path}.baseurl", faults)
        return text

    def ports(self, name: str) -> tuple[str, ...]:
        if self.needed_list_is_empty(name, _INFO[name].rule.allowed):
            return ()
        return self.each(name, functools.partial(read_port, self.inspection))

    def ips(self) -> tuple[str, ...]:
        if self.needed_list_is_empty("ips", _INFO["ips"].rule.allowed):
            return ()
        return self.each("ips", functools.partial(read_ip, self.inspection, policy=self.policy))

    def fitypes(self, words: Words) -> tuple[str, ...]:
        if not self.filled("fitypes") or self.needed_list_is_empty("fitypes", _some(words)):
            return ()
        return self.each("fitypes", functools.partial(_read_word, self.inspection, words))

    def identifiers(self, words: Words) -> tuple[Identifier, ...]:
        allowed = translatable("at least one identifier, of category STRONG")
        if not self.filled("Identifiers") or self.needed_list_is_empty("Identifiers", allowed):
            return ()
        path, value = f"{self.path}.Identifiers", self.given.get("Identifiers")
        kept = self.each("Identifiers", functools.partial(_read_identifier, self.inspection, words))
        # spec 2.7: at least one STRONG. Asked of what was sent, so that a fault
        # elsewhere in that identifier does not bring this finding along.
        if isinstance(value, list) and not any(_category(one) == Category.STRONG for one in value):
            missing = translatable("has no identifier of category STRONG")
            self.inspection.odd(path, missing, allowed)
        return kept

    def gateway(self) -> Gateway | None:
        value, path = self.given.get("gsp"), f"{self.path}.gsp"
        if not self.filled("gsp") or is_empty(value) or _has_no_content(value):
            return None
        given = self.inspection.members(path, value, tuple(_GATEWAY))
        if not given and not isinstance(value, dict):
            return None
        name = self.inspection.text(f"{path}.name", given.get("name"), _GATEWAY["name"].rule)
        identity = self.inspection.text(f"{path}.id", given.get("id"), _GATEWAY["id"].rule)
        ip = read_ip(self.inspection, f"{path}.ip", given.get("ip"), self.policy)
        url = self.inspection.text(f"{path}.url", given.get("url"), _GATEWAY["url"].rule)
        self.inspection.faults(
            f"{path}.url", url_faults(url, self.policy, query=True) if url else []
        )
        return Gateway(id=identity, name=name, ip=ip or "", url=url)

    def older_blank(self, name: str, allowed: str) -> bool:
        """Return whether an older entry leaves out what a new one needs; noted, not refused."""
        blank = self.inspection.older and is_empty(self.given.get(name))
        if blank:
            self.inspection.note(f"{self.path}.{name}", "is empty", allowed)
        return blank

    def needed_list_is_empty(self, name: str, allowed: str) -> bool:
        """Return whether there is nothing to read; written down where the type is known."""
        empty = is_empty(self.given.get(name))
        if empty:
            self.inspection.odd(f"{self.path}.{name}", MISSING, allowed)
        return empty


def _read_word(inspection: Inspection, words: Words, path: str, value: object) -> str | None:
    if not isinstance(value, str):
        problem = texts.NO_STRING % {"value": show(value)}
        inspection.error(path, problem, _some(words))
        return None
    word = words.read(value[:200])
    if not word:
        shown = translatable("empty") if is_empty(value) else show(value)
        nearest = inspection.nearest(value, words.listed)
        problem = texts.NOT_ALLOWED % {"value": shown}
        inspection.error(path, problem, _some(words), nearest)
        return None
    if word != value:
        inspection.note(path, texts.READ_AS % {"value": show(value), "word": word})
    return word


def _read_identifier(
    inspection: Inspection, words: Words, path: str, value: object
) -> Identifier | None:
    given = inspection.members(path, value, Identifier.__struct_fields__)
    if not given and not isinstance(value, dict):
        return None
    category = inspection.word(f"{path}.category", given.get("category"), tuple(Category))
    kind = _read_word(inspection, words, f"{path}.type", given.get("type", ""))
    return Identifier(Category(category), kind) if category and kind else None


def _category(value: object) -> object:
    return value.get("category") if isinstance(value, dict) else None


def _has_no_content(value: object) -> bool:
    """Return whether an object holds nothing: `{}`, or empty members only."""
    return isinstance(value, dict) and all(is_empty(part) for part in value.values())


def _some(words: Words) -> str:
    return ", ".join(words.listed)
