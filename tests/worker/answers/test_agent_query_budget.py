"""How much of its budget for asking a session has used, by what it remembers."""

import pytest

from claude_mem_lite.store.session_context import DeliveredAnswer
from claude_mem_lite.worker.answers.agent_query import SessionUsage, usage_of
from claude_mem_lite.worker.answers.in_flight import SessionInjections


def answers(*given: tuple[str, tuple[str, ...]]) -> SessionInjections:
    told = tuple(DeliveredAnswer(f"a-{number}", moment, 10, layers) for number, (moment, layers) in enumerate(given))
    return SessionInjections(frozenset({"m1"}), 0, was_compacted=False, waiting=frozenset(), answers=told)


@pytest.mark.parametrize(
    ("given", "had"),
    [
        ([], SessionUsage(already_given=frozenset({"m1"}))),
        ([("asked", ("query",)), ("asked", ("query",))], SessionUsage(2, 20, already_given=frozenset({"m1"}))),
        ([("asked", ("ids",)), ("asked", ())], SessionUsage(0, 20, already_given=frozenset({"m1"}))),
        ([("asked", ("sessions", "project"))], SessionUsage(0, 10, had_start=True, already_given=frozenset({"m1"}))),
        ([("startup", ())], SessionUsage(0, 10, had_start=True, already_given=frozenset({"m1"}))),
        (
            [("prompt", ("decision",)), ("failure", ("fix",)), ("file", ("file",))],
            SessionUsage(already_given=frozenset({"m1"})),
        ),
    ],
    ids=["nothing", "questions", "ids", "a start that was asked for", "a start", "what hooks brought"],
)
def test_starts_and_answers_count_but_not_what_hooks_brought(
    given: list[tuple[str, tuple[str, ...]]], had: SessionUsage
) -> None:
    assert usage_of(answers(*given)) == had
