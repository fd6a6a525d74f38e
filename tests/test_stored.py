"""An ordering that was written down, as data or as a specification, is read back as the same ordering."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

import frontrank as fr
from frontrank.errors import FrontrankError, SpecError
from frontrank.orderings.batch.fusion import Fusion
from frontrank.orderings.batch.ml.features import SETS
from frontrank.orderings.batch.ml.learners import LEARNERS
from frontrank.orderings.batch.ml.ml import Ml
from frontrank.orderings.batch.q_hybrid import FITS, QHybrid
from frontrank.orderings.batch.rw import EnrichedWalk
from frontrank.orderings.online.combine import Combine, combined
from frontrank.orderings.online.fica import SCHEDULES, Fica
from frontrank.orderings.online.fpr import FractionalPageRank
from frontrank.orderings.online.opic import STARTS, Opic
from frontrank.orderings.online.oracle import Oracle
from frontrank.orderings.online.prior import Prior
from frontrank.orderings.online.similarity import INNER, Similarity
from frontrank.orderings.policy import Policy
from frontrank.orderings.rank_file import RankFile
from frontrank.orderings.ranker import Periodic, Ranker
from frontrank.orderings.registry import REGISTRY, as_policy, parameters, parse, parse_ranker
from frontrank.orderings.stored import from_data, to_data, trusting
from frontrank.orderings.trust import NO_TRUST, Trust
from frontrank.search.visibility import Visibility
from frontrank.simulation.replayed import Replay
from frontrank.specs import split, write
from tests.specs import SPECS

RANKS = "tests/assets/ranks.tsv"
CHOICES: dict[tuple[type, str], st.SearchStrategy[Any]] = {
    (Fica, "schedule"): st.sampled_from(SCHEDULES),
    (Opic, "start"): st.sampled_from(STARTS),
    (Similarity, "inner"): st.sampled_from(INNER),
    (Similarity, "topic"): st.text(min_size=1).filter(str.strip),
    (Oracle, "truth"): st.sampled_from(["backlink", "similarity:topic=computer,body=5", "0.5*pagerank+2*backlink"]),
    (QHybrid, "fit"): st.sampled_from(FITS),
    (Ml, "learner"): st.sampled_from(list(LEARNERS)),
    (Ml, "features"): st.sampled_from(SETS),
}
BY_KIND: dict[Any, st.SearchStrategy[Any]] = {
    float | str: st.floats(0, 1) | st.floats(allow_nan=False, allow_infinity=False) | st.just("auto"),
    float: st.floats(0, 1) | st.floats(allow_nan=False, allow_infinity=False),
    int: st.integers(0, 8) | st.integers(0, 2**63 - 1),
    bool: st.booleans(),
    str: st.text(),
    Visibility: st.sampled_from(["step", "step:3", "1/r", "1,0.5"]).map(Visibility),
    RankFile: st.just(RANKS).map(RankFile.read),
    Trust: st.sampled_from([NO_TRUST, Trust.read(str(Path(__file__).with_name("assets") / "trust.tsv"))]),
}
PLAIN = [ordering for ordering in REGISTRY.built_in().values() if ordering not in (Combine, Fusion)]


@st.composite
def plain(draw: Any, ordering: type[Any]) -> Any:
    """An ordering with random parameters: those that its own checks refuse keep their defaults."""
    needed = {Similarity: f"similarity:topic={draw(st.sampled_from('ab'))}", Prior: f"prior:file={RANKS}"}
    made = parse(needed[ordering]) if ordering in needed else ordering()
    kinds = parameters(ordering)
    for f in fields(ordering):
        value = draw(CHOICES.get((ordering, f.name), BY_KIND[kinds[f.name][0]]))
        try:
            made = replace(made, **{f.name: value})
        except FrontrankError:
            continue
    return made


def fused(of: tuple[Ranker, ...], k: float = 60.0) -> Fusion:
    try:
        return Fusion(of, k)
    except SpecError:  # parts with two trust files are refused, as they should be
        reject()


RANKERS = st.sampled_from([one for one in PLAIN if issubclass(one, Ranker)]).flatmap(plain)
COMBINED = [one for one in PLAIN if issubclass(one, Policy) and one.combines and one is not Similarity]
WEIGHTED = st.tuples(st.floats(-1e300, 1e300), st.sampled_from(COMBINED).flatmap(plain))
COMBINATIONS = st.lists(WEIGHTED, min_size=1, max_size=4).map(combined)
FUSIONS = st.builds(fused, st.lists(RANKERS, min_size=1, max_size=4).map(tuple), st.floats(1e-9, 1e9))
ANY = st.one_of(
    st.sampled_from(PLAIN).flatmap(plain),
    COMBINATIONS,
    FUSIONS,
    st.builds(fused, st.lists(RANKERS | FUSIONS, min_size=1, max_size=3).map(tuple)),
    st.builds(Combine, COMBINATIONS, COMBINATIONS, st.floats(-9, 9), st.floats(-9, 9)),
    st.builds(Periodic, RANKERS | FUSIONS, st.integers(1, 10**6)),
)


@settings(max_examples=400, deadline=None)
@given(ANY)
def test_data_and_specification_are_read_back_as_the_same_ordering(ordering: Policy | Ranker) -> None:
    assert from_data(json.loads(json.dumps(to_data(ordering)))) == ordering
    read = parse_ranker(ordering.spec()) if isinstance(ordering, Ranker) else parse(ordering.spec())
    assert read == ordering


@given(st.text(alphabet="abc-", min_size=1), st.dictionaries(st.text(alphabet="xyz", min_size=1), st.text()))
def test_any_text_can_be_a_parameter(name: str, pairs: dict[str, str]) -> None:
    assert split(write(name, pairs)) == (name, pairs)


@given(RANKERS | COMBINATIONS)
def test_a_replayed_ordering_is_stored_with_what_it_replays(ordering: Policy | Ranker) -> None:
    replay = Replay(as_policy(ordering))
    assert from_data(json.loads(json.dumps(to_data(replay)))) == replay


def test_two_parts_of_one_name_keep_their_parameters() -> None:
    fused = Fusion((EnrichedWalk(omega=0.3), EnrichedWalk(omega=0.7)))
    assert fused.spec() == "fusion:of=rw-eg+rw-eg#2,rw-eg.omega=0.3,rw-eg#2.omega=0.7,k=60"
    assert parse_ranker("fusion:of=rw-eg+rw-eg#2,rw-eg.omega=0.3,rw-eg#2.omega=0.7") == fused
    both = combined([(1.0, FractionalPageRank()), (0.5, FractionalPageRank(m=100))])
    assert both.spec() == "combine:fpr=1,fpr#2=0.5,fpr#2.m=100"
    assert parse(both.spec()) == both


# As frontrank 0.1 wrote them, in directories of crawls and in reports.
BEFORE: dict[str, dict[str, Any]] = {
    "fpr:d=0.850005,m=1e+06": {"d": 0.850005, "m": 1e6},
    "similarity:topic=new york,body=5,inner=backlink,parents=off": {"topic": "new york", "body": 5, "parents": False},
    "oracle:truth=similarity:topic=computer": {"truth": "similarity:topic=computer"},
    "location:suffix=,word=a=b": {"suffix": "", "word": "a=b"},
    "fica:k=1e6": {"k": 1_000_000},
    "rankmass:epsilon=1e-07,until=0.9": {"epsilon": 1e-7, "until": 0.9},
}


@pytest.mark.parametrize("spec", BEFORE)
def test_specifications_of_earlier_versions_are_read(spec: str) -> None:
    made = parse(spec)
    for name, value in BEFORE[spec].items():
        assert getattr(made, name) == value


@pytest.mark.parametrize("spec", [*SPECS, "fusion:of=rw-eg+rw-eg,rw-eg.omega=0.7,k=60", "rw-eg:omega=0.5,every=20"])
def test_specifications_mean_the_same_once_written_again(spec: str) -> None:
    assert parse(parse(spec).spec()) == parse(spec)


def test_a_fusion_of_earlier_versions_gives_parts_of_one_name_the_same_parameters() -> None:
    made = parse_ranker("fusion:of=rw-eg+rw-eg,rw-eg.omega=0.7,k=60")
    assert made == Fusion((EnrichedWalk(omega=0.7), EnrichedWalk(omega=0.7)))


@dataclass(frozen=True)
class Unnamed(Policy):
    """Unnamed: an ordering that nobody registered."""

    strength: float = 1.0


def test_an_ordering_without_a_name_is_found_by_its_module() -> None:
    data = to_data(Unnamed(0.3))
    assert data == {"name": "tests.test_stored:Unnamed", "fields": {"strength": 0.3}}
    assert from_data(data) == Unnamed(0.3)
    assert Unnamed(0.3).spec() == "tests.test_stored:Unnamed:strength=0.3"
    assert parse(Unnamed(0.3).spec()) == Unnamed(0.3)


@pytest.mark.parametrize(
    "policy",
    [FractionalPageRank(d=0.8500049), Similarity(topic="new york, ny"), Fica(k=2**53 + 1), Unnamed(1e-17)],
    ids=lambda policy: type(policy).__name__,
)
def test_a_crawl_is_resumed_with_the_very_policy_it_was_started_with(policy: Policy, tmp_path: Path) -> None:
    with fr.Crawl(policy, tmp_path / "crawl") as crawl:
        crawl.seed(["http://a/"])
    with fr.Crawl.recover(tmp_path / "crawl") as again:
        assert again.state.policy == policy


def test_a_crawl_by_a_class_of_a_function_goes_on_if_the_ordering_is_given(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Local(Policy):
        """Local: gone when the function ends."""

        strength: float = 1.0

    with fr.Crawl(Local(0.3), tmp_path / "crawl") as crawl:
        crawl.seed(["http://a/"])
    with fr.Crawl.recover(tmp_path / "crawl", Local(0.3)) as again:
        assert again.take() == ["http://a/"]
    with pytest.raises(fr.FrontrankError, match=r"was started with .*Local:strength=0.3, .*Local:strength=0.7 given"):
        fr.Crawl.recover(tmp_path / "crawl", Local(0.7))
    with pytest.raises(fr.FrontrankError, match="give the ordering itself"):
        fr.Crawl.recover(tmp_path / "crawl")
    with fr.Crawl.recover(tmp_path / "crawl", parse("bfs"), rescore=True) as other:
        assert other.state.policy == parse("bfs")


def test_a_class_of_a_function_says_that_it_cannot_be_found() -> None:
    @dataclass(frozen=True)
    class Local(Policy):
        """Local: gone when the function ends."""

    with pytest.raises(SpecError, match="give the ordering itself"):
        from_data(to_data(Local()))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"name": "fpr"}, "a stored ordering must be"),
        ({"name": "fprr", "fields": {}}, "did you mean 'fpr'"),
        ({"name": "fpr", "fields": {"x": 1}}, "no field 'x'"),
        ({"name": "fpr", "fields": {"d": "much"}}, "stored ordering fpr"),
        ({"name": "fpr", "fields": {"d": 2.0}}, "d must be .* got 2.0"),
        ({"name": "math:pi", "fields": {}}, "must name a subclass of Policy or Ranker"),
        ({"name": "no.such.module:Thing", "fields": {}}, "no module 'no.such.module'"),
        ({"name": "tests.test_stored:Unamed", "fields": {}}, "did you mean 'Unnamed'"),
    ],
)
def test_damaged_data_is_refused_with_a_sentence(data: Any, says: str) -> None:
    with trusting(), pytest.raises(SpecError, match=says):
        from_data(data)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ('similarity:topic="new york', '"TEXT"'),
        ('similarity:topic="new" york', '"TEXT"'),
        ("fpr:m=1,", "must be KEY=VALUE"),
        ("fpr:m", "must be KEY=VALUE"),
        ("fpr:m=1,m=2", "given twice"),
        ("fica:k=9223372036854775808", "64 bits"),
        ("fica:alpha=1.5", "alpha must be a number from 0 to 1, 0 for the schedule, got 1.5"),
        ("opic:start=al", "unknown start 'al'; did you mean 'all'"),
        ('similarity:query="?!"', "query must have at least one word"),
        ("similarity:query=a b,hot=3", "hot goes with a query of one word, got 'a b'"),
        ("similarity:query=a,topic=b", "both query and topic were given"),
        ("similarity", "no topic given"),
        ("tests.test_stored:Unnamed:strenth=2", "did you mean 'strength'"),
        ("combine:fpr=1,opic.x=2", "'opic' is not a part"),
    ],
)
def test_what_is_no_specification(spec: str, says: str) -> None:
    with pytest.raises(SpecError, match=says):
        parse(spec)


def test_an_ordering_is_taken_in_any_form() -> None:
    web = fr.Web.from_edges([0, 0, 1], [1, 2, 2], pages=3)
    assert as_policy(EnrichedWalk()) == parse("rw-eg")
    assert [run.spec for run in fr.compare(web, "bfs", seeds=[0])] == ["bfs"]
    assert [run.spec for run in fr.compare(web, FractionalPageRank(), seeds=[0])] == ["fpr"]
    with pytest.raises(SpecError, match=r"write FractionalPageRank\(\)"):
        as_policy(FractionalPageRank)
    with pytest.raises(SpecError, match="an ordering must be"):
        as_policy(7)
