"""Webs from and to the graphs of other libraries: networkx, scipy, pandas, Polars, Arrow. None of them is
needed unless it is asked for.

Names of nodes: whole numbers become ``ids`` (none are kept if they are 0 .. n - 1 in order; 2.0 is one, as tables write 2 where
another row is empty), anything else becomes ``urls``, with ``hosts`` if every one has a host. On the way back a node is called
by its URL, else its id, else its number; where several pages share a URL by its number, and the URL is an attribute.

Attributes of nodes (columns of a table of pages): url, title, text, host, views, clicks; of links: anchor. An attribute that
only some nodes have is "" or 0 for the others. Links keep their order on the page; self-links and doubles are dropped, as in
every web.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.pages.urls import host_of
from frontrank.system.lazy import Lazy, pa, pd, pl, sparse
from frontrank.web.web import Web, hosts_from_urls, numbered

networkx: Any = Lazy("networkx")
STRINGS = {"url": "urls", "title": "titles", "text": "texts"}  # attribute: column
NUMBERS = ("views", "clicks")


def from_networkx(graph: Any, **columns: Any) -> Web:
    if not all(hasattr(graph, name) for name in ("nodes", "edges", "is_directed")):
        raise InputError(f"graph must be one of networkx, got {graph!r}")
    names = list(graph.nodes)
    number = {name: page for page, name in enumerate(names)}
    edges = [(number[a], number[b], data) for a, b, data in graph.edges(data=True)]
    if not graph.is_directed():
        edges += [(b, a, data) for a, b, data in edges]
    if any("anchor" in data for _, _, data in edges):
        columns.setdefault("anchors", [str(data.get("anchor", "")) for _, _, data in edges])
    attributes = [graph.nodes[name] for name in names]
    by_name = {
        key: [of.get(key) for of in attributes] for key in (*STRINGS, "host", *NUMBERS) if any(key in of for of in attributes)
    }
    source, target = ([edge[end] for edge in edges] for end in (0, 1))
    return Web.from_edges(source, target, len(names), **{"name": graph.name or "graph", **_columns(names, by_name), **columns})


def to_networkx(web: Web) -> Any:
    graph = networkx.DiGraph(name=web.name)
    names, by_name = _named(web)
    for page, name in enumerate(names):
        graph.add_node(name, **{key: values[page] for key, values in by_name.items()})
    anchors = web.anchors if web.anchors is not None else [None] * web.links
    for (source, target), anchor in zip(_links(web), anchors, strict=True):
        graph.add_edge(names[source], names[target], **({} if anchor is None else {"anchor": anchor}))
    return graph


def from_scipy(matrix: Any, **columns: Any) -> Web:
    try:
        links = sparse.csr_array(matrix)
    except (TypeError, ValueError) as error:
        raise InputError(f"the matrix must be one of scipy or an array of numbers, got {matrix!r} ({error})") from None
    if links.ndim != 2 or links.shape[0] != links.shape[1]:
        raise InputError(f"the matrix must be square, a row and a column for each page, got shape {links.shape}")
    kept = links.data != 0
    source = np.repeat(np.arange(links.shape[0], dtype=np.int32), np.diff(links.indptr))
    return Web.from_edges(source[kept], links.indices[kept], links.shape[0], **columns)


def to_scipy(web: Web) -> Any:
    return sparse.csr_array((np.ones(web.links), web.targets.copy(), web.indptr.copy()), shape=(web.pages, web.pages))


def from_pandas(edges: Any, pages: Any = None, **columns: Any) -> Web:
    for table in (edges,) if pages is None else (edges, pages):
        if not hasattr(table, "columns"):
            raise InputError(f"links and pages must be tables of pandas, got {table!r}")
        if len(set(table.columns)) != len(table.columns):
            raise InputError(f"a table must have each column once, got {', '.join(map(str, table.columns))}")
    source, target = _ends(edges)
    names: list[Hashable] = []
    by_name: dict[str, list[Any]] = {}
    if pages is not None:
        if not len(pages.columns):
            raise InputError("the table of pages must have a column id or url, got no columns")
        key = next((name for name in ("id", "url") if name in pages.columns), pages.columns[0])
        if key != "url" and key in (*STRINGS, "host", *NUMBERS):
            raise InputError(f"the table of pages must have a column id or url, got {', '.join(map(str, pages.columns))}")
        names = pages[key].tolist()
        if len(set(names)) != len(names):
            raise InputError(f"column {key!r} of the pages names a page twice; expected each page once")
        by_name = {name: pages[name].tolist() for name in (*STRINGS, "host", *NUMBERS) if name in pages.columns and name != key}
    number = {name: page for page, name in enumerate(names)}
    for one, other in zip(source, target, strict=True):
        for name in (one, other):
            if number.setdefault(name, len(number)) == len(names):
                names.append(name)
    by_name = {key: [*values, *[None] * (len(names) - len(values))] for key, values in by_name.items()}
    if "anchor" in edges.columns:
        columns.setdefault("anchors", ["" if _missing(text) else str(text) for text in edges["anchor"]])
    sources, targets = ([number[name] for name in side] for side in (source, target))
    return Web.from_edges(sources, targets, len(names), **{**_columns(names, by_name), **columns})


class WebTables(NamedTuple):
    """A web as two tables: of links (source, target, perhaps anchor), and of pages (url or id, and what is known of them)."""

    links: Any
    pages: Any


def to_pandas(web: Web) -> WebTables:
    return WebTables(*map(pd.DataFrame, _tables(web)))


def to_polars(web: Web) -> WebTables:
    return WebTables(*map(pl.from_arrow, to_arrow(web)))


def to_arrow(web: Web) -> WebTables:
    links, pages = _tables(web)
    key = next(iter(pages))
    kind = pa.int64() if key == "id" else pa.string()
    kinds = {"source": kind, "target": kind, key: kind, **dict.fromkeys(NUMBERS, pa.float64())}
    tables = ({name: pa.array(values, kinds.get(name, pa.string())) for name, values in one.items()} for one in (links, pages))
    return WebTables(*map(pa.table, tables))


def _tables(web: Web) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """Columns of links, and of pages."""
    names, by_name = _named(web)
    ends = np.array(names, object)
    sources = np.repeat(np.arange(web.pages), web.out_degree())
    links: dict[str, Any] = {"source": ends[sources].tolist(), "target": ends[web.targets].tolist()}
    if web.anchors is not None:
        links["anchor"] = list(web.anchors)
    key = "url" if web.urls is not None and "url" not in by_name else "id"
    return links, {key: names, **by_name}


def _ends(edges: Any) -> tuple[list[Hashable], list[Hashable]]:
    if len(edges.columns) < 2:
        raise InputError(f"the table of links must have two columns, source and target, got {len(edges.columns)}")
    named = {"source", "target"} <= set(edges.columns)
    ends = ("source", "target") if named else tuple(edges.columns[:2])
    if edges[list(ends)].isna().to_numpy().any():
        raise InputError("every link needs a source and a target, got a row without")
    return edges[ends[0]].tolist(), edges[ends[1]].tolist()


def _columns(names: Sequence[Hashable], by_name: Mapping[str, list[Any]]) -> dict[str, Any]:
    """The columns of a web whose pages have these names and attributes."""
    columns: dict[str, Any] = {}
    if all(map(_is_whole, names)):
        ids = np.array([_id(name) for name in names], np.int64)
        if not np.array_equal(ids, np.arange(len(names))):
            columns["ids"] = ids
    else:
        columns["urls"] = [str(name) for name in names]
    for key, values in by_name.items():
        if key in STRINGS:
            columns[STRINGS[key]] = ["" if _missing(value) else str(value) for value in values]
        elif key in NUMBERS:
            columns[key] = np.array([0.0 if _missing(value) else _number(value, key) for value in values])
    hosts = by_name.get("host")
    if hosts is not None:
        columns["hosts"], columns["host_names"] = numbered(["" if _missing(host) else str(host) for host in hosts])
    elif "urls" in columns and all(map(host_of, columns["urls"])):
        columns["hosts"], columns["host_names"] = hosts_from_urls(columns["urls"])
    return columns


def _is_whole(name: Hashable) -> bool:
    return (isinstance(name, int | np.integer) and not isinstance(name, bool)) or (
        isinstance(name, float) and name.is_integer()
    )


def _id(name: Any) -> int:
    if abs(name) >= 2**63:
        raise InputError(f"a page that is called by a number must have one below 2**63, got {name}; call it by a text")
    return int(name)


def _number(value: Any, key: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"{key} of a page must be a number, got {value!r}") from None


def _missing(value: Any) -> bool:
    return value is None or value != value  # nan, which tables have for nothing


def _named(web: Web) -> tuple[list[Any], dict[str, list[Any]]]:
    """What each page is called, and its attributes."""
    by_name: dict[str, list[Any]] = {}
    names: list[Any] = list(range(web.pages)) if web.ids is None else web.ids.tolist()
    if web.urls is not None:
        urls = list(web.urls)
        if len(set(urls)) == len(urls):
            names = urls
        else:
            names, by_name["url"] = list(range(web.pages)), urls
    for key in ("title", "text"):
        strings = getattr(web, STRINGS[key])
        if strings is not None:
            by_name[key] = list(strings)
    if web.hosts is not None:
        named = web.host_names
        by_name["host"] = [str(host) if named is None else named[host] for host in web.hosts.tolist()]
    for key in NUMBERS:
        if web.has(key):
            by_name[key] = getattr(web, key).tolist()
    return names, by_name


def _links(web: Web) -> Iterable[tuple[int, int]]:
    sources = np.repeat(np.arange(web.pages), web.out_degree())
    return zip(sources.tolist(), web.targets.tolist(), strict=True)
