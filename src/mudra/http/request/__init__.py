"""Reading requests: bodies, forms, JSON, queries, the caller's address.

Never answers.
"""
