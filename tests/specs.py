"""One or more specifications for each registered ordering: what the registry-driven tests run."""

from __future__ import annotations

SPECS = (
    "bfs",
    "dfs",
    "random",
    "oracle",
    "backlink",
    "forward",
    "location",
    "similarity:topic=computer",
    "similarity:topic=computer,parents=off,inner=backlink",
    "similarity:topic=computer,inner=pagerank,every=20",
    "largest-site",
    "opic",
    "fica:k=40",
    "fica:k=40,schedule=inverse",
    "fica:k=40,schedule=power",
    "fica:k=40,schedule=linear",
    "fpr",
    "fpr:m=100",
    "rankmass",
    "rankmass:window=0.05",
    "rankmass:until=0.4",
    "indegree:every=20",
    "pagerank:every=20",
    "combine:backlink=1,location=0.5",
    "combine:similarity=10,similarity.topic=computer,opic=1,fpr=2,fpr.m=20",
)
