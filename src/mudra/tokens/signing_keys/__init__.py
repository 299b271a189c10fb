"""The life of signing keys: pending, active, retiring, retired.

Never holds key material longer than one call.
"""
