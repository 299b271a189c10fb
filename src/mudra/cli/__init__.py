"""The mudra command: one file per noun.

Administration acts on the database; member commands go through HTTP. Prints,
asks and exits; never holds a rule of the business.
"""
