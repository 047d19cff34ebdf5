"""Benchmark of guards: recorded calls beside rules, labels by reference, figures."""

import gzip
import json
from pathlib import Path

import pytest
from benchmarks.guard_calls import PastCall, pairs, past_calls, proposals, rules
from benchmarks.guard_sheets import LABELS, drawn, label
from benchmarks.guards import Label, figures_of, labels, proposed_in_prompts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one session: npm runs, is mentioned, and a file in vendor/ is written."""
    calls = [
        ("Bash", {"command": "cd web && npm ci"}),
        ("Bash", {"command": "git commit -m 'npm ci'"}),
        ("Write", {"file_path": "/shop/vendor/a.go", "content": "x"}),
        ("Read", {"file_path": "/shop/vendor/a.go"}),
    ]
    prompt = {"type": "user", "message": {"content": "Use pnpm, not npm. Thanks."}}
    said = [
        {
            "type": "assistant",
            "cwd": "/shop",
            "gitBranch": "main",
            "message": {"content": [{"type": "tool_use", "id": f"t{number}", "name": name, "input": given}]},
        }
        for number, (name, given) in enumerate(calls)
    ]
    (tmp_path / "shop" / "sessions").mkdir(parents=True)
    lines = "\n".join(json.dumps(record) for record in (prompt, *said, said[0]))
    (tmp_path / "shop" / "sessions" / "s1.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return tmp_path / "shop"


def test_each_call_that_a_guard_can_match_is_read_once(folder: Path) -> None:
    assert [past.id for past in past_calls(folder)] == ["t0", "t1", "t2"]
    assert {past.call.branch for past in past_calls(folder)} == {"main"}


def test_a_call_is_held_against_the_rules_whose_words_it_holds(folder: Path) -> None:
    guards = {name: proposals()[name].rule for name in ("pnpm", "vendor")}
    held = [(pair.past.id, pair.rule, bool(pair.match)) for pair in pairs(list(past_calls(folder)), guards)]
    assert held == [("t0", "pnpm", True), ("t1", "pnpm", False), ("t2", "vendor", True)]


def test_labels_name_no_text_of_the_calls(folder: Path) -> None:
    calls: list[PastCall] = list(past_calls(folder))
    for draw in ("fired", "near", "unfired", "other"):
        for pair in drawn(draw, calls):
            told = json.loads(label(pair, draw, should=True))
            assert set(told) == {"project", "session", "call", "rule", "draw", "should"}


def test_precision_and_recall_come_of_the_labels(folder: Path) -> None:
    judged = [
        Label(("shop", "t0", "pnpm"), "fired", should=True),
        Label(("shop", "t2", "vendor"), "fired", should=False),
        Label(("shop", "t1", "pnpm"), "near", should=False),
    ]
    figures = {one.name: one.value for one in figures_of("shop", list(past_calls(folder)), judged, is_bar=False)}
    assert figures["shop: precision"] == 0.5
    assert figures["shop: recall"] == 1


def test_sentences_of_prompts_are_proposed(folder: Path) -> None:
    assert dict(proposed_in_prompts(folder)) == {"Use pnpm, not npm.": True, "Thanks.": False}


def test_the_kept_labels_name_rules_of_the_file() -> None:
    assert {one.key[2] for one in labels()} <= set(rules())
    assert LABELS.exists()
    assert len(rules()) > 30
