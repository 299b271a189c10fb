"""Values that every area may use: findings, secret text, IDs, addresses, limits, entity types.

Never holds a rule of one area, and never imports anything else of Mudra.
"""
