"""The mudra command: one file per noun.

Administration acts on the database; member commands go through HTTP.
"""
