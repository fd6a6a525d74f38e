"""Web: a known web to simulate on. Frozen; ``web.has`` says which optional columns it has.

Links are kept by source page (CSR): the targets of page p are ``targets[indptr[p]:indptr[p + 1]]``, distinct, without p itself,
in the order in which they are on the page. Every source brings its links into this form with ``tidy``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from frontrank.errors import InputError, SeedError, SourceError
from frontrank.kernels.jit import Array
from frontrank.pages.urls import canonical, host_of
from frontrank.web.dates import SeenOn
from frontrank.web.links import MAX_PAGES, NO_VALUES, Links, by_source, check_pages, check_rows, tidy
from frontrank.web.strings import Texts

if TYPE_CHECKING:
    from frontrank.web.exchange import WebTables

IMPACTS = ("views", "clicks")
MAX_IN_TABLE = 5_000_000  # URLs that are made Python objects to look one up


@dataclass(frozen=True, eq=False, repr=False)
class Web:
    """Links (CSR) and whatever else is known of each page.

    >>> web = Web.from_edges([0, 0, 1, 0], [1, 2, 2, 1], pages=3)
    >>> web.pages, web.links, web.targets_of(0).tolist()
    (3, 3, [1, 2])
    """

    indptr: Array
    targets: Array
    hosts: Array | None = None
    host_names: Sequence[str] | None = None
    urls: Sequence[str] | None = None
    titles: Sequence[str] | None = None
    texts: Sequence[str] | None = None
    anchors: Sequence[str] | None = None  # one for each link, beside targets; several on one page are joined by a blank
    ids: Array | None = None  # the source's own page numbers, where they are not 0 .. pages - 1
    seeds: Array | None = None
    views: Array | None = None  # how often searchers were shown a page
    clicks: Array | None = None  # how often they clicked on it
    impact_by: str = ""  # which of the two counts as impact, "views" or "clicks"; without it views, where they are known
    queries: Any = None  # what searchers ask: a frontrank.web.view.Workload
    seen_on: SeenOn | None = None  # when searchers clicked on pages or were shown them, where that is known
    name: str = "web"
    source: str = ""  # what it was loaded from, to load it again
    crawled_with: str = ""  # of what a live crawl fetched: its ordering
    fetched: int | None = None  # of a live crawl: the first so many pages are fetched, in this order; the others wait
    # Importance vectors, lookups: derived from the columns, so a web with other columns (``replace``) starts without.
    cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    COLUMNS = ("hosts", "urls", "titles", "texts", "anchors", "seeds", "ids", "views", "clicks")

    def __post_init__(self) -> None:
        self._check_columns()
        if self.pages == 0:
            raise SourceError(f"{self.name}: the web has no pages; a web needs at least one")
        if self.pages > MAX_PAGES:
            raise SourceError(f"{self.name}: {self.pages:,} pages given, at most {MAX_PAGES:,} fit in memory here")
        for column in ("hosts", "urls", "titles", "texts", "ids", "views", "clicks"):
            value = getattr(self, column)
            if value is not None and len(value) != self.pages:
                raise SourceError(f"{self.name}: {len(value):,} {column} for {self.pages:,} pages, expected one each")
        if self.anchors is not None and len(self.anchors) != self.links:
            raise SourceError(f"{self.name}: {len(self.anchors):,} anchors for {self.links:,} links; expected one each")
        self._check_numbers()

    def _check_columns(self) -> None:
        """Arrays where numbers are expected, sequences where texts are: one text is not taken for its letters."""
        for column in ("indptr", "targets", "hosts", "seeds", "views", "clicks", "ids"):
            value = getattr(self, column)
            if value is not None and not isinstance(value, np.ndarray):
                value = np.asarray(value)
                object.__setattr__(self, column, value)
            if value is not None and value.ndim != 1:
                raise SourceError(f"{self.name}: {column} must be an array of numbers, got {value.ndim} dimensions")
        if self.indptr is None or self.targets is None or self.indptr.size == 0 or self.indptr.dtype.kind not in "iu":
            raise SourceError(f"{self.name}: indptr and targets must be arrays of whole numbers, with one more row than pages")
        for column in ("host_names", "urls", "titles", "texts", "anchors"):
            value = getattr(self, column)
            if value is not None and (isinstance(value, str | bytes) or not hasattr(value, "__len__")):
                raise SourceError(f"{self.name}: {column} must be a list of texts, got {value!r}")

    def _check_numbers(self) -> None:
        """Kernels trust them. What is mapped from a file was checked when it was opened, and is not read through again."""
        if not isinstance(self.targets, np.memmap):
            check_rows(self.indptr, self.targets, self.name)
        if self.seeds is not None:
            check_pages(self.seeds, self.pages, f"{self.name}: a seed")
        hosts = self.hosts if not isinstance(self.hosts, np.memmap) else None
        if hosts is not None and (hosts.dtype.kind not in "iu" or not 0 <= int(hosts.min()) <= int(hosts.max()) < MAX_PAGES):
            raise SourceError(f"{self.name}: hosts must be whole numbers from 0, one for each page; their names are host_names")
        for column in IMPACTS:
            value = getattr(self, column)
            if value is not None and not (value.dtype.kind in "iuf" and np.all(np.isfinite(value)) and value.min() >= 0):
                raise SourceError(f"{self.name}: {column} must be finite numbers from 0, one for each page")

    def __repr__(self) -> str:
        present = [column for column in self.COLUMNS if self.has(column)]
        return f"<Web {self.name}: {self.pages:,} pages, {self.links:,} links{''.join(f', {column}' for column in present)}>"

    @property
    def pages(self) -> int:
        return len(self.indptr) - 1

    @property
    def links(self) -> int:
        return len(self.targets)

    def has(self, column: str) -> bool:
        """Whether this web knows one of its columns: hosts, urls, titles, texts, anchors, seeds, ids, views, clicks."""
        if column not in self.COLUMNS:
            raise InputError(f"a web has no column {column!r}; its columns are {', '.join(self.COLUMNS)}")
        return getattr(self, column) is not None

    def targets_of(self, page: int) -> Array:
        return self.targets[self.indptr[page] : self.indptr[page + 1]]

    @classmethod
    def checked(cls, web: Any) -> Web:
        """The same, which must be a web: InputError where somebody gave something else."""
        if not isinstance(web, cls):
            raise InputError(f"web must be a Web, such as load('synthetic:pages=1000') gives, got {web!r}")
        return web

    @property
    def impact(self) -> Array | None:
        """What searchers made of each page: what ``impact_by`` names, else views, else clicks, else unknown."""
        named: Array | None = getattr(self, self.impact_by) if self.impact_by else None
        if named is not None:
            return named
        return self.views if self.views is not None else self.clicks

    def by_impact(self, named: str | None) -> Web:
        """The same web, of which views or clicks count as impact; None leaves it as it is."""
        if named is None:
            return self
        if named not in IMPACTS:
            raise InputError(f"impact must be views or clicks, got {named!r}")
        if getattr(self, named) is None:
            raise InputError(f"{self.name} knows no {named}; give a web with {named} of its pages, or drop impact")
        return replace(self, impact_by=named)

    def rows(self, value: Array = NO_VALUES) -> Links:
        """The links as kernels see them; nothing is copied."""
        return Links(self.indptr[:-1], self.indptr[1:], self.targets, value)

    def out_degree(self) -> Array:
        return np.diff(self.indptr)

    def page_of(self, name: str) -> int:
        """The page with this id or URL (the first, where several have it)."""
        name = name.strip()
        if name.lstrip("-").isdigit():
            return self._page_of_id(int(name))
        if self.urls is None:
            raise SeedError(f"{name!r} is a URL, but {self.name} knows no URLs; give node ids")
        page = self._page_of_url(name)
        if page < 0:
            raise SeedError(f"{name!r} is not a page of {self.name}")
        return page

    def name_of(self, page: int) -> str:
        """What a person calls this page: its URL, or its id."""
        if self.urls is not None:
            return self.urls[page]
        return str(page if self.ids is None else self.ids[page])

    def ids_of(self, pages: Array) -> Array:
        """The source's own ids of these pages, as int64."""
        wide = np.asarray(pages, np.int64)
        return wide if self.ids is None else self.ids[wide]

    def _page_of_id(self, given: int) -> int:
        if self.ids is not None:
            at = self._by_id()
            where = int(np.searchsorted(self.ids[at], given))
            if where < self.pages and int(self.ids[at[where]]) == given:
                return int(at[where])
        elif 0 <= given < self.pages:
            return given
        expected = "an id of the source file" if self.ids is not None else f"0 to {self.pages - 1}"
        raise SeedError(f"{given} is not a page of {self.name}; its node ids are {expected}")

    def _by_id(self) -> Array:
        if "by_id" not in self.cache:
            self.cache["by_id"] = np.argsort(self.ids)  # type: ignore[arg-type]
        found: Array = self.cache["by_id"]
        return found

    def _page_of_url(self, name: str) -> int:
        """The first page with this URL, then with its canonical form, then whose own canonical form it is; or -1."""
        if isinstance(self.urls, Texts):  # searched where they lie: a table of millions would be Python objects
            for url in (name, canonical(name)):
                if (page := self.urls.find(url)) >= 0:
                    return page
            if self.pages > MAX_IN_TABLE:
                return -1
        table = self._by_url()
        return table.get(name, table.get(canonical(name), -1))

    def _by_url(self) -> dict[str, int]:
        if "by_url" not in self.cache:
            assert self.urls is not None
            table: dict[str, int] = {}
            for page, url in enumerate(self.urls):
                table.setdefault(url, page)
            for page, url in enumerate(self.urls):
                table.setdefault(canonical(url), page)
            self.cache["by_url"] = table
        found: dict[str, int] = self.cache["by_url"]
        return found

    @classmethod
    def from_edges(cls, source: Any, target: Any, pages: int, **columns: Any) -> Web:
        """A web from parallel arrays of source and target pages, in any order; doubles and self-links are dropped.

        Memory beside the arguments (8 bytes per link as int32) and the web (4): 8 bytes per page; anchors cost 16 per link.
        """
        anchors = columns.pop("anchors", None)
        if not (isinstance(pages, int | np.integer) and 0 <= pages <= MAX_PAGES):
            raise InputError(f"pages must be a whole number from 0 to {MAX_PAGES:,}, got {pages!r}")
        for numbers, what in ((source, "source page"), (target, "target page")):
            check_pages(np.asarray(numbers), pages, what)
        src, dst = np.asarray(source, np.int32), np.asarray(target, np.int32)
        if len(src) != len(dst):
            raise InputError(f"every link needs a source and a target page, got {len(src):,} sources and {len(dst):,} targets")
        indptr, targets, at = by_source(src, dst, pages, places=anchors is not None)
        indptr, targets, keep = tidy(indptr, targets, places=anchors is not None)
        if anchors is not None:
            columns["anchors"] = _joined(anchors, at, keep, len(targets))
        return cls(indptr, targets, **columns)

    @classmethod
    def from_networkx(cls, graph: Any, **columns: Any) -> Web:
        """A web from a networkx graph: nodes are pages, whole numbers or URLs; see ``frontrank.web.exchange``."""
        from frontrank.web.exchange import from_networkx

        return from_networkx(graph, **columns)

    @classmethod
    def from_scipy(cls, matrix: Any, **columns: Any) -> Web:
        """A web from a square sparse matrix (or an array): what is not 0 in row p and column q is a link from p to q."""
        from frontrank.web.exchange import from_scipy

        return from_scipy(matrix, **columns)

    @classmethod
    def from_pandas(cls, edges: Any, pages: Any = None, **columns: Any) -> Web:
        """A web from tables: of links (source, target, perhaps anchor) and of pages (id or url, perhaps title, text, ...)."""
        from frontrank.web.exchange import from_pandas

        return from_pandas(edges, pages, **columns)

    def to_networkx(self) -> Any:
        """A networkx DiGraph; nodes are called by URL, else by id."""
        from frontrank.web.exchange import to_networkx

        return to_networkx(self)

    def to_scipy(self) -> Any:
        """A scipy CSR array: 1 in row p and column q for a link from p to q."""
        from frontrank.web.exchange import to_scipy

        return to_scipy(self)

    def to_pandas(self) -> WebTables:
        """Two DataFrames of pandas: ``.links`` and ``.pages``."""
        from frontrank.web.exchange import to_pandas

        return to_pandas(self)

    def to_polars(self) -> WebTables:
        """Two DataFrames of Polars: ``.links`` and ``.pages``."""
        from frontrank.web.exchange import to_polars

        return to_polars(self)

    def to_arrow(self) -> WebTables:
        """Two tables of pyarrow: ``.links`` and ``.pages``."""
        from frontrank.web.exchange import to_arrow

        return to_arrow(self)


def _joined(anchors: Sequence[str], at: Array, keep: Array, links: int) -> list[str]:
    """The anchors of each kept link: all that stood on the page for the same target, in their order."""
    joined = [""] * links
    for given, kept in zip(at.tolist(), keep.tolist(), strict=True):
        text = anchors[given]
        if kept >= 0 and text:
            joined[kept] = f"{joined[kept]} {text}" if joined[kept] else text
    return joined


def hosts_from_urls(urls: Sequence[str]) -> tuple[Array, list[str]]:
    """Host numbers in order of first appearance, and their names."""
    return numbered(map(host_of, urls))


def numbered(names: Iterable[str]) -> tuple[Array, list[str]]:
    """The numbers of names, in order of first appearance, and these names.

    >>> numbers, names = numbered(["b", "a", "b"])
    >>> numbers.tolist(), names
    ([0, 1, 0], ['b', 'a'])
    """
    table: dict[str, int] = {}
    return np.fromiter((table.setdefault(name, len(table)) for name in names), np.int32), list(table)
