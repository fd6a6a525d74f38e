"""An operation of the HTTP side: a function of a crawl and of parameters, and how it is called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc
from typing import Any, get_type_hints

from frontrank.crawl.verbs import Verb
from frontrank.errors import InputError
from frontrank.service.http.params import Params
from frontrank.service.http.reader import CrawlReader, Source

API = "/api/v1"
OF_CRAWL = API + "/crawls/{crawl}"


@dataclass(frozen=True)
class Target:
    """The crawl that an operation is about, and what it is read by."""

    reader: CrawlReader
    crawl: str

    @property
    def source(self) -> Source:
        return self.reader.source(self.crawl)

    def folder(self) -> str:
        folder = self.source.folder
        if folder is None:
            raise InputError("this crawl has no directory, so it has no history; crawl into a directory")
        return folder


@dataclass(frozen=True)
class Operation:
    """One method of one path: its route and its part of the OpenAPI document are made from it."""

    name: str
    method: str
    path: str
    about: str
    answer: Callable[[Target, Any], Any]
    params: type[Params]
    returns: Any
    keep_s: float = 0.0  # for how long an answer is kept for equal requests
    slow: bool = False  # it takes a replay
    apart: bool = False  # it waits for a process that reads the log
    verb: Verb | None = None  # of the table of operator verbs, if it is one

    @property
    def of_crawl(self) -> bool:
        return "{crawl}" in self.path

    @property
    def acts(self) -> bool:
        return self.method == "POST"


def operation(name: str, method: str, path: str, function: Callable[..., Any], **how: Any) -> Operation:
    """An operation that calls a function: of a ``Target`` and, if there are any, of its parameters.

    Its parameters, its answer and its description (the docstring) are those of the function.
    """
    hints = get_type_hints(function)
    returns = hints.pop("return")
    _, *params = hints.values()
    answer = function if params else lambda target, _: function(target)
    about = " ".join((getdoc(function) or "").split())
    return Operation(name, method, path, about, answer, params[0] if params else Params, returns, **how)
