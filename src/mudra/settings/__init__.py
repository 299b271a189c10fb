"""The settings of an operator: one frozen struct per area, and all of them as `Settings`.

Never reads the environment: bootstrap does. Edges, the demonstration and bootstrap read settings;
areas and adapters are given the values that they need.
"""
