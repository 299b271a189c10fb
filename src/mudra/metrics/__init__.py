"""Network metrics: the two payloads of spec 2.5 and 2.6, and health computed from them.

Owns the catalogue of positions and codes, validation, health and percentiles.
Never depends on how rows are stored or displayed. The agent shares the payload types.
"""
