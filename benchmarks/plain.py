"""The baseline: what a person writes first. Dicts of lists, heapq with entries left behind when a key changes."""

from __future__ import annotations

import math
from collections import deque
from heapq import heappop, heappush

Rows = dict[int, list[int]]


def bfs(rows: Rows, seeds: list[int]) -> list[int]:
    seen, queue, order = set(seeds), deque(seeds), []
    while queue:
        p = queue.popleft()
        order.append(p)
        for q in rows[p]:
            if q not in seen:
                seen.add(q)
                queue.append(q)
    return order


def backlink(rows: Rows, seeds: list[int]) -> list[int]:
    count = dict.fromkeys(seeds, 0)
    number = {p: i for i, p in enumerate(seeds)}
    heap = [(0, i, p) for i, p in enumerate(seeds)]
    fetched: set[int] = set()
    order = []
    while heap:
        _, _, p = heappop(heap)
        if p in fetched:
            continue
        fetched.add(p)
        order.append(p)
        for q in rows[p]:
            if q not in fetched:
                if q not in number:
                    number[q] = len(number)
                    count[q] = 0
                count[q] += 1
                heappush(heap, (-count[q], number[q], q))
    return order


def opic(rows: Rows, seeds: list[int]) -> list[int]:
    cash = dict.fromkeys(seeds, 1 / len(seeds))
    number = {p: i for i, p in enumerate(seeds)}
    heap = [(-cash[p], i, p) for i, p in enumerate(seeds)]
    fetched: set[int] = set()
    order = []
    while heap:
        _, _, p = heappop(heap)
        if p in fetched:
            continue
        fetched.add(p)
        order.append(p)
        links = rows[p]
        if links:
            share = cash[p] / len(links)
            cash[p] = 0.0
            for q in links:
                if q not in number:
                    number[q] = len(number)
                    cash[q] = 0.0
                cash[q] += share
                if q not in fetched:
                    heappush(heap, (-cash[q], number[q], q))
    return order


def fica(rows: Rows, seeds: list[int], k: int = 250_000, beta: float = 0.1) -> list[int]:
    distance = dict.fromkeys(seeds, 0.0)
    number = {p: i for i, p in enumerate(seeds)}
    heap = [(0.0, i, p) for i, p in enumerate(seeds)]
    fetched: set[int] = set()
    order = []
    while heap:
        _, _, p = heappop(heap)
        if p in fetched:
            continue
        fetched.add(p)
        order.append(p)
        links = rows[p]
        if links:
            a = math.exp(-beta * (len(order) // k))
            d = a * math.log10(len(links)) + (1 - a) * distance[p]
            for q in links:
                if q not in fetched and d < distance.get(q, math.inf):
                    if q not in number:
                        number[q] = len(number)
                    distance[q] = d
                    heappush(heap, (d, number[q], q))
    return order


def fpr(rows: Rows, seeds: list[int], d: float = 0.85) -> list[int]:
    f = dict.fromkeys(seeds, (1.0 - d) * (1.0 / len(seeds)))
    number = {p: i for i, p in enumerate(seeds)}
    heap = [(-f[p], i, p) for i, p in enumerate(seeds)]
    fetched: set[int] = set()
    order = []
    while heap:
        _, _, p = heappop(heap)
        if p in fetched:
            continue
        fetched.add(p)
        order.append(p)
        links = rows[p]
        if links:
            share = d * f[p] / len(links)
            for q in links:
                if q not in fetched:
                    if q not in number:
                        number[q] = len(number)
                        f[q] = 0.0
                    f[q] += share
                    heappush(heap, (-f[q], number[q], q))
    return order


ORDERINGS = {"bfs": bfs, "backlink": backlink, "opic": opic, "fica": fica, "fpr": fpr}
