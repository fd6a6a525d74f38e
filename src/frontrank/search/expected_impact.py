"""Expected search impact from full score distributions (pandey08, section 4.2).

The sketch of a query holds the pages relevant to it: of a fetched page the score S(p, q), of an unfetched one a
distribution of it. With P(p, q, r) the probability that p has rank r among the pages of the sketch of q,

    E I(p) = sum_q sum_r f(q) V(r) P(p, q, r)

and since expectation is linear, the c pages of highest E I are the best choice of c pages: ``best``.

**Exact**, for independent discrete scores. Given p's own score v, every other page j is above p with a probability h_j of
its own: P(S_j > v), plus P(S_j = v) if j stands before p in the sketch. So **ties go to the page that stands first**. How many
are above is then Poisson-binomial, by the usual recurrence over the other pages; the mean over v gives P(p, q, .).
Cost for n pages with s values in all: O(s n (n + s)), or O(s n (R + s)) when only the first R ranks matter.

**Monte Carlo**, for any independent scores (the paper's own way out): ``sampled_impact``, with its standard error.

Reference: Pandey, Olston: Crawl Ordering by Search Impact, WSDM 2008. The paper leaves ties open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from frontrank.errors import InputError
from frontrank.kernels.jit import Array, compiled, kernel
from frontrank.search.visibility import checked_visibility
from frontrank.web.view import Results, Workload

Sampler = Callable[[np.random.Generator, int], Array]  # that many independent draws of a score
ROUNDING = 1e-9
RIVALS = 50  # unfetched pages of one query whose odds are weighed against each other
SAMPLES_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class Discrete:
    """A score that is not known yet: values with probabilities. Values of probability 0 are dropped."""

    values: Array
    probabilities: Array

    def __post_init__(self) -> None:
        values, probabilities = (np.asarray(given, np.float64) for given in (self.values, self.probabilities))
        if values.ndim != 1 or values.shape != probabilities.shape or not values.size:
            raise InputError(
                f"a score distribution has {values.size} values and {probabilities.size} probabilities; expected one for each"
            )
        if not (np.isfinite(values).all() and np.isfinite(probabilities).all() and (probabilities >= 0).all()):
            raise InputError("a score distribution holds a number that is not finite, or a negative probability")
        if abs(float(probabilities.sum()) - 1) > ROUNDING:
            raise InputError(f"the probabilities of a score distribution sum to {probabilities.sum():.12g}, expected 1")
        object.__setattr__(self, "values", values[probabilities > 0])
        object.__setattr__(self, "probabilities", probabilities[probabilities > 0])


Score = float | Discrete | Sampler


@dataclass(frozen=True, eq=False)
class Sketch:
    """The pages relevant to a query, each with its score: a number if it has been fetched, else a distribution.

    >>> Sketch((4, 7), (0.5, Discrete([0.2, 0.9], [0.5, 0.5]))).unfetched()
    (7,)
    """

    pages: tuple[int, ...]
    scores: tuple[Score, ...]

    def __post_init__(self) -> None:
        if len(self.pages) != len(self.scores):
            raise InputError(f"a sketch has {len(self.pages)} pages and {len(self.scores)} scores; expected one for each")
        if len(set(self.pages)) != len(self.pages) or min(self.pages, default=0) < 0:
            raise InputError("a sketch lists a page twice, or a negative page number; expected distinct page numbers")
        for page, score in zip(self.pages, self.scores, strict=True):
            if not isinstance(score, Discrete) and not callable(score) and not np.isfinite(score):
                raise InputError(f"a sketch gives page {page} the score {score}; expected a finite number or a distribution")

    def unfetched(self) -> tuple[int, ...]:
        uncertain = (isinstance(score, Discrete) or callable(score) for score in self.scores)
        return tuple(page for page, of_it in zip(self.pages, uncertain, strict=True) if of_it)

    def discrete(self) -> list[Discrete]:
        """All scores as discrete distributions; a known score is a point."""
        for page, score in zip(self.pages, self.scores, strict=True):
            if callable(score):
                raise InputError(f"the score of page {page} is a sampler; expected a Discrete score, or use sampled_impact")
        return [s if isinstance(s, Discrete) else Discrete([float(s)], [1.0]) for s in self.scores]  # type: ignore[arg-type]


class Sampled(NamedTuple):
    """A Monte Carlo estimate for each page, and the standard error of each."""

    mean: Array
    error: Array


@kernel
def _above(values: Array, probabilities: Array, begin: int, end: int, score: float, first: bool) -> float:
    """The probability that a page with these values outranks a page with this score; first: it wins a tie."""
    total = 0.0
    for a in range(begin, end):
        if values[a] > score or (first and values[a] == score):
            total += probabilities[a]
    return min(total, 1.0)


@kernel
def _ranks(indptr: Array, values: Array, probabilities: Array, ranks: int, first: int) -> Array:
    """Rank distributions of the pages from the first on. A page whose score is minus infinity is not a result."""
    pages = indptr.size - 1
    found = np.zeros((pages, ranks))
    for p in range(first, pages):
        for a in range(indptr[p], indptr[p + 1]):
            if values[a] == -np.inf:
                continue
            count = np.zeros(ranks)  # count[k]: the probability that k of the pages seen so far are above
            count[0] = 1.0
            for j in range(pages):
                if j == p:
                    continue
                h = _above(values, probabilities, indptr[j], indptr[j + 1], values[a], j < p)
                if h == 0.0:
                    continue
                for k in range(ranks - 1, 0, -1):
                    count[k] = count[k] * (1.0 - h) + count[k - 1] * h
                count[0] *= 1.0 - h
            for k in range(ranks):
                found[p, k] += probabilities[a] * count[k]
    return found


def rank_distribution(sketch: Sketch, ranks: int | None = None) -> Array:
    """P[i, r - 1]: the probability that the i-th page of the sketch has rank r. Ties go to the page that stands first.

    ``ranks`` drops all ranks below that one; the rows then sum to less than 1.

    >>> rank_distribution(Sketch((4, 7), (0.5, Discrete([0.2, 0.9], [0.25, 0.75])))).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    kept = len(sketch.pages) if ranks is None else min(ranks, len(sketch.pages))
    scores = sketch.discrete()
    if not kept:
        return np.zeros((len(scores), 0))
    indptr = np.concatenate([[0], np.cumsum([s.values.size for s in scores])]).astype(np.int64)
    values, probabilities = (np.concatenate([getattr(s, name) for s in scores]) for name in ("values", "probabilities"))
    found: Array = compiled(_ranks)(indptr, values, probabilities, kept, 0)
    return found


