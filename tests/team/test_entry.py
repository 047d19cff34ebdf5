"""Tests of `team/entry.py` and `team/reasons.py`: identity, order and hash of entries; text of reasons."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import pytest

from claude_mem_lite.team.entry import Entry, author_of, hash_of, project_key, uid_of
from claude_mem_lite.team.reasons import Reason, TeamError, next_step_of

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ENTRY = Entry("p" * 32, "device-a", 1, "ana:1", 1, "put", "{}", hash_of("{}"), "ana", AT)


def test_a_uid_depends_on_author_memory_and_time_alone() -> None:
    uid = uid_of("ana", "k7f3a5mq2x", AT)
    assert uid == uid_of("ana", "k7f3a5mq2x", AT)
    assert author_of(uid) == "ana"
    others = {
        uid_of("ben", "k7f3a5mq2x", AT),
        uid_of("ana", "k7f3a5mq2y", AT),
        uid_of("ana", "k7f3a5mq2x", AT.replace(year=2025)),
    }
    assert len(others | {uid}) == 4


def test_the_greater_revision_wins_and_then_the_greater_device() -> None:
    later = replace(ENTRY, rev=2)
    elsewhere = replace(ENTRY, device="device-b")
    assert max((later, elsewhere, ENTRY), key=Entry.order) is later
    assert max((elsewhere, ENTRY), key=Entry.order) is elsewhere


def test_an_entry_is_sound_if_its_body_has_the_hash_that_was_sent() -> None:
    assert ENTRY.is_sound()
    assert not replace(ENTRY, body="{ }").is_sound()
    assert replace(ENTRY, body=None).is_sound()


def test_projects_with_the_same_remote_have_the_same_key() -> None:
    assert project_key("github.com/acme/shop") == project_key("github.com/acme/shop")
    assert project_key("github.com/acme/shop") != project_key("github.com/acme/shop2")


@pytest.mark.parametrize("code", get_args(Reason))
def test_every_reason_has_a_sentence_and_a_next_step(code: Reason) -> None:
    error = TeamError(code)
    assert error.message
    assert error.next_step == next_step_of(code) != ""


def test_every_reason_is_in_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "team-protocol.md").read_text()
    assert [code for code in get_args(Reason) if f"| `{code}` |" not in page] == []
