"""The data of a search team: tables of pages, links, queries, clicks and results, in files and databases."""
