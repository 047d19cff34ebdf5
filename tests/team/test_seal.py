"""Tests of `team/seal.py`: sealed bodies, the check value, and the key as text."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.team.entry import project_key
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.seal import Seal, key_text, load_seal, make_key, read_key, save_key

SEAL = Seal(bytes(range(32)))
PLACE = ("p" * 32, "ana:1", 3)


def test_a_body_is_opened_only_at_its_place_and_with_its_key() -> None:
    sealed = SEAL.seal("Grüße", *PLACE, "put")
    assert SEAL.open(sealed, *PLACE, "put") == "Grüße"
    others = [("q" * 32, "ana:1", 3), ("p" * 32, "ana:2", 3), ("p" * 32, "ana:1", 4)]
    for place in others:
        with pytest.raises(TeamError) as failure:
            SEAL.open(sealed, *place, "put")
        assert failure.value.code == "bad_body"
    with pytest.raises(TeamError):
        Seal(bytes(32)).open(sealed, *PLACE, "put")


@pytest.mark.parametrize("sealed", ["", "x", "????", "AAAA", "A" * 400, "ü"])
def test_text_that_is_not_sealed_is_a_bad_body(sealed: str) -> None:
    with pytest.raises(TeamError) as failure:
        SEAL.open(sealed, *PLACE, "put")
    assert failure.value.code == "bad_body"


def test_the_same_body_is_sealed_differently_each_time() -> None:
    assert SEAL.seal("a", *PLACE, "put") != SEAL.seal("a", *PLACE, "put")


def test_only_the_key_of_a_team_opens_its_check_value() -> None:
    check = SEAL.make_check()
    assert SEAL.opens_check(check)
    assert not Seal(bytes(32)).opens_check(check)
    assert not SEAL.opens_check(b"")


def test_project_keys_are_keyed_hashes() -> None:
    remote = "github.com/acme/shop"
    key = SEAL.project_key(remote)
    assert len(key) == 32
    assert key not in (project_key(remote), Seal(bytes(32)).project_key(remote), SEAL.project_key(remote + "s"))


def test_a_key_is_read_in_any_case_and_spacing() -> None:
    written = make_key(lambda count: bytes(range(count)))
    assert written == key_text(SEAL.key)
    assert read_key(f"  {written.lower().replace('-', ' ')}\n").key == SEAL.key


@given(at=st.integers(0, 200), letter=st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"))
def test_a_mistyped_letter_is_noticed(at: int, letter: str) -> None:
    written = key_text(SEAL.key).replace("-", "")
    at %= len(written) - 1  # the last letter has bits without a meaning
    typed = written[:at] + letter + written[at + 1 :]
    if typed == written:
        assert read_key(typed).key == SEAL.key
        return
    with pytest.raises(TeamError) as failure:
        read_key(typed)
    assert failure.value.code == "wrong_key"


@pytest.mark.parametrize("written", ["", "hello", "ü", key_text(SEAL.key)[:-9], key_text(SEAL.key) + "AA"])
def test_text_that_is_no_key_is_refused(written: str) -> None:
    with pytest.raises(TeamError):
        read_key(written)


def test_a_key_file_is_read_and_may_be_missing(tmp_path: Path) -> None:
    path = tmp_path / "team-key"
    assert load_seal(path) is None
    save_key(path, key_text(SEAL.key).lower())
    loaded = load_seal(path)
    assert loaded is not None
    assert loaded.key == SEAL.key
    path.write_bytes(b"\xff")
    with pytest.raises(TeamError):
        load_seal(path)


def test_a_key_is_not_shown() -> None:
    assert repr(SEAL) == "Seal()"


def test_the_outbox_and_the_replica_load_no_cryptography() -> None:
    code = (
        "import sys; import claude_mem_lite.team.outbox, claude_mem_lite.team.replica;"
        "sys.exit('cryptography' in sys.modules or 'psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
