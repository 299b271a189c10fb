"""The entity secret: creation, reset, grace period, reading (spec 2.3, 3, 8).

Never stores or encrypts anything itself.
"""
