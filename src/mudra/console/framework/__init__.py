"""What every page needs: guards, rendering, tables, static files.

Never knows a page.
"""
