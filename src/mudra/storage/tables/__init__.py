"""All table definitions, one module an area; the migrations make the tables.

Never a query: an area's stores, next to its rules, read and write these tables.
"""
