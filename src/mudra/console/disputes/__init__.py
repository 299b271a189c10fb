"""The pages of disputes: a member's, on which it contests a day, and the operators'.

Never decides: `mudra.disputes` does.
"""
