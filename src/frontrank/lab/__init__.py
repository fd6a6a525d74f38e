"""The lab: judging. Measures, comparisons, the papers run again, reports, and a served web to race crawlers on.

May import everything below the command line.
"""
