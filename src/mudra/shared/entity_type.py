"""The role of a member in the network."""

import enum


class EntityType(enum.StrEnum):
    """The type of a member: spec 2.7 `type`."""

    FIP = "FIP"
    FIU = "FIU"
    AA = "AA"
