"""What the network health pages share: the asked time, charts, tables, verdicts in words.

The pages stand in console/pages; figures come from the use cases of mudra.metrics. It never
reads storage and never decides what is good or bad.
"""