def expected_impact(sketches: Sequence[Sketch], frequency: Sequence[float], visibility: Sequence[float] | Array) -> Array:
    """E I(p) of every page up to the largest that a sketch names. visibility[r - 1] is V(r); below it ends, V is 0."""
    f, v = checked(sketches, frequency, visibility)
    impact = np.zeros(page_count(sketches))
    for sketch, weight in zip(sketches, f, strict=True):
        found = rank_distribution(sketch, v.size)
        impact[list(sketch.pages)] += weight * (found @ v[: found.shape[1]])
    return impact


class Outlook(NamedTuple):
    """What unfetched pages may score for each query: rows of a CSR. Values of a leaf are equally likely; 0 is no result."""

    indptr: Array  # int64, one more than queries
    page: Array
    leaf: Array  # which row of values is a page's
    values: Array  # leaves x values


def outlook_impact(workload: Workload, results: Results, outlook: Outlook, pages: int, visibility: Array) -> Array:
    """``expected_impact`` of unfetched pages, for many queries at once.

    Of each query the fetched pages are the results; of more than ``RIVALS`` unfetched ones those count that may score highest:
    the others hardly come to be seen.
    """
    impact = np.zeros(pages)
    parts = tuple(np.asarray(part, np.int64) for part in (outlook.indptr, outlook.page, outlook.leaf))
    known = results.indptr.astype(np.int64), results.score.astype(np.float64)
    values = np.where(outlook.values > 0, outlook.values, -np.inf)
    seen = checked_visibility(visibility)
    compiled(_add_outlook)(np.asarray(workload.frequency, np.float64), known, parts, values, seen, RIVALS, impact)
    return impact


@kernel
def _rivals(begin: int, end: int, leaf: Array, highest: Array, limit: int) -> Array:
    """Places of the unfetched pages that count for a query: all, or those that may score highest."""
    at = np.arange(begin, end)
    if at.size <= limit:
        return at
    negative = np.empty(at.size)
    for i in range(at.size):
        negative[i] = -highest[leaf[at[i]]]
    return np.sort(at[np.argsort(negative, kind="mergesort")[:limit]])


@kernel
def _scores(shown: Array, leaf: Array, values: Array) -> tuple[Array, Array, Array]:
    """Score distributions of the results of a query and of unfetched pages, as rows: indptr, values, probabilities."""
    each = values.shape[1]
    indptr = np.zeros(shown.size + leaf.size + 1, np.int64)
    score = np.empty(shown.size + leaf.size * each)
    odds = np.ones(score.size)
    for i in range(shown.size):
        score[i] = shown[i]
        indptr[i + 1] = i + 1
    for i in range(leaf.size):
        first = shown.size + i * each
        score[first : first + each] = values[leaf[i]]
        odds[first : first + each] = 1.0 / each
        indptr[shown.size + i + 1] = first + each
    return indptr, score, odds


