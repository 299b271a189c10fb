"""Web pages: server-rendered, no build step at run time.

Calls the same use cases as the HTTP edge; never holds a rule of its own.
"""
