"""mudra report: service levels.

Never computes a number; `levels` does, also where it is verified.
"""
