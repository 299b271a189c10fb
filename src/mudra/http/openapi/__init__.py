"""The OpenAPI document.

Never serves another route.
"""
