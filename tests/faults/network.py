"""An event loop whose time is simulated, and connections in memory whose bytes come late, in pieces, or not at all."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from random import Random
from typing import Any

from tests.faults.clock import Clock
from tests.faults.threads import Stuck, Threads

MAX_TURNS = 400_000  # of one run: more, and it goes round in circles


class Task(asyncio.Task):  # type: ignore[type-arg]
    """A task whose place in a set does not depend on where it lies in memory."""

    numbers = itertools.count()

    def __init__(self, *args: Any, **given: Any) -> None:
        self.number = next(self.numbers)
        super().__init__(*args, **given)

    def __hash__(self) -> int:
        return self.number


class Network:
    """Who listens where, and how long bytes take."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.listeners: dict[tuple[str, int], Callable[[], asyncio.BaseProtocol]] = {}
        self.refuses: Callable[[str, int], Exception | float | None] = lambda host, port: None
        self.on_send: Callable[[str, bytes], None] = lambda host, data: None

    def latency(self) -> float:
        return self.random.choice((0.0005, 0.01, 0.03, 0.2)) * (0.5 + self.random.random())


class Loop(asyncio.BaseEventLoop):
    """Waits by moving the clock on. Nothing in it is a socket or a thread of the system."""

    def __init__(self, clock: Clock, threads: Threads, network: Network) -> None:
        super().__init__()
        Task.numbers, Line.numbers = itertools.count(), itertools.count()  # what ran before in this process does not count
        self.clock, self.threads, self.network = clock, threads, network
        self._selector = self
        self._clock_resolution = 1e-9
        self.turns = 0
        self.ended = False  # the process is gone: stop at the next turn
        self.on_turn: Callable[[], None] = lambda: None
        self.set_task_factory(lambda loop, coroutine, **given: Task(coroutine, loop=loop, **given))

    def time(self) -> float:
        return self.clock.now

    def stop_for(self, task: Any) -> None:
        self.stop()

    def select(self, timeout: float | None) -> list[Any]:
        self.turns += 1
        if self.ended:
            self.stop()
            return []
        if self.turns > MAX_TURNS:
            raise Stuck(f"more than {MAX_TURNS} turns of the event loop")
        self.on_turn()
        if self.threads.run_one() or timeout == 0:
            return []
        times = [at for at in (self.threads.next_at(), None if timeout is None else self.clock.now + timeout) if at is not None]
        if not times:
            raise Stuck("nothing is under way, and nobody waits for a time")
        self.clock.advance_to(min(times))
        return []

    def _process_events(self, events: Any) -> None: ...

    def _write_to_self(self) -> None: ...

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:  # type: ignore[override]
        """A thread of a pool: it begins soon, and its answer comes when it is done."""
        answer = self.create_future()

        def settle(how: Callable[[Any], None], value: Any) -> None:
            if not answer.cancelled():
                how(value)

        def work() -> None:
            try:
                result = func(*args)
            except BaseException as error:
                wrong = RuntimeError(str(error)) if isinstance(error, StopIteration) else error
                self.call_soon(settle, answer.set_exception, wrong)
            else:
                self.call_soon(settle, answer.set_result, result)

        self.threads.module.Thread(target=work).start()
        return answer

    async def create_connection(self, factory: Any, host: Any = None, port: Any = None, **given: Any) -> Any:  # type: ignore[override]
        network = self.network
        await asyncio.sleep(network.latency())
        said = network.refuses(host, port)
        if isinstance(said, float):
            await asyncio.sleep(said)
        elif said is not None:
            raise said
        listener = network.listeners.get((host, port))
        if listener is None:
            raise ConnectionRefusedError(111, "Connection refused")
        ours, theirs = factory(), listener()
        near, far = Line(self, (host, port), ours), Line(self, ("192.0.2.1", 40_000), theirs)
        near.peer, far.peer = far, near
        near.on_send = network.on_send
        theirs.connection_made(far)
        ours.connection_made(near)
        return near, ours

    async def create_server(self, factory: Any, host: Any = None, port: Any = None, **given: Any) -> Any:  # type: ignore[override]
        self.network.listeners[host, port] = factory
        return Listening(self.network, host, port)


class Listening:
    def __init__(self, network: Network, host: str, port: int) -> None:
        self.network, self.at = network, (host, port)
        self.sockets = [self]

    def getsockname(self) -> tuple[str, int]:
        return self.at

    def close(self) -> None:
        self.network.listeners.pop(self.at, None)


class Line(asyncio.Transport):
    """One end of a connection."""

    peer: Line
    numbers = itertools.count()

    def __init__(self, loop: Loop, there: tuple[str, int], protocol: Any) -> None:
        super().__init__({"peername": there})
        self.loop, self.there, self.protocol = loop, there, protocol
        self.number = next(self.numbers)
        self.on_send: Callable[[str, bytes], None] = lambda host, data: None
        self._closing = self._gone = False
        self._free_at = 0.0  # when what was sent has arrived

    def is_closing(self) -> bool:
        return self._closing

    def _later(self, call: Callable[[], None]) -> None:
        """In the order in which things were sent."""
        self._free_at = max(self._free_at + 1e-6, self.loop.time() + self.loop.network.latency())
        self.loop.call_at(self._free_at, call)

    def write(self, data: Any) -> None:
        if self._closing or self._gone or not data:
            return
        self.on_send(self.there[0], bytes(data))
        random, view = self.loop.network.random, bytes(data)
        cuts = sorted({random.randrange(len(view)) for _ in range(random.choice((0, 0, 1, 3)))} | {0})
        for begin, end in zip(cuts, [*cuts[1:], len(view)], strict=True):
            part = view[begin:end]
            self._later(lambda part=part: self.peer._receive(part))  # type: ignore[misc]

    def _receive(self, data: bytes) -> None:
        if not self._gone:
            self.protocol.data_received(data)

    def can_write_eof(self) -> bool:
        return False

    def close(self) -> None:
        """What was sent still arrives."""
        if not self._closing:
            self._closing = True
            self._later(self.peer._ended)
            self.loop.call_soon(self._lost, None)

    def silence(self) -> None:
        """Nothing leaves any more: the process at this end is gone."""
        self._closing = True

    def abort(self) -> None:
        """The other end is told at once."""
        if not self._gone:
            self._closing = True
            self.loop.call_soon(self._lost, None)
            self._later(lambda: self.peer._lost(ConnectionResetError(104, "Connection reset by peer")))

    def _ended(self) -> None:
        if not self._gone:
            self.protocol.eof_received()
            self._lost(None)

    def _lost(self, error: Exception | None) -> None:
        if not self._gone:
            self._gone = self._closing = True
            self.protocol.connection_lost(error)

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    def get_write_buffer_size(self) -> int:
        return 0
