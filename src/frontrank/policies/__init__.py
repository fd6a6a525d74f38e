"""Online orderings, one file each."""

from __future__ import annotations

from frontrank.policies.backlink import Backlink
from frontrank.policies.bfs import BreadthFirst
from frontrank.policies.combine import Combine
from frontrank.policies.dfs import DepthFirst
from frontrank.policies.fica import Fica
from frontrank.policies.forward import Forward
from frontrank.policies.fpr import FractionalPageRank
from frontrank.policies.largest_site import LargestSite
from frontrank.policies.location import Location
from frontrank.policies.opic import Opic
from frontrank.policies.oracle import Oracle
from frontrank.policies.random import Random
from frontrank.policies.rankmass import RankMass
from frontrank.policies.similarity import Similarity
from frontrank.policy import Policy

POLICIES: tuple[type[Policy], ...] = (
    BreadthFirst,
    DepthFirst,
    Random,
    Oracle,
    Backlink,
    Forward,
    Location,
    Similarity,
    LargestSite,
    Opic,
    Fica,
    FractionalPageRank,
    RankMass,
    Combine,
)
