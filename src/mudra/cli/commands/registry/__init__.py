"""Commands about registry entries: read, decide, check files, vocabulary, keys.

Never holds a rule of the business.
"""
