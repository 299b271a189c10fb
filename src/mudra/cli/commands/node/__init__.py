"""Commands that run a node: start it, check it, its settings, keys and mail.

Never holds a rule of the business.
"""
