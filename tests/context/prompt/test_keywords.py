"""Keywords of a prompt, and synonyms."""

import os
from pathlib import Path

import pytest

from claude_mem_lite.context.prompt import keywords
from claude_mem_lite.context.prompt.keywords import MAX_TERMS
from claude_mem_lite.errors import ConfigError
from tests.support.fakes import Store
from tests.support.regex_steps import Count


def read(prompt: str) -> keywords.Keywords:
    return keywords.read(prompt, keywords.defaults())


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "yes",
        "Continue please",
        "ok, thanks!",
        "hello there",
        "1",
        "/clear",
        "<task-notification>the build of the billing service ended</task-notification>",
        '<teammate-message teammate_id="tester" color="green">\nThe billing retry queue is done.\n</teammate-message>',
        "<local-command-stdout>billing database</local-command-stdout>",
    ],
)
def test_small_talk_and_what_nobody_typed_say_nothing(prompt: str) -> None:
    assert read(prompt).strength < 1


def test_names_and_paths_stand_whole_and_split_and_come_first() -> None:
    asked = read("why does the nightly import call getUserById in src/billing/retry_queue.py")
    assert {"getuserbyid", "user", "billing", "retryqueue", "retry", "queue"} <= set(asked.words)
    assert set(asked.terms[:2]) <= {"getuserbyid", "srcbillingretryqueuepy", "src", "retryqueue"}
    assert "nightly" in asked.terms


def test_of_many_words_ten_are_terms() -> None:
    asked = read(" ".join(f"subject{chr(97 + number)}" for number in range(26)))
    assert len(asked.terms) == MAX_TERMS
    assert len(asked.words) == 26


def test_words_of_any_work_count_little_and_numbers_nothing() -> None:
    assert read("fix the failing test").strength < 1.5
    assert read("invoice rounding").strength == 2.0
    assert read("line 42 of 1000").words == ("line",)


def test_what_is_pasted_far_down_is_not_read() -> None:
    asked = read("explain this " + "filler " * 2_000 + " zebra")
    assert "zebra" not in asked.words


def test_our_own_block_is_not_what_the_user_says() -> None:
    asked = read("invoice rounding <claude-mem-lite>use pnpm</claude-mem-lite>")
    assert asked.words == ("invoice", "rounding")


def test_goals_are_noticed() -> None:
    assert read("what are the goals of this quarter").speaks_of_goals
    assert not read("make the goalkeeper faster").speaks_of_goals


def test_a_memory_has_a_word_by_its_stem_or_by_a_synonym(tmp_path: Path) -> None:
    with Store(tmp_path / "memory.db") as store:
        memory = store.remember(
            "The pipeline publishes images", summary="Rounded invoices are exported.", files=("a.py",)
        )
    asked = read("deploy the invoice rounding")
    assert asked.found_in(memory) == ["deploy", "invoice", "rounding"]
    assert asked.strength_in(["deploy", "invoice"]) == 2.0
    assert "pipeline" in asked.asked
    assert keywords.read("deploy", {}).found_in(memory) == []


def test_the_users_synonyms_are_added_and_may_take_some_away(tmp_path: Path) -> None:
    own = tmp_path / "synonyms.toml"
    assert keywords.load(own) == keywords.defaults()
    own.write_text('ledger = ["Journal", "books"]\ndeploy = []\n')
    found = keywords.load(own)
    assert found["ledger"] == ("journal", "books")
    assert found["deploy"] == ()
    assert found["auth"] == keywords.defaults()["auth"]


@pytest.mark.parametrize("written", ["deploy = 3", 'deploy = ["a", 1]', "deploy = [", "\ud800"])
def test_a_broken_file_of_synonyms_says_how_to_write_it(tmp_path: Path, written: str) -> None:
    own = tmp_path / "synonyms.toml"
    own.write_bytes(written.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigError, match=r"synonyms\.toml"):
        keywords.load(own)


def test_a_pipe_in_place_of_synonyms_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "synonyms.toml")
    with pytest.raises(ConfigError, match="no regular file; correct or remove it"):
        keywords.load(tmp_path / "synonyms.toml")


def test_a_huge_file_of_synonyms_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "synonyms.toml"
    own.write_bytes(b"#" * 300_000)
    with pytest.raises(ConfigError, match="larger than 256 KiB"):
        keywords.load(own)


def test_a_long_token_is_no_name_and_takes_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    count = Count(monkeypatch, [keywords])
    read = keywords.read(f"why does cart/total.py fail with {'aGVsbG8' * 200}", {})
    assert read.names == {"cart"}
    assert count.taken < 100_000
