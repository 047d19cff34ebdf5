"""Whatever is stored and whatever the budget: what holds for every start context."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from claude_mem_lite.agents.adapters import claude_reply
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.presets import BUILT_IN, LAYERS, Preset
from claude_mem_lite.context.render import MAX_UTF16_UNITS, PREAMBLE, estimate_tokens, utf16_units
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.models import KINDS, TRUST, Kind, Location, Origin, SessionSummary
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.vector_index import VectorIndex
from tests.support.fakes import NOW, SHOP, FakeEmbedder, Store

OTHER = Location(project="example.org/me/other", name="other", root="/nowhere/other")
FOREIGN = "Xylophone"
"""Stands in all that belongs to another project or language, and in nothing else."""
TEXTS = st.text(min_size=1, max_size=300).filter(lambda text: FOREIGN.lower() not in text.lower())
HEADLINES = TEXTS.filter(str.strip)
FILLER = 40
"""So many rules that the cap on characters is met before the budget."""
numbers = count()


@dataclass(frozen=True)
class Kept:
    """A memory to be stored."""

    text: str
    kind: Kind
    origin: Origin
    where: str
    days: int
    times_seen: int
    confidence: float
    pinned: bool


KEPT = st.builds(
    Kept,
    text=TEXTS,
    kind=st.sampled_from(KINDS),
    origin=st.sampled_from(list(TRUST)),
    where=st.sampled_from(["here", "here", "universal", "other project", "language:cobol"]),
    days=st.integers(0, 400),
    times_seen=st.integers(1, 12),
    confidence=st.sampled_from([0.2, 0.5, 0.9]),
    pinned=st.booleans(),
)


def keep(store: Store, number: int, one: Kept) -> None:
    is_foreign = one.where in ("other project", "language:cobol")
    place = OTHER if one.where == "other project" else SHOP
    scope = one.where if one.where in ("universal", "language:cobol") else f"project:{place.project}"
    at = NOW - timedelta(days=one.days)
    text = f"{FOREIGN} {one.text}" if is_foreign else one.text
    store.remember(
        f"{number} {text}",
        place=place,
        kind=one.kind,
        summary=text * 3,
        scope=scope,
        origin=one.origin,
        created_at=at,
        last_seen_at=at,
        times_seen=one.times_seen,
        confidence=one.confidence,
        pinned=one.pinned,
        session=f"s{number}",
    )


def summary(text: str) -> SessionSummary:
    return SessionSummary(headline=text, request=text, completed=text * 3, next_steps=(text,), key_decisions=(text,))


def assert_holds(built: Context, preset: Preset, budget: int, *, has_session: bool) -> None:
    assert built.tokens == estimate_tokens(built.text) <= budget
    assert utf16_units(built.text) <= MAX_UTF16_UNITS
    reply = json.loads(claude_reply("SessionStart", built.text))
    assert reply["hookSpecificOutput"]["additionalContext"] == built.text
    assert FOREIGN not in built.text
    if has_session and budget >= 300:
        assert built.text
    order = [layer.name for layer in preset.layers] + ["sessions", "observations"]
    assert sorted(built.layers, key=order.index) == list(built.layers)
    noted = dict.fromkeys(one.layer for one in built.chosen if not one.item.is_users_rule)
    headers = [built.text.index(f"\n{LAYERS[layer][0]}\n") for layer in noted]
    assert headers == sorted(headers)
    cautioned = built.text.find(f"\n{PREAMBLE}\n")
    for one in built.chosen:
        is_rule = one.item.is_users_rule
        assert (cautioned == -1 or built.text.index(f"\n{one.item.line}\n") < cautioned) is is_rule


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Stores by how many rules they hold already: to make them takes longer than what each example adds."""
    folder = tmp_path_factory.mktemp("begun")
    found = {number: folder / f"{number}.db" for number in (0, FILLER)}
    for filler, path in found.items():
        with Store(path) as store:
            for number in range(filler):
                store.remember(f"Rule {number}", summary="long rule " * 40, kind="rule", origin="user")
    return found


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(
    kept=st.lists(KEPT, max_size=10),
    own=st.lists(HEADLINES, max_size=4),
    others=st.lists(HEADLINES, max_size=2),
    filler=st.sampled_from([0, 0, FILLER]),
    budget=st.integers(50, 4000),
    preset=st.sampled_from(list(BUILT_IN.values())),
)
def test_a_context_keeps_its_promises(
    tmp_path: Path,
    begun: dict[int, Path],
    kept: Sequence[Kept],
    own: Sequence[str],
    others: Sequence[str],
    filler: int,
    budget: int,
    preset: Preset,
) -> None:
    search = Search(FakeEmbedder(), VectorIndex()).search
    with Store(Path(shutil.copy(begun[filler], tmp_path / f"{next(numbers)}.db"))) as store:
        for number, text in enumerate(own):
            store.session(f"s{number}", summary(text), at=NOW - timedelta(hours=number + 1))
        for number, text in enumerate(others):
            store.session(f"theirs{number}", summary(f"{FOREIGN} {text}"), place=OTHER)
        for number, one in enumerate(kept):
            keep(store, number, one)
        request = ContextRequest(SHOP, NOW, search=search)
        built, again = (build(store.connect, request, budget, preset) for _ in range(2))
    assert_holds(built, preset, budget, has_session=bool(own))
    assert again.text == built.text
