"""Writing responses: JSON, and the table from a refusal to an HTTP error.

Never reads a request.
"""
