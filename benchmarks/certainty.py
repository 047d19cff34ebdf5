"""`python -m benchmarks.certainty DATA … [--home FOLDER]`: does a search know when it has found nothing?

Each data folder is imported into a home of its own, without what gives a commit away (evidence.py), and is one project
there; all of them together are put into one more home. Asked are queries that nothing there answers
(unrelated_queries.py), and queries that something does: commit subjects, which lead to a session; titles of memories;
three telling words of a memory. An unrelated query comes out right when none of its ten hits is certain, a related one
when a hit of the right session is; what search does not find among its ten hits at all is not counted here
(retrieval.py measures that).

The floor is chosen on the first half of the data folders with every other query, by the mean of both shares (of
unrelated queries and of commit subjects), and told beside the one in force. All figures are of the floor in force;
those of the second half confirm it. With `--home` the homes are kept, and used again."""

import random
import re
import sqlite3
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

if not __package__:  # run as a file, not as a module
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.evidence import write_without_evidence
from benchmarks.figures import Figure, keep
from benchmarks.product import product, temporary_folder
from benchmarks.stored import all_memories, last_moment, remembered
from benchmarks.transcripts import Data
from benchmarks.unrelated_queries import SORTS, UNRELATED
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.evaluation.intervals import bootstrapped
from claude_mem_lite.models import Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.search.rank_fusion import FLOOR, FLOOR_BY_WORDS
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import passages
from claude_mem_lite.text import STOPWORDS

HITS = 10
FLOORS = tuple(round(0.4 + 0.05 * step, 2) for step in range(15))
COMMITS_OF_A_SESSION = 3
"""Some sessions made fifty commits: each counts as much as its first few."""
MEMORIES_ASKED = 80
SMALL_HOME, SMALL_HOMES = 5, 12
COMMIT = "commit"
MIN_UNCERTAIN, MIN_CERTAIN = 0.9, 0.9
_CERTAINTY = re.compile(r"certainty (-?[\d.]+) = ")
_TELLING = re.compile(r"[A-Za-z][\w-]{3,}")
_MIN_TITLE_WORDS = 4


@dataclass(frozen=True, slots=True)
class Asked:
    """A query and the certainties of its hits: of all of them, or of those that are right."""

    sort: str
    query: str
    certainties: tuple[float, ...]

    def is_certain(self, floor: float) -> bool:
        return any(value >= floor for value in self.certainties)


@dataclass(frozen=True, slots=True)
class Measured:
    """What was asked in one place: a project alone, a project in the large home, all projects, small homes."""

    place: str
    unrelated: tuple[Asked, ...]
    related: tuple[Asked, ...]

    def half(self, nth: int) -> "Measured":
        return replace(self, unrelated=self.unrelated[nth::2], related=self.related[nth::2])

    def worth(self, floor: float) -> float:
        """The mean of both shares. Of the related queries commit subjects count: the others are nearly always heard."""
        silent = [not one.is_certain(floor) for one in self.unrelated]
        heard = [one.is_certain(floor) for one in self.related if one.sort == COMMIT]
        return (statistics.fmean(silent) + statistics.fmean(heard)) / 2


def main(arguments: Sequence[str]) -> int:
    kept = arguments[arguments.index("--home") + 1] if "--home" in arguments else None
    folders = [Path(one) for one in arguments if one not in ("--home", kept)]
    with temporary_folder() as temporary:
        figures = list(_measure([Data(folder) for folder in folders], Path(kept) if kept else temporary))
    for figure in figures:
        print(figure.line(), flush=True)
    return keep("certainty", "What a search is sure of", figures, "python -m benchmarks.certainty DATA …")


