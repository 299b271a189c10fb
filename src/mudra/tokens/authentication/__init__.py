"""Authentication of entities: by ID and secret, or by a bearer token.

Never reads a header or a form: edges hand over plain values.
"""
