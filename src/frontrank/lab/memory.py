"""How many crawls of a comparison run at a time: as many as cores and memory allow."""

from __future__ import annotations

from frontrank.errors import InputError
from frontrank.kernels.threads import cores
from frontrank.simulation.plan import Plan
from frontrank.system.capacity import SMALL, free_memory, gb
from frontrank.web.web import Web


def fitting_jobs(web: Web, plan: Plan, asked: int | None = None) -> int:
    """As many as are asked for, else as fit.

    InputError if one of them alone, or so many as are asked for, take more memory than there is: said before the work.
    """
    if asked is not None and (not isinstance(asked, int) or asked < 1):
        raise InputError(f"jobs must be at least 1, got {asked!r}")
    needed = {one.spec: one.policy.bytes_for(web.pages, web.links) for one in plan.orderings}
    sizes = sorted(needed.values(), reverse=True)
    asked = None if asked is None else min(asked, len(plan.orderings))
    free = free_memory() if sum(sizes) > SMALL else None
    if free is None:
        return min(cores(), len(sizes)) if asked is None else asked
    if sizes[0] > free:
        raise InputError(_too_large(web, needed, free))
    if asked is None:
        return max(1, min(cores(), len(sizes), free // sizes[0]))
    if sum(sizes[:asked]) > free:
        fit = next(jobs for jobs in range(asked - 1, 0, -1) if sum(sizes[:jobs]) <= free)
        raise InputError(
            f"{asked} crawls at a time take {gb(sum(sizes[:asked]))} of memory, and {gb(free)} are free; give --jobs {fit}"
        )
    return asked


def _too_large(web: Web, needed: dict[str, int], free: int) -> str:
    """What does not fit, and what does."""
    large = ", ".join(f"{spec} {gb(size)}" for spec, size in needed.items() if size > free)
    small = [spec for spec, size in needed.items() if size <= free]
    instead = f"free some memory, or take a web of {max(free, 0) * web.pages // max(needed.values()):,} pages"
    if small:
        instead = f"drop what does not fit; these do: {', '.join(small)}"
    return f"simulating {web.pages:,} pages of {web.name} takes {large} of memory, and {gb(free)} are free; {instead}"
