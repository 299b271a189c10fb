"""The commands, one file per noun.

Never holds a rule of the business.
"""
