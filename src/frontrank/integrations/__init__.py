"""frontrank inside other crawlers. ``scrapy``: one line of settings, and frontrank orders the requests of a project."""
