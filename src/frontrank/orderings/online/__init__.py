"""Online orderings, one file each."""

from __future__ import annotations

from frontrank.orderings.online.backlink import Backlink
from frontrank.orderings.online.bfs import BreadthFirst
from frontrank.orderings.online.combine import Combine
from frontrank.orderings.online.dfs import DepthFirst
from frontrank.orderings.online.domains import Domains
from frontrank.orderings.online.fica import Fica
from frontrank.orderings.online.forward import Forward
from frontrank.orderings.online.fpr import FractionalPageRank
from frontrank.orderings.online.group import Group
from frontrank.orderings.online.largest_site import LargestSite
from frontrank.orderings.online.location import Location
from frontrank.orderings.online.opic import Opic
from frontrank.orderings.online.oracle import Oracle
from frontrank.orderings.online.prior import Prior
from frontrank.orderings.online.quality import Quality
from frontrank.orderings.online.random import Random
from frontrank.orderings.online.rankmass import RankMass
from frontrank.orderings.online.similarity import Similarity
from frontrank.orderings.online.surf import Surf
from frontrank.orderings.policy import Policy

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
    Surf,
    Domains,
    Quality,
    Group,
    Prior,
    Combine,
)
