"""Commands about what happened, and what members say of it.

Never decides: each calls the API.
"""
