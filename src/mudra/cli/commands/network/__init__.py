"""Commands of the network's operators: members, people, health, audit.

Never holds a rule of the business.
"""
