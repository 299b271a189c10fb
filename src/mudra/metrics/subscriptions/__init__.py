"""Subscriptions to the public status by email: asked for, confirmed, ended, and what they are sent.

Never an account: a subscription is an address and the link that confirms and ends it.
"""
