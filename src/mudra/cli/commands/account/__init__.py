"""Commands of everyone with an account: sign in, sessions, password.

Never holds a rule of the business.
"""
