"""Wires service levels: for pages, the API and jobs.

Never computes a number.
"""
