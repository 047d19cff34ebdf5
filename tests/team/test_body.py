"""Tests of `team/body.py`: a memory as body and back; secrets hold a memory back, and hostile bodies are refused."""

import json
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.compose.facts import answer_line
from claude_mem_lite.compress.toolcalls.steps import Answered
from claude_mem_lite.models import MAX_ANCHORS, MAX_FACTS, MAX_FILES, Memory, SymbolChange
from claude_mem_lite.team.body import (
    FIELDS,
    MAX_BODY_LENGTH,
    body_of,
    memory_of,
    read_body,
    unknown_fields,
    words_of_body,
)
from claude_mem_lite.team.local_paths import LocalPaths
from claude_mem_lite.team.reasons import TeamError
from tests.support.team_homes import BODY

AT = datetime(2026, 2, 1, 10, tzinfo=UTC)
PATHS = LocalPaths("/home/ana", ("/home/ana/shop",))
MEMORY = Memory(
    id="aaaa",
    kind="decision",
    title="Use pnpm for the shop",
    summary="npm installed two versions of react. Asked: can you fix my build please",
    detail='The user said: "fix my build please"',
    created_at=AT,
    last_seen_at=AT,
    scope="project:shop",
    project="shop",
    facts=("it is in /home/ana/shop/package.json", "Commit abc123"),
    files=("package.json", "/home/ana/shop/src/a.ts", "/home/ana/.npmrc"),
    symbols=(SymbolChange("src/a.ts", "load", "modified"), SymbolChange("/etc/x", "y", "new")),
    anchors=("code:1:2:src/a.ts::load", "code:1:2:/home/ana/x.ts::load", "error:abcdef"),
    tags=("build", "approved"),
    session="s1",
    prompt="p1",
    branch="main",
    commit="abc",
)


def made(memory: Memory = MEMORY) -> dict[str, object]:
    body = body_of(memory, "active", PATHS)
    assert body is not None
    value: dict[str, object] = json.loads(body)
    return value


def test_choices_of_the_user_are_left_out_of_a_body() -> None:
    answer = answer_line(Answered("Does the plan of ana look right?", "Skip the dashboard"), 80)
    assert made(replace(MEMORY, facts=("Commit abc123", answer)))["facts"] == ["Commit abc123"]


def test_a_body_has_the_fields_of_the_protocol_and_no_others() -> None:
    assert list(made()) == list(FIELDS)
    assert made() == {
        "kind": "decision",
        "title": "Use pnpm for the shop",
        "summary": "npm installed two versions of react.",
        "facts": ["it is in package.json", "Commit abc123"],
        "files": ["package.json", "src/a.ts"],
        "symbols": [{"file": "src/a.ts", "name": "load", "action": "modified"}],
        "anchors": ["code:1:2:src/a.ts::load", "error:abcdef"],
        "tags": ["build"],
        "branch": "main",
        "commit": "abc",
        "created_at": "2026-02-01T10:00:00.000000+00:00",
        "status": "active",
    }


def test_equal_memories_have_equal_bodies_whatever_this_machine_learned() -> None:
    other = replace(MEMORY, detail="", session="", confidence=0.1, pinned=True, times_seen=9, last_seen_at=AT)
    assert body_of(other, "active", PATHS) == body_of(MEMORY, "active", PATHS)


@pytest.mark.parametrize(
    "values",
    [
        {"summary": "The token is ghp_" + "a1B2" * 9},
        {"facts": ("export AWS_SECRET_ACCESS_KEY=" + "wJalrXUtnFEMI/K7MDENG" + "bPxRfiCYzzPLEKEY12",)},
        {"title": "Log in with password: hunter2Secret9"},
        {"summary": "It is <private>between us</private> only"},
        {"tags": ("ghp_" + "a1B2" * 9,)},
        {"branch": "ghp_" + "a1B2" * 9},
    ],
)
def test_a_memory_with_a_secret_has_no_body(values: dict[str, object]) -> None:
    assert body_of(replace(MEMORY, **values), "active", PATHS) is None  # type: ignore[arg-type]


def test_a_secret_in_the_detail_holds_nothing_back() -> None:
    assert made(replace(MEMORY, detail="ghp_" + "a1B2" * 9)) == made()


def test_lists_and_texts_are_cut_to_the_limits_of_a_receiver() -> None:
    many = tuple(f"item {number}" for number in range(100))
    long = replace(MEMORY, title="a " * 300, summary="b " * 30_000, facts=many, files=many, anchors=many, tags=many)
    body = body_of(long, "active", PATHS)
    assert body is not None
    read = read_body(body)
    assert (len(read.facts), len(read.files), len(read.anchors)) == (MAX_FACTS, MAX_FILES, MAX_ANCHORS)


