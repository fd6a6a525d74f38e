"""What a search team has: tables of pages, links, queries, clicks and results, in files, databases and dumps."""
