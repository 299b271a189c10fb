"""Commands that open the store directly, and the values they ask for.

Never goes through HTTP.
"""
