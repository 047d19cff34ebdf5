"""Tests of `team/policy.py`: what may leave a device, and the reason of everything that stays."""

from dataclasses import replace
from typing import get_args

import pytest

from claude_mem_lite.models import KINDS, ORIGINS, Kind, Memory, Origin
from claude_mem_lite.store.retirements import Cause
from claude_mem_lite.store.team import Choice, Share
from claude_mem_lite.team import policy
from claude_mem_lite.team.policy import Code, SharingVerdict, decide
from tests.support.fakes import NOW

SHARE = Share("shop", "example.org/me/shop", "k" * 32, handoffs=False, shared_at=NOW)
MEMORY = Memory(
    id="aaaa",
    kind="decision",
    title="Use pnpm",
    summary="npm installed two versions of react.",
    created_at=NOW,
    last_seen_at=NOW,
    scope="project:shop",
    project="shop",
)


def code(
    memory: Memory,
    choice: Choice | None = None,
    cause: Cause | None = None,
    *,
    is_sent: bool = False,
    is_excluded: bool = False,
) -> Code | None:
    return decide(memory, choice, SHARE, cause, is_sent=is_sent, is_excluded=is_excluded).code


def test_kinds_shared_without_asking_are_those_that_help_a_team() -> None:
    shared = {kind for kind in KINDS if code(replace(MEMORY, kind=kind)) is None}
    assert shared == {"decision", "bugfix", "gotcha", "convention", "rule", "anti_pattern", "architecture"}


def test_other_kinds_go_by_hand_except_those_about_a_person_or_a_machine() -> None:
    by_hand = {kind for kind in KINDS if code(replace(MEMORY, kind=kind), "share") is None}
    assert set(KINDS) - by_hand == {"preference", "correction", "failure"}


@pytest.mark.parametrize("choice", [None, "share"])
def test_origins_of_foreign_text_never_go(choice: Choice | None) -> None:
    going = {origin for origin in ORIGINS if code(replace(MEMORY, origin=origin, made_by="user"), choice) is None}
    assert going == {"user", "assistant", "code"}


@pytest.mark.parametrize("scope", ["universal", "language:python", "project:blog", "project", ""])
def test_only_the_scope_of_the_shared_project_goes_even_by_hand(scope: str) -> None:
    assert code(replace(MEMORY, scope=scope), "share") == "scope"


@pytest.mark.parametrize("tag", ["private", "Private", " PRIVATE "])
def test_a_memory_tagged_private_never_goes(tag: str) -> None:
    assert code(replace(MEMORY, tags=("build", tag)), "share") == "private"


def test_keeping_by_hand_always_wins() -> None:
    assert code(MEMORY, "keep") == "kept"
    assert decide(MEMORY, "keep", None, None).takes_back


def test_nothing_of_a_project_that_is_not_shared_or_excluded_goes() -> None:
    assert decide(MEMORY, "share", None, None).code == "not_shared"
    assert code(MEMORY, "share", is_excluded=True) == "excluded"


def test_a_memory_in_quarantine_never_goes() -> None:
    assert code(replace(MEMORY, status="quarantined"), "share", is_sent=True) == "quarantined"


def test_a_fix_goes_only_if_the_summary_says_more_than_the_title() -> None:
    fix = replace(
        MEMORY, kind="bugfix", title="Fix the login", summary="Fix the login. Asked: please fix the login page"
    )
    assert code(fix) == "no_cause"
    assert code(replace(fix, summary="The cookie expired before the redirect.")) is None
    assert code(fix, "share") is None


def test_open_work_goes_only_if_the_share_says_so() -> None:
    work = replace(MEMORY, kind="handoff")
    assert code(work) == "handoffs"
    assert decide(work, None, replace(SHARE, handoffs=True), None).may_go
    closed = replace(work, status="retired")
    assert decide(closed, None, replace(SHARE, handoffs=True), "taken up").code == "retired"


@pytest.mark.parametrize("cause", ["user", "contradicted", "taken up", "rebuilt", None])
def test_a_retired_memory_is_sent_as_retired_if_the_team_has_it(cause: Cause | None) -> None:
    retired = replace(MEMORY, status="retired")
    assert decide(retired, None, SHARE, cause, is_sent=True) == SharingVerdict(status="retired")
    assert code(retired, None, cause) == "retired"


@pytest.mark.parametrize("cause", ["code", "branch"])
def test_a_memory_that_local_code_retired_stays_as_it_is_in_the_team(cause: Cause) -> None:
    verdict = decide(replace(MEMORY, status="retired"), None, SHARE, cause, is_sent=True)
    assert (verdict.code, verdict.takes_back) == ("stale", False)


def test_a_replaced_memory_is_retired_in_the_team() -> None:
    assert decide(replace(MEMORY, status="superseded"), None, SHARE, None, is_sent=True).status == "retired"


def test_a_version_of_a_teammates_memory_goes_only_by_hand() -> None:
    edited = replace(MEMORY, origin="user")
    assert decide(edited, None, SHARE, None, is_version=True).code == "received"
    assert decide(edited, "share", SHARE, None, is_version=True).may_go


def test_a_title_that_repeats_a_prompt_stays() -> None:
    assert code(replace(MEMORY, title="Asked: why is my salary query slow"), "share") == "prompt"


def test_unknown_kinds_and_origins_stay() -> None:
    unknown_kind: Kind = "rumour"  # type: ignore[assignment]
    unknown_origin: Origin = "radio"  # type: ignore[assignment]
    assert code(replace(MEMORY, kind=unknown_kind)) == "by_hand"
    assert code(replace(MEMORY, origin=unknown_origin), "share") == "origin"


def test_every_code_has_a_sentence() -> None:
    sentences = {policy.sentence_of(code) for code in get_args(Code)}
    assert len(sentences) == len(get_args(Code))
    assert SharingVerdict("kept").reason in sentences
    assert SharingVerdict().reason == ""


REMARK = replace(MEMORY, kind="convention", title="Keep the web page ready", origin="user", confidence=0.75)


def test_a_remark_that_rules_found_in_a_prompt_goes_only_by_hand() -> None:
    assert code(REMARK) == "remark"
    assert decide(REMARK, None, SHARE, None, is_sent=True).takes_back
    assert code(REMARK, "share") is None


@pytest.mark.parametrize(
    "lasting",
    [
        replace(REMARK, confidence=0.85),
        replace(REMARK, pinned=True),
        replace(REMARK, made_by="user"),
        replace(REMARK, made_by="assistant"),
        replace(REMARK, made_by="anthropic/some-model"),
        replace(REMARK, origin="assistant"),
    ],
)
def test_what_the_user_means_to_last_or_an_agent_worded_goes(lasting: Memory) -> None:
    assert code(lasting) is None
