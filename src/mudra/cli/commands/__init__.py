"""The commands, one file per noun, in folders by who uses them.

Never holds a rule of the business.
"""
