"""The two payloads (spec 2.5, 2.6): catalogue, validation, acceptance.

Never computes health from the counts.
"""
