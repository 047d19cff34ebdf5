"""Purging: what is ours goes, what is not stays, whatever folder the variable names."""

from pathlib import Path

import pytest

from claude_mem_lite.install.purge import is_data_folder, purge
from claude_mem_lite.paths import Home


def filled(home: Home) -> Home:
    home.make()
    home.memory_db.write_text("x")
    home.synonyms.write_text("")
    home.api_key.write_text("sk-none")
    (home.root / "damaged-20260101T000000Z").mkdir()
    (home.spool_new / "event").write_text("x")
    home.hook_python.symlink_to("/bin/true")
    return home


def test_a_home_is_gone_after_it(home: Home) -> None:
    assert purge(filled(home)) == []
    assert not home.root.exists()


def test_what_is_not_ours_stays_and_is_named(home: Home) -> None:
    (filled(home).root / "thesis").mkdir()
    (home.root / "thesis" / "chapter").write_text("long work")
    assert purge(home) == [home.root / "thesis"]
    assert (home.root / "thesis" / "chapter").read_text() == "long work"
    assert not home.memory_db.exists()


def test_a_folder_that_only_looks_like_one_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "var" / "spool" / "mail").mkdir(parents=True)
    assert not is_data_folder(Home(tmp_path / "var"))


@pytest.mark.parametrize("above", [0, 1])
def test_the_users_own_folder_is_no_home_whatever_is_in_it(tmp_path: Path, above: int) -> None:
    user = tmp_path / "user"
    folder = (user, *user.parents)[above]
    filled(Home(folder))
    assert not is_data_folder(Home(folder))


def test_a_link_in_the_place_of_a_folder_of_ours_is_not_followed(home: Home, tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "file").write_text("x")
    (filled(home).root / "installs").symlink_to(tmp_path / "precious")
    assert purge(home) == []
    assert (tmp_path / "precious" / "file").exists()


def test_a_link_planted_in_a_fallback_place_is_left_alone(home: Home, tmp_path: Path) -> None:
    place = home.fallback_spools()[1]
    (tmp_path / "precious").mkdir()
    place.symlink_to(tmp_path / "precious")
    try:
        assert purge(filled(home)) == []
        assert place.is_symlink()
        assert (tmp_path / "precious").is_dir()
    finally:
        place.unlink()


def test_a_home_that_is_a_link_goes_with_the_place_it_leads_to(home: Home, tmp_path: Path) -> None:
    filled(home)
    linked = Home(tmp_path / "link")
    linked.root.symlink_to(home.root)
    assert purge(linked) == []
    assert not home.root.exists()
    assert not linked.root.is_symlink()
