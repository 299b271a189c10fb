"""An entry with very many versions, as programs that send one every two minutes make it."""

from typing import Final, LiteralString

MANY: Final[LiteralString] = """
WITH first AS (
  UPDATE registry_version SET status = 'superseded', live_until = live_from
  WHERE entity_id = :entity_id AND status = 'live'
  RETURNING *
)
INSERT INTO registry_version (entity_id, number, body, entityhandle, kid, thumbprint,
  modulus_hash, bits, status, submitted_by, submitted_at, submitted_person, decided_by, reason,
  live_from, live_until, equal_to)
SELECT entity_id, n,
  convert_to(regexp_replace(convert_from(body, 'UTF8'), '"txnid":"[^"]*"',
    '"txnid":"' || gen_random_uuid() || '"'), 'UTF8'),
  entityhandle, kid, thumbprint, modulus_hash, bits,
  CASE WHEN n = :last THEN 'live' ELSE 'superseded' END,
  submitted_by, submitted_at, submitted_person, decided_by, reason,
  live_from, CASE WHEN n < :last THEN live_from END, 0
FROM first, generate_series(first.number + 1, :last) n
"""
"""Has versions up to `last`, each live for a moment, and the last live now."""
