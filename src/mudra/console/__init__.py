"""Web pages: server-rendered, no build step at run time.

Calls the same use cases as the HTTP edge; holds no rule of its own.
"""
