"""What hooks and contexts cost with a team whose server is well, slow, silent or dead, against a home without a team.

Six homes with a worker each are asked in turns, the order turning too: without a team, a second one without a team that
tells how noisy the machine is, and four in a team. All joined and shared one project while the server was well. Each
time is divided by that of the first home in the same turn, and the median is told. Where other work makes that too
noisy, the fastest tenth of each home says more: what is left when nothing else interferes. First synchronisations run
at their own pace, as for a user; then one is begun right before each question."""

import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from tests.support.postgres import Database

from benchmarks.figures import Figure, p95
from benchmarks.stage import Stage, payload, stage
from benchmarks.team_servers import dead_port, silent_port, slow_port
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.team.address import parse_address, save_address
from claude_mem_lite.team.entry import project_key
from claude_mem_lite.team.members import invite

ROUNDS, PRESSED_ROUNDS = 60, 20
DELAY_S = 0.5
BAR = 1.02
NONE, CONTROL, HEALTHY = "no team", "no team, a second home", "healthy server"
_REMOTE = "example.org/made-up/shop"
_DRAWS = 1000


@dataclass(slots=True)
class AskedHome:
    """One home with its worker."""

    made: Stage
    in_team: bool
    begun: threading.Thread | None = field(default=None)

    def begin_synchronisation(self) -> None:
        """Ask for a synchronisation without waiting, unless one that was asked for is still under way."""
        if self.in_team and (self.begun is None or not self.begun.is_alive()):
            self.begun = threading.Thread(target=self._synchronise, daemon=True)
            self.begun.start()

    def _synchronise(self) -> None:
        try:
            self.made.client.team_sync()
        except (MemoryLiteError, OSError):
            return  # what becomes of it is not measured


Ask = Callable[[Stage], float]
Times = Mapping[str, Mapping[str, Sequence[float]]]
"""Seconds by question and home, in the order of turns."""


@contextmanager
def asked_homes(database: Database) -> Iterator[dict[str, AskedHome]]:
    """All homes at work, each known to the server before it gets the address of its own."""
    with ExitStack() as stack:
        ports = {
            HEALTHY: database.server.port,
            "dead server": stack.enter_context(dead_port()),
            "silent server": stack.enter_context(silent_port()),
            f"server {DELAY_S * 1000:.0f} ms away": stack.enter_context(slow_port(database.server.port, DELAY_S)),
        }
        homes = {name: AskedHome(stack.enter_context(stage()), name in ports) for name in (NONE, CONTROL, *ports)}
        for number, home in enumerate(homes.values()):
            _prepare(home.made)
            if home.in_team:
                _join(home.made, database, f"member{number}")
        for name, port in ports.items():
            made = homes[name].made
            known = parse_address(made.home.team_address.read_text().strip())
            save_address(made.home.team_address, replace(known, port=port))
            made.stop_worker()
        for home in homes.values():
            home.made.start_worker()
        yield homes


def measure(homes: Mapping[str, AskedHome]) -> Iterator[Figure]:
    """Figures of both paces."""
    yield from _figures("at its own pace", _times(homes, ROUNDS, is_pressed=False), is_judged=True)
    name = "a synchronisation begun right before"
    yield from _figures(name, _times(homes, PRESSED_ROUNDS, is_pressed=True), is_judged=False)


def _times(homes: Mapping[str, AskedHome], rounds: int, *, is_pressed: bool) -> Times:
    taken: dict[str, dict[str, list[float]]] = {question: {name: [] for name in homes} for question in _QUESTIONS}
    order = list(homes)
    for _ in range(rounds):
        order = [*order[1:], order[0]]
        for question, ask in _QUESTIONS.items():
            for name in order:
                home = homes[name]
                home.made.client.drain(10.0)
                if is_pressed:
                    home.begin_synchronisation()
                taken[question][name].append(ask(home.made))
    return taken


def _figures(pace: str, times: Times, *, is_judged: bool) -> Iterator[Figure]:
    for question, by_home in times.items():
        base = by_home[NONE]
        low, high = _interval(by_home[CONTROL], base)
        is_quiet = is_judged and high - low <= 2 * (BAR - 1)
        note = f"median of {len(base)}; p95 {p95(base) * 1000:.1f} ms"
        yield Figure(f"{question}, {pace}: {NONE}", round(statistics.median(base) * 1000, 1), "ms", note=note)
        for name, taken in by_home.items():
            if name != NONE:
                bar = BAR if is_quiet and name != CONTROL else None
                yield _ratio(f"{question}, {pace}: {name}", taken, base, bar, is_loud=is_judged and not is_quiet)


def _ratio(name: str, taken: Sequence[float], base: Sequence[float], bar: float | None, *, is_loud: bool) -> Figure:
    low, high = _interval(taken, base)
    slow = f"p95 {p95(taken) / p95(base):.2f} × as long, {p95(taken) * 1000:.1f} ms"
    note = f"95 % {low:.3f} to {high:.3f}; the fastest tenth {_fastest(taken) / _fastest(base):.3f} ×; {slow}"
    if is_loud:
        note += "; the machine is too noisy to tell 2 %"
    return Figure(name, round(_median_ratio(taken, base), 3), "×", bar, note=note)


def _median_ratio(taken: Sequence[float], base: Sequence[float]) -> float:
    return statistics.median(one / other for one, other in zip(taken, base, strict=True))


def _fastest(taken: Sequence[float]) -> float:
    """The mean of the fastest tenth."""
    return statistics.fmean(sorted(taken)[: max(len(taken) // 10, 1)])


def _interval(taken: Sequence[float], base: Sequence[float]) -> tuple[float, float]:
    """The interval of the median ratio, by bootstrap over turns."""
    ratios = [one / other for one, other in zip(taken, base, strict=True)]
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(_DRAWS))
    return medians[int(_DRAWS * 0.025)], medians[int(_DRAWS * 0.975)]


def _prepare(made: Stage) -> None:
    """Make the folder a checkout with a remote, and remember something of it."""
    git = made.folder / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    (git / "config").write_text(f'[remote "origin"]\n\turl = https://{_REMOTE}.git\n')
    made.start_worker()
    made.time_hook_s("UserPromptSubmit", payload("UserPromptSubmit", made.folder, prompt="Make the login test pass"))
    made.time_hook_s("PostToolUse", payload("PostToolUse", made.folder))
    closing = "The login test failed because the clock was not frozen. I froze it. We decided to freeze it everywhere."
    made.time_hook_s("Stop", payload("Stop", made.folder, last_assistant_message=closing))
    made.client.drain(30.0)


def _join(made: Stage, database: Database, name: str) -> None:
    with database.connect() as connection:
        address = invite(connection, name, [(project_key(_REMOTE), "shop")], database.address).address
    assert address is not None
    made.client.team_join(address.url())
    made.client.team_share(str(made.folder), handoffs=False)
    made.client.team_sync()


def _of_hook(event: str, **more: object) -> Ask:
    return lambda made: made.time_hook_s(event, payload(event, made.folder, **more))  # type: ignore[arg-type]


def _of_context(made: Stage) -> float:
    began = time.perf_counter()
    made.client.context(str(made.folder), None)
    return time.perf_counter() - began


_QUESTIONS: Mapping[str, Ask] = {
    "start hook": _of_hook("SessionStart", session="next", source="startup"),
    "prompt hook": _of_hook("UserPromptSubmit", prompt="Make the login test pass again"),
    "tool hook": _of_hook("PostToolUse"),
    "context": _of_context,
}