def _measure(data: Sequence[Data], folder: Path) -> Iterator[Figure]:
    names = [one.folder.name for one in data]
    homes = {one.folder.name: _imported(one, folder / one.folder.name) for one in data}
    together = Home(folder / "together")
    if not together.memory_db.exists():
        _put_together(homes, together)
    alone: list[Measured] = []
    inside: list[Measured] = []
    every: list[Asked] = []
    small: list[Asked] = []
    small_unrelated: list[Asked] = []
    with remembered(together) as db:
        asker = _Asker(db, last_moment(db))
        unrelated_everywhere = asker.unrelated(Filters())
        for one in data:
            name = one.folder.name
            with remembered(homes[name]) as own_db:
                own = _Asker(own_db, last_moment(own_db))
                queries = list(_related(one, own_db))
                alone.append(Measured(f"{name} alone", own.unrelated(Filters()), own.related(queries, Filters())))
                for nth in range(SMALL_HOMES):
                    few = _few(own_db, nth)
                    related, unrelated = _in_a_small_home(few, folder / "small", nth)
                    small += related
                    small_unrelated += unrelated
            held = Filters(project=name)
            inside.append(Measured(f"{name} among all", asker.unrelated(held), asker.related(queries, held)))
            every += asker.related(queries, Filters())
    places = [*alone, *inside]
    all_places = [
        *places,
        Measured("over all projects", unrelated_everywhere, tuple(every)),
        Measured(f"homes of {SMALL_HOME} memories", tuple(small_unrelated), tuple(small)),
    ]
    half = (len(names) + 1) // 2
    chosen_on, confirmed_on = set(names[:half]), set(names[half:])
    yield from _chosen([one.half(0) for one in places if one.place.split()[0] in chosen_on], names[:half])
    confirming = [one.half(1) for one in places if one.place.split()[0] in confirmed_on]
    if confirming:
        yield from _shares("projects that confirm", _joined(confirming), judged=True)
    for place in all_places:
        yield from _shares(place.place, place, judged=place.place.startswith(("over", "homes")))
    yield from _by_sort(alone)


def _imported(data: Data, folder: Path) -> Home:
    """The home of a data folder, made unless it is there."""
    home = Home(folder / "home")
    if not home.memory_db.exists():
        write_without_evidence(data, folder / "filtered")
        with product(home.root, folder / "filtered") as made:
            made.run_import()
            made.wait_until_indexed()
    return home


def _put_together(homes: Mapping[str, Home], together: Home) -> None:
    """One home with all that the others hold, each as one project."""
    together.make()
    with closing(open_for_writing(together.memory_db)) as db:
        for name, home in homes.items():
            with remembered(home) as source:
                found, now = all_memories(source), last_moment(source)
            _store(db, [replace(one, project=name, scope=_scope(one, name)) for one in found], now)
            db.execute("attach ? as source", (str(home.memory_db),))
            with atomic(db):
                db.execute("insert into sessions select * from source.sessions")
                db.execute(
                    "update sessions set project = ? where id in (select id from source.sessions)",
                    (name,),
                )
                db.execute("insert into prompts select * from source.prompts")
            db.execute("detach source")
        with atomic(db):
            passages.add_missing(db, 1_000_000)
        _index(db)


def _scope(memory: Memory, project: str) -> str:
    return f"project:{project}" if memory.scope.startswith("project:") else memory.scope


def _store(db: sqlite3.Connection, found: Iterable[Memory], now: datetime) -> None:
    migrate(db, MEMORY_MIGRATIONS, now)
    with atomic(db):
        for memory in found:
            memories.put(db, memory, f"turn of {memory.id}", now)


def _index(db: sqlite3.Connection) -> None:
    indexing = Indexing(db, StaticTable())
    indexing.begin()
    while indexing.step():
        pass


class _Asker:
    """Asks the product's own search in one home."""

    def __init__(self, db: sqlite3.Connection, now: datetime) -> None:
        self._db, self._now = db, now
        self._search = Search(StaticTable(), VectorIndex())

    def unrelated(self, filters: Filters) -> tuple[Asked, ...]:
        return tuple(
            Asked(sort, query, tuple(map(_certainty, self._hits(query, filters))))
            for sort, queries in SORTS.items()
            for query in queries
        )

    def related(self, queries: Iterable["_Related"], filters: Filters) -> tuple[Asked, ...]:
        """Those of the queries whose right hit is among the ten."""
        asked = []
        for one in queries:
            right = [hit for hit in self._hits(one.text, filters) if {hit.found.session, hit.found.id} & one.right]
            if right:
                asked.append(Asked(one.sort, one.text, tuple(map(_certainty, right))))
        return tuple(asked)

    def _hits(self, query: str, filters: Filters) -> list[Hit]:
        return self._search.search(self._db, query, filters, self._now, HITS)


@dataclass(frozen=True, slots=True)
class _Related:
    sort: str
    text: str
    right: frozenset[str]
    """The ids of the sessions or the memory that answer it."""