def test_a_received_body_gives_the_memory_of_a_teammate() -> None:
    body = body_of(MEMORY, "active", PATHS)
    assert body is not None
    received = memory_of(read_body(body), "bbbb", "shop-2", "ana")
    assert (received.origin, received.author, received.trust, received.made_by) == ("team", "ana", 0.5, "team")
    assert (received.scope, received.project, received.pinned) == ("project:shop-2", "shop-2", False)
    assert body_of(received, "active", LocalPaths("/home/ben")) == body


def test_unknown_fields_are_kept() -> None:
    body = json.dumps({**BODY, "mood": {"is": "new"}})
    assert unknown_fields(body) == {"mood": {"is": "new"}}
    read_body(body)
    again = body_of(MEMORY, "active", PATHS, unknown_fields(body))
    assert again is not None
    assert json.loads(again)["mood"] == {"is": "new"}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "rumour"},
        {"kind": "preference"},
        {"kind": 7},
        {"title": ""},
        {"title": "a" * 201},
        {"title": ["a"]},
        {"summary": "a" * 20_001},
        {"summary": None},
        {"facts": ["a"] * (MAX_FACTS + 1)},
        {"facts": "a"},
        {"facts": ["a" * 2_001]},
        {"files": ["a"] * (MAX_FILES + 1)},
        {"files": [{}]},
        {"anchors": ["a"] * (MAX_ANCHORS + 1)},
        {"tags": ["a" * 501]},
        {"symbols": [{"file": "a"}]},
        {"symbols": [{"file": "a", "name": "b", "action": "stolen"}]},
        {"created_at": "yesterday"},
        {"created_at": "2026-02-01T10:00:00"},
        {"created_at": 12},
        {"status": "superseded"},
        {"status": "quarantined"},
        {"status": True},
        {"branch": "a" * 501},
        {"title": "a\x00b"},
    ],
)
def test_a_field_of_a_wrong_type_or_size_is_a_bad_body(change: dict[str, object]) -> None:
    with pytest.raises(TeamError) as failure:
        read_body(json.dumps({**BODY, **change}))
    assert failure.value.code == "bad_body"


@pytest.mark.parametrize("missing", ["kind", "title", "created_at"])
def test_a_body_without_a_needed_field_is_bad(missing: str) -> None:
    with pytest.raises(TeamError):
        read_body(json.dumps({name: value for name, value in BODY.items() if name != missing}))


@pytest.mark.parametrize(
    "body", ["", "[]", "7", "{", "null", "[" * 50_000, '{"a":' * 20_000, " " * MAX_BODY_LENGTH + "x"]
)
def test_text_that_is_no_object_is_a_bad_body(body: str) -> None:
    with pytest.raises(TeamError) as failure:
        read_body(body)
    assert failure.value.code == "bad_body"


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner)))
def test_any_value_in_any_field_is_read_or_refused(value: object) -> None:
    for name in FIELDS:
        with suppress(TeamError):
            memory_of(read_body(json.dumps({**BODY, name: value})), "bbbb", "shop", "ana")


def test_a_received_text_is_cleaned_like_an_import() -> None:
    body = read_body(
        json.dumps(
            {
                **BODY,
                "title": "\x1b[31mUse\x1b[0m pnpm\nnow",
                "summary": "key ghp_" + "a1B2" * 9,
                "files": ["../../etc/passwd", "/etc/passwd", "a.py"],
                "anchors": ["code:1:2:../../x::y", "code:1:2:/etc/x::y", "code:1:2:a.py::y"],
                "tags": ["approved", "private", "build"],
                "symbols": [{"file": "/etc/x", "name": "y", "action": "new"}],
            }
        )
    )
    received = memory_of(body, "bbbb", "shop", "ana")
    assert received.title == "Use pnpm now"
    assert "ghp_" not in received.summary
    assert (received.files, received.anchors, received.symbols) == (("a.py",), ("code:1:2:a.py::y",), ())
    assert received.tags == ("build",)


def test_a_title_of_nothing_but_noise_is_a_bad_body() -> None:
    with pytest.raises(TeamError):
        memory_of(read_body(json.dumps({**BODY, "title": "\u200b\u200b"})), "bbbb", "shop", "ana")


def test_search_on_the_server_gets_title_summary_facts_files_and_tags() -> None:
    words = words_of_body(json.dumps(BODY))
    assert words.split("\n") == [BODY["title"], BODY["summary"], *BODY["facts"], *BODY["files"], *BODY["tags"]]
