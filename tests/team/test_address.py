"""Tests of `team/address.py`: which URLs are accepted, what they lead to, and the file that holds them."""

import os
from pathlib import Path

import pytest

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.team.address import Address, load_address, parse_address, save_address
from claude_mem_lite.team.reasons import TeamError

REMOTE = "postgresql://ana:s3cret@db.example.com/team"


def test_neither_text_of_an_address_shows_the_password() -> None:
    address = parse_address(REMOTE)
    assert "s3cret" not in f"{address} {address!r} {[address]}"


@pytest.mark.parametrize(
    "url",
    [
        REMOTE,
        "postgresql://ana:p%40%2F%3A%25@db.example.com:6432/team%20one?sslrootcert=%2Fetc%2Fown.pem",
        "postgresql://ana:x@127.0.0.1:5433/team",
        "postgresql://ana:x@[::1]/team",
        "postgresql://ana@/team?host=%2Frun%2Fpostgresql",
        "postgresql://ana:x@localhost/team?sslmode=verify-full&sslrootcert=ca.pem",
        "postgresql://ana:x@db.example.com/team?channel_binding=require",
    ],
)
def test_the_url_of_an_address_parses_to_the_same_address(url: str) -> None:
    address = parse_address(url)
    assert parse_address(address.url()) == address


def test_escaped_characters_of_a_password_are_decoded() -> None:
    assert parse_address("postgresql://ana:p%40%2F@db.example.com/team").password == "p@/"


def test_another_host_is_verified_with_the_authorities_of_the_system() -> None:
    address = parse_address(REMOTE)
    assert (address.sslmode, address.sslrootcert) == ("verify-full", "system")


def test_a_file_of_an_own_authority_is_kept() -> None:
    assert parse_address(f"{REMOTE}?sslrootcert=/etc/own.pem").sslrootcert == "/etc/own.pem"


@pytest.mark.parametrize("mode", ["disable", "allow", "prefer", "require", "verify-ca"])
def test_a_weaker_mode_for_another_host_is_refused(mode: str) -> None:
    with pytest.raises(TeamError) as caught:
        parse_address(f"{REMOTE}?sslmode={mode}")
    assert caught.value.code == "insecure"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.8.7", "[::1]", "localhost", "LOCALHOST"])
def test_loopback_may_be_plain(host: str) -> None:
    assert parse_address(f"postgresql://ana@{host}/team?sslmode=disable").sslmode == "disable"


def test_a_unix_socket_may_be_plain() -> None:
    address = parse_address("postgresql://ana@/team?host=/run/postgresql")
    assert (address.host, address.is_local()) == ("/run/postgresql", True)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1.example.com", "localhost.example.com", "0.0.0.0", "[::]", "10.0.0.1", "2130706433", "0x7f.1", "local"],
)
def test_a_host_that_only_looks_local_is_verified(host: str) -> None:
    assert parse_address(f"postgresql://ana:x@{host}/team").sslmode == "verify-full"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "mysql://ana@db.example.com/team",
        "db.example.com",
        "postgresql://db.example.com/team",
        "postgresql://ana:s3cret@db.example.com",
        "postgresql://ana:s3cret@/team",
        "postgresql://ana:s3cret@one.example.com,two.example.com/team",
        "postgresql://ana:s3cret@one.example.com:5432,two.example.com:5432/team",
        "postgresql://ana:s3cret@127.0.0.1/team?host=two.example.com",
        "postgresql://ana:s3cret@127.0.0.1/team?hostaddr=10.0.0.1",
        "postgresql://ana:s3cret@/team?host=/run/a,/run/b",
        "postgresql://ana:s3cret@db.example.com/team?service=other",
        "postgresql://ana:s3cret@db.example.com/team?servicefile=/tmp/x",
        "postgresql://ana:s3cret@db.example.com/team?sslmode=verify-full&sslmode=disable",
        "postgresql://ana:s3cret@db.example.com/team?sslmode=none",
        "postgresql://ana:s3cret@db.example.com:port/team",
        "postgresql://ana:s3cret@db.example.com:99999/team",
        "postgresql://ana:s3cret@[::1/team",
        "postgresql://ana:s3cret@db example.com/team",
    ],
)
def test_a_bad_url_is_refused_without_showing_the_password(url: str) -> None:
    with pytest.raises(MemoryLiteError) as caught:
        parse_address(url)
    assert caught.value.next_step
    assert "s3cret" not in str(caught.value)


def test_a_saved_address_is_loaded_from_a_private_file(tmp_path: Path) -> None:
    path, address = tmp_path / "team-address", parse_address(REMOTE)
    save_address(path, address)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_address(path, {}) == address


def test_saving_leaves_no_other_file(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    save_address(folder / "team-address", parse_address(REMOTE))
    save_address(folder / "team-address", parse_address(REMOTE))
    assert os.listdir(folder) == ["team-address"]


def test_saving_replaces_a_link_and_does_not_follow_it(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "team-address"
    target.write_text("mine")
    path.symlink_to(target)
    save_address(path, parse_address(REMOTE))
    assert target.read_text() == "mine"
    assert not path.is_symlink()


def test_an_address_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(MemoryLiteError, match="cannot be written"):
        save_address(tmp_path / "missing" / "team-address", parse_address(REMOTE))


def test_the_environment_comes_first(tmp_path: Path) -> None:
    save_address(tmp_path / "team-address", parse_address(REMOTE))
    environ = {"CLAUDE_MEM_LITE_TEAM_URL": "postgresql://ben:x@127.0.0.1/team"}
    loaded = load_address(tmp_path / "team-address", environ)
    assert loaded is not None
    assert loaded.user == "ben"


def test_there_is_no_address_without_a_file(tmp_path: Path) -> None:
    assert load_address(tmp_path / "team-address", {}) is None


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620])
def test_a_file_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "team-address"
    save_address(path, parse_address(REMOTE))
    path.chmod(mode)
    with pytest.raises(MemoryLiteError, match="chmod 600"):
        load_address(path, {})


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    save_address(tmp_path / "real", parse_address(REMOTE))
    (tmp_path / "team-address").symlink_to(tmp_path / "real")
    with pytest.raises(MemoryLiteError, match="cannot be read"):
        load_address(tmp_path / "team-address", {})


def test_an_invitation_keeps_everything_but_the_login() -> None:
    address = parse_address(f"{REMOTE}?sslrootcert=/etc/own.pem").of_member("cml_ben", "new")
    assert address == Address("db.example.com", 5432, "team", "cml_ben", "new", sslrootcert="/etc/own.pem")
