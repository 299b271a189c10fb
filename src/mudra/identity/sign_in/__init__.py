"""Sign-in with a password, and the throttling of failures.

Never creates sessions or tokens: it says who was admitted.
"""
