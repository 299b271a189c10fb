"""Commands of a member about its own entity: admins, secret, tokens, the agent.

Never opens the database.
"""
