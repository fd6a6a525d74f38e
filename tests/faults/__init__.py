"""The live half of frontrank under faults: a crawl, its disk, its network and its clock in one process, all of it from a seed.

python -m tests.faults --seeds 1000             many runs, on every core
python -m tests.faults --seeds 1 --from 4711    one of them again, with its last events

clock       time, as all of frontrank sees it
threads     threads that take turns where they wait, in an order that follows from the seed
disk        files that can be full, fail, or lose what was not synced; SQLite writes through it
network     an event loop whose time is simulated, and connections in memory
sites       web servers that refuse, reset, stall, cut short, and keep a log of what they were asked
ledger      what was written, acknowledged and synced; what every journal must obey
simulation  one run: its lives, each ended by a fault, each recovered from what the disk kept
crawling    the first scenario: ``frontrank crawl``
serving     the second: a service, its clients, and fetchers
"""
