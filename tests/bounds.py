"""Which tests run the kernels of each module: `make bounds` runs them once more, with numba's bounds checks.

python -m tests.bounds        the files, one a line
"""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
TESTS = {  # the file (test_*.py): modules whose kernels it runs
    "crawl": ["crawl/kernels"],
    "crawl_events": ["crawl/drivers", "crawl/kernels", "web/view"],
    "explain_live": ["orderings/online/surf_trace"],
    "integrity": ["crawl/snapshot_checks"],
    "queues": ["crawl/kernels", "frontiers/polite/turns"],
    "priority": ["crawl/kernels", "frontiers/polite/pages"],
    "contracts": ["orderings/policy"],
    "seams": ["frontiers/polite/hosts"],
    "pace": ["frontiers/polite/pace"],
    "polite": [
        "frontiers/pairing",
        *(f"frontiers/polite/{name}" for name in ("hosts", "pages", "sharing", "turns", "upcoming")),
    ],
    "frontiers": ["frontiers/fifo", "frontiers/heap", "frontiers/lifo", "frontiers/shelf", "frontiers/slots"],
    "fingerprints": ["kernels/hashtable"],
    "growing": ["kernels/hashtable"],
    "links": ["kernels/inlinks", "kernels/pagerank"],
    "walk": ["kernels/walk"],
    "parquet_crawl": ["kernels/blocks"],
    "golden": [
        *(f"orderings/online/{name}" for name in ("backlink", "combine", "domains", "fica", "forward", "fpr", "group")),
        *(f"orderings/online/{name}" for name in ("largest_site", "location", "opic", "oracle", "prior", "quality")),
        *(f"orderings/online/{name}" for name in ("random", "rankmass", "similarity", "surf_kernels", "group_kernels")),
        *("kernels/prefetch", "orderings/ranker", "simulation/graph_driver", "web/links"),
    ],
    "trust": ["orderings/trust"],
    "ranks": ["web/ranks"],
    "clocked": ["simulation/clock"],
    "refresh": [
        *(f"orderings/revisits/{name}" for name in ("adaptive", "allocated", "fixed", "gain", "revisit")),
        "simulation/refresh",
    ],
    "search_engine": ["search/search_engine"],
    "search_ngrams": ["search/ngrams", "search/trie"],
    "search_sketches": ["search/expected_score", "search/sketches"],
    "impact_expected": ["search/expected_impact"],
    "sources_synthetic": ["kernels/splitmix", "sources/synthetic_links"],
    "sources_bvgraph": ["sources/bitstream", "sources/bvgraph", "sources/bvgraph_stream"],
    "sources_edges": ["sources/edge_lines", "sources/edge_numbers"],
    "loading": [
        *("sources/edge_urls", "sources/names", "sources/spilled"),
        "web/strings",
    ],
    "common_crawl": ["sources/common_crawl"],
    "parquet_web": ["sources/parquet_rows"],
    "import": ["sources/search_team/tablefiles"],
    "spark_fits": ["spark/hybrid"],
}

if __name__ == "__main__":
    print(*(HERE / f"test_{name}.py" for name in TESTS), sep="\n")
