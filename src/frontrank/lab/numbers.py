"""Numbers as people read them: as papers print them, as shares, as times."""

from __future__ import annotations

from collections.abc import Mapping


def number(value: float | None, digits: int = 3) -> str:
    """A number as papers print them: no zero before the point.

    >>> number(0.43, 2), number(-0.1, 1), number(12.0, 1), number(None)
    ('.43', '-.1', '12.0', '–')
    """
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


def listed(values: Mapping[str, float | None], digits: int = 3) -> str:
    """
    >>> listed({"bfs": 0.61234, "fpr": None})
    'bfs .612, fpr –'
    """
    return ", ".join(f"{name} {number(value, digits)}" for name, value in values.items())


def percent(share: float) -> str:
    """A share.

    >>> percent(0.611), percent(0.0042), percent(0.9996), percent(1.0)
    ('61%', '0.42%', '99.9%', '100%')
    """
    if 0.995 <= share < 1.0:
        return f"{min(share, 0.999):.1%}"  # never all when it is not
    return f"{share:.0%}" if share >= 0.095 or share == 0.0 else f"{100 * share:.2g}%"


def seconds(value: float) -> str:
    """A time.

    >>> seconds(0.0321), seconds(0.3214), seconds(12.34)
    ('32 ms', '321 ms', '12.3 s')
    """
    if value >= 0.9995:
        return f"{value:.3g} s" if value < 1000.0 else f"{value:,.0f} s"
    return f"{1000 * value:.0f} ms" if value >= 0.01 else f"{1000 * value:.2g} ms"
