"""The roles that are compared. Commands name them too, without what their measures need (numpy)."""

from typing import Final

from mudra.shared.entity_type import EntityType

KEYS: Final = {EntityType.FIP: "fip", EntityType.AA: "aa"}
"""The roles that are compared, and the key of sums that separates their members."""
