"""Small webs that tests generate: random links, hosts, URLs, texts and anchors, all deterministic."""

from __future__ import annotations

from typing import Any

import numpy as np

from frontrank.web.web import Web


def random_web(pages: int = 60, links: int = 300, seed: int = 0, hosts: int = 6, topic: str = "computer") -> Web:
    """A web that knows everything an ordering can ask for."""
    draw = np.random.default_rng(seed)
    source, target = draw.integers(0, pages, links), (pages * draw.random(links) ** 2).astype(int)
    host = np.sort(draw.integers(0, hosts, pages)).astype(np.int32)
    depth = draw.integers(0, 4, pages)
    urls = [f"http://h{host[p]}.{'com' if host[p] % 2 else 'org'}/" + "d/" * depth[p] + str(p) for p in range(pages)]
    some = draw.random(pages)
    titles = [topic.title() if some[p] < 0.1 else "" for p in range(pages)]
    texts = [f"{topic} " * (10 if 0.1 <= some[p] < 0.2 else 2) for p in range(pages)]
    anchors = [f"a {topic.upper()} shop" if x < 0.05 else "more" for x in draw.random(links)]
    names = [f"h{h}" for h in range(hosts)]
    columns: dict[str, Any] = {"hosts": host, "host_names": names, "urls": urls, "titles": titles, "texts": texts}
    return Web.from_edges(source, target, pages, anchors=anchors, **columns)


def rows_of(web: Web) -> list[list[int]]:
    return [web.targets_of(p).tolist() for p in range(web.pages)]
