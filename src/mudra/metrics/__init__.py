"""Network metrics: the two payloads of spec 2.5 and 2.6 and what they say.

Owns the catalogue of positions and codes, checking, health and percentiles.
Never knows how rows are stored or drawn. The agent shares the payload types.
"""
