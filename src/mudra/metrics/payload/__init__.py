"""The two payloads (spec 2.5, 2.6): catalogue, validation, acceptance.

Never interprets what the counts say about health.
"""
