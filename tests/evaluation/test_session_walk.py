"""Tests of `evaluation/session_walk.py` and `evaluation/variants.py`: a start knows the past alone, and variants change
what they name."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.evaluation.in_process_worker import served
from claude_mem_lite.evaluation.recording import read_recording
from claude_mem_lite.evaluation.session_walk import FIRST, SessionStart, Walk
from claude_mem_lite.evaluation.variants import Variant
from claude_mem_lite.evaluation.walk_folder import walk_folder
from claude_mem_lite.timestamps import utc_now
from tests.support.past_sessions import LONG_AGO, SHOP, fixed_bug

VARIANTS = (Variant("plain"), Variant("without", without=("sessions", "project")), Variant("codes", preset="codes"))
OF_CODES = {"impl", "dec", "block+next", "project", "universal", "language"}


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[SessionStart], Path]]:
    recorded = tmp_path_factory.mktemp("recorded")
    for number in range(FIRST + 2):
        session = fixed_bug(f"s{number:02d}", number, LONG_AGO + timedelta(days=number))
        file = {"filePath": f"{SHOP}/own_{number}.py", "content": "x\n", "startLine": 1, "numLines": 1, "totalLines": 1}
        session.prompt("look").calls("Read", {"file_path": f"{SHOP}/own_{number}.py"}).gets("x", {"file": file})
        session.says("Seen.").write(recorded)
    with walk_folder() as folder:
        walk = Walk(read_recording([recorded], utc_now()), folder, VARIANTS)
        yield _starts(walk), walk.root


def _starts(walk: Walk) -> list[SessionStart]:
    found: list[SessionStart] = []
    with served(walk.home, walk.clock) as services:
        for place in range(FIRST, len(walk.listed)):
            walk.begin(place)
            found.append(walk.start_of(services, walk.listed[place]))
    return found


def test_a_start_knows_earlier_sessions_and_no_later_one(walked: tuple[list[SessionStart], Path]) -> None:
    first, second = (start.text for start in walked[0])
    assert ("total_9" in first, "total_10" in first, "total_11" in first) == (True, False, False)
    assert ("total_10" in second, "total_11" in second) == (True, False)


def test_the_checkout_has_what_earlier_sessions_saw_and_not_what_the_session_itself_will_see(
    walked: tuple[list[SessionStart], Path],
) -> None:
    _, root = walked
    assert (root / f"own_{FIRST}.py").exists()
    assert not (root / f"own_{FIRST + 1}.py").exists()


def test_a_variant_without_layers_has_none_of_their_lines(walked: tuple[list[SessionStart], Path]) -> None:
    for start in walked[0]:
        layers = {name: {line.layer for line in lines} for name, (_, lines) in start.variants.items()}
        assert layers["plain"] & {"sessions", "project"}
        assert not layers["without"] & {"sessions", "project"}


def test_a_variant_by_another_preset_has_its_layers(walked: tuple[list[SessionStart], Path]) -> None:
    for start in walked[0]:
        layers = {line.layer for line in start.variants["codes"][1]}
        assert layers <= OF_CODES
        assert layers & {"impl", "dec"}


def test_a_start_is_answered_however_late(tmp_path: Path) -> None:
    for number in range(FIRST + 1):
        fixed_bug(f"s{number:02d}", number, LONG_AGO + timedelta(days=number)).write(tmp_path)
    with walk_folder() as folder:
        walk = Walk(read_recording([tmp_path], utc_now()), folder)
        with served(walk.home, walk.clock):
            walk.begin(FIRST)
            walk.clock.at += timedelta(hours=1)
            assert "total_9" in walk.start(walk.listed[FIRST])


def test_a_home_can_be_served_again(tmp_path: Path) -> None:
    session = fixed_bug("s00", 0, LONG_AGO)
    session.write(tmp_path)
    walk = Walk(read_recording([tmp_path], utc_now()), tmp_path / "walk")
    for _ in range(2):
        with served(walk.home, walk.clock):
            walk.go_to(utc_now())