def _related(data: Data, db: sqlite3.Connection) -> Iterator[_Related]:
    times: Counter[str] = Counter()
    for query in data.queries:
        times[query.sessions[0]] += 1
        if times[query.sessions[0]] <= COMMITS_OF_A_SESSION:
            yield _Related(COMMIT, query.text, frozenset(query.sessions))
    drawn = [one for one in all_memories(db) if len(one.title.split()) >= _MIN_TITLE_WORDS]
    random.Random(0).shuffle(drawn)
    for memory in drawn[:MEMORIES_ASKED]:
        yield _Related("title", memory.title, frozenset((memory.session, memory.id)))
    yield from _by_words(drawn[MEMORIES_ASKED : 2 * MEMORIES_ASKED])


def _by_words(found: Iterable[Memory]) -> Iterator[_Related]:
    for memory in found:
        words = dict.fromkeys(_TELLING.findall(f"{memory.title} {memory.summary[:200]}"))
        telling = [word for word in words if word.lower() not in STOPWORDS]
        if len(telling) >= 3:
            some = random.Random(memory.id).sample(telling, 3)
            yield _Related("three words", " ".join(some), frozenset((memory.session, memory.id)))


def _few(db: sqlite3.Connection, nth: int) -> list[Memory]:
    drawn = [one for one in all_memories(db) if len(one.title.split()) >= _MIN_TITLE_WORDS]
    return random.Random(nth).sample(drawn, SMALL_HOME)


def _in_a_small_home(few: Sequence[Memory], folder: Path, nth: int) -> tuple[tuple[Asked, ...], tuple[Asked, ...]]:
    """What is asked in a home of a few memories: each by its title and by three words; and a part of the unrelated."""
    folder.mkdir(exist_ok=True)
    path = folder / "memory.db"
    path.unlink(missing_ok=True)
    now = max(one.last_seen_at for one in few)
    with closing(open_for_writing(path)) as db:
        _store(db, few, now)
        _index(db)
        asker = _Asker(db, now)
        titles = [_Related("title", one.title, frozenset((one.id,))) for one in few]
        related = asker.related([*titles, *_by_words(few)], Filters())
        unrelated = asker.unrelated(Filters())[nth::SMALL_HOMES]
    path.unlink()
    return related, unrelated


def _certainty(hit: Hit) -> float:
    found = _CERTAINTY.match(hit.why[-1])
    if found is None:
        raise SystemExit(f"a hit does not tell how certain it is: {hit.why}")
    # Where the query has no vector another floor holds; put on the scale of the usual one.
    return float(found[1]) * (FLOOR / FLOOR_BY_WORDS if hit.why[-1].endswith("by words alone") else 1)


def _joined(places: Sequence[Measured]) -> Measured:
    unrelated = tuple(one for place in places for one in place.unrelated)
    return Measured("", unrelated, tuple(one for place in places for one in place.related))


def _chosen(places: Sequence[Measured], names: Sequence[str]) -> Iterator[Figure]:
    worth = {floor: statistics.fmean(one.worth(floor) for one in places) for floor in FLOORS}
    best = max(worth, key=lambda floor: worth[floor])
    told = ", ".join(f"{floor:g}: {value:.3f}" for floor, value in worth.items())
    yield Figure("floor in force", FLOOR, "")
    yield Figure(f"floor chosen on {', '.join(names)}", best, "", note=f"mean of both shares by floor: {told}")


def _shares(name: str, place: Measured, *, judged: bool) -> Iterator[Figure]:
    silent = [not one.is_certain(FLOOR) for one in place.unrelated]
    floor = MIN_UNCERTAIN if judged else None
    yield _share(f"{name}: unrelated queries that are called uncertain", silent, floor)
    for sort in dict.fromkeys(one.sort for one in place.related):
        heard = [one.is_certain(FLOOR) for one in place.related if one.sort == sort]
        floor = MIN_CERTAIN if judged else None
        yield _share(f"{name}: related queries ({sort}) whose right hit is certain", heard, floor)


def _by_sort(places: Sequence[Measured]) -> Iterator[Figure]:
    for sort in SORTS:
        silent = [not one.is_certain(FLOOR) for place in places for one in place.unrelated if one.sort == sort]
        yield _share(f"unrelated queries ({sort}) that are called uncertain, in all projects alone", silent, None)


def _share(name: str, right: Sequence[bool], floor: float | None) -> Figure:
    value = bootstrapped([float(one) for one in right])
    note = f"{sum(right)} of {len(right)}, 95 % interval {value.low:.3f} to {value.high:.3f}"
    return Figure(name, round(value.mean, 3), "", floor=floor, note=note)


if __name__ == "__main__":
    assert len(UNRELATED) == len(set(UNRELATED))
    sys.exit(main(sys.argv[1:]))
