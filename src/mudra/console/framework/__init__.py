"""The ground of every page: guards, rendering, tables, static files.

Never knows a page.
"""