@kernel
def _add_outlook(
    frequency: Array,
    known: tuple[Array, Array],
    waiting: tuple[Array, Array, Array],
    values: Array,
    visibility: Array,
    rivals: int,
    impact: Array,
) -> None:
    ranks = visibility.size
    highest = np.empty(values.shape[0])
    for leaf in range(values.shape[0]):
        highest[leaf] = values[leaf].max()
    for query in range(frequency.size):
        begin, end = waiting[0][query], waiting[0][query + 1]
        if begin == end:
            continue
        at = _rivals(begin, end, waiting[2], highest, rivals)
        shown = min(ranks, known[0][query + 1] - known[0][query])
        indptr, score, odds = _scores(known[1][known[0][query] : known[0][query] + shown], waiting[2][at], values)
        found = _ranks(indptr, score, odds, ranks, shown)
        for i in range(at.size):
            total = 0.0
            for rank in range(ranks):
                total += found[shown + i, rank] * visibility[rank]
            impact[waiting[1][at[i]]] += frequency[query] * total


def sampled_impact(
    sketches: Sequence[Sketch],
    frequency: Sequence[float],
    visibility: Sequence[float] | Array,
    samples: int = 10_000,
    seed: int = 0,
) -> Sampled:
    """The Monte Carlo twin of ``expected_impact``, for any scores that are independent of each other."""
    f, v = checked(sketches, frequency, visibility)
    if samples < 2:
        raise InputError(f"samples must be at least 2, since a standard error needs two, got {samples}")
    mean, variance = np.zeros(page_count(sketches)), np.zeros(page_count(sketches))
    for sketch, weight, rng in zip(sketches, f, np.random.default_rng(seed).spawn(len(sketches)), strict=True):
        total, squares = np.zeros(len(sketch.pages)), np.zeros(len(sketch.pages))
        for begin in range(0, samples, SAMPLES_AT_ONCE):
            seen = _visibility_drawn(sketch, v, min(SAMPLES_AT_ONCE, samples - begin), rng)
            total += seen.sum(axis=0)
            squares += (seen**2).sum(axis=0)
        at = list(sketch.pages)
        mean[at] += weight * total / samples
        spread = np.maximum(squares - total**2 / samples, 0) / (samples - 1)
        variance[at] += weight**2 * spread / samples
    return Sampled(mean, np.sqrt(variance))


def _visibility_drawn(sketch: Sketch, visibility: Array, size: int, rng: np.random.Generator) -> Array:
    """V of the rank of each page (columns), in each of size draws of all scores (rows)."""
    scores = np.empty((size, len(sketch.pages)))
    for i, score in enumerate(sketch.scores):
        if isinstance(score, Discrete):
            share = score.probabilities / score.probabilities.sum()
            scores[:, i] = rng.choice(score.values, size, p=share)
        elif callable(score):
            drawn = np.asarray(score(rng, size), np.float64)
            if drawn.shape != (size,) or not np.isfinite(drawn).all():
                page = sketch.pages[i]
                raise InputError(f"the sampler of page {page} gave shape {drawn.shape}, expected {size} finite scores")
            scores[:, i] = drawn
        else:
            scores[:, i] = score
    return seen_at(scores, visibility)


def seen_at(scores: Array, visibility: Array) -> Array:
    """V of the rank of each score in its row; ties go to the one that stands first."""
    by_rank = np.zeros(scores.shape[1])
    kept = min(visibility.size, by_rank.size)
    by_rank[:kept] = visibility[:kept]
    order = np.argsort(-scores, axis=1, kind="stable")
    seen = np.empty_like(scores)
    np.put_along_axis(seen, order, np.broadcast_to(by_rank, scores.shape), axis=1)
    return seen


def best(c: int, impact: Array, candidates: Iterable[int]) -> list[int]:
    """The c candidates of highest impact, best first; of equals the lower page number. Optimal, by linearity."""
    if c < 0:
        raise InputError(f"c must be 0 pages or more, got {c}")
    return sorted(set(candidates), key=lambda page: (-float(impact[page]), page))[:c]


def page_count(sketches: Sequence[Sketch]) -> int:
    return 1 + max((page for sketch in sketches for page in sketch.pages), default=-1)


def checked(sketches: Sequence[Sketch], frequency: Sequence[float], visibility: Sequence[float] | Array) -> tuple[Array, Array]:
    """Frequencies and visibilities as arrays, once they fit."""
    f, v = np.asarray(frequency, np.float64), np.asarray(visibility, np.float64)
    if f.shape != (len(sketches),) or not (np.isfinite(f) & (f >= 0)).all():
        raise InputError(f"{f.size} frequencies for {len(sketches)} sketches; expected one each, finite and not negative")
    if v.ndim != 1 or not (np.isfinite(v) & (v >= 0)).all() or (np.diff(v) > 0).any():
        raise InputError("visibility must be finite, not negative and never growing with the rank: V(1) >= V(2) >= ...")
    return f, v
