"""How much of its budget for asking a session has used, by what it remembers."""

import pytest

from claude_mem_lite.store.session_context import DeliveredAnswer
from claude_mem_lite.worker.answers.agent_query import Asked, asked
from claude_mem_lite.worker.answers.in_flight import Known


def answers(*given: tuple[str, tuple[str, ...]]) -> Known:
    told = tuple(DeliveredAnswer(f"a-{number}", moment, 10, layers) for number, (moment, layers) in enumerate(given))
    return Known(frozenset({"m1"}), 0, was_compacted=False, waiting=frozenset(), answers=told)


@pytest.mark.parametrize(
    ("given", "had"),
    [
        ([], Asked(told=frozenset({"m1"}))),
        ([("asked", ("query",)), ("asked", ("query",))], Asked(2, 20, told=frozenset({"m1"}))),
        ([("asked", ("ids",)), ("asked", ())], Asked(0, 20, told=frozenset({"m1"}))),
        ([("asked", ("sessions", "project"))], Asked(0, 10, had_start=True, told=frozenset({"m1"}))),
        ([("startup", ())], Asked(0, 10, had_start=True, told=frozenset({"m1"}))),
        ([("prompt", ("decision",)), ("failure", ("fix",)), ("file", ("file",))], Asked(told=frozenset({"m1"}))),
    ],
    ids=["nothing", "questions", "ids", "a start that was asked for", "a start", "what hooks brought"],
)
def test_starts_and_answers_count_but_not_what_hooks_brought(
    given: list[tuple[str, tuple[str, ...]]], had: Asked
) -> None:
    assert asked(answers(*given)) == had
