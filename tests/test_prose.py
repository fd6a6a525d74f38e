"""The prose check recognises what it is for."""

from __future__ import annotations

import pytest

from tests.prose import names_in, phrases_in, texts_of


@pytest.mark.parametrize("text", ["drop --out, or leave --out away", "x is none", "no seeds\n in it", "one URL a line"])
def test_phrases_are_recognised(text: str) -> None:
    assert list(phrases_in(text))


def test_docstrings_comments_and_messages_are_read() -> None:
    source = 'def f(most: int) -> None:\n    """Docs."""\n    told = f"a {most} b"  # why\n'
    assert {text for _, text in texts_of(source)} == {"Docs.", "a {} b", "# why"}
    assert {name for _, _, name in names_in(source)} == {"most", "told"}
