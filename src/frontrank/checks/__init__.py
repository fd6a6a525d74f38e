"""Contracts as code: they hold for everything shipped; run them on your own classes.

from frontrank.checks import yield_checks          an ordering
for check in yield_checks(MyOrdering()):
    check()

class TestMyLog(LogContract):                      a log of crawls; pytest finds the facts
    def new(self): return MyLog()
    def reopen(self, log): ...

class TestMyFrontier(FrontierContract):            a frontier of live crawls
    def new(self, politeness): return MyFrontier(politeness)
"""

from frontrank.checks.frontier import FrontierContract
from frontrank.checks.log import LogContract
from frontrank.checks.orderings import CHECKS, Check, relabelled, searched, yield_checks

__all__ = ["CHECKS", "Check", "FrontierContract", "LogContract", "relabelled", "searched", "yield_checks"]
