"""Purging: what is ours goes, what is not stays, whatever folder the variable names."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files, file_swap
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.install.purge import is_data_folder, is_own_name, purge
from claude_mem_lite.paths import Home
from claude_mem_lite.team.secret_files import write_secret


def filled(home: Home) -> Home:
    home.make()
    home.memory_db.write_text("x")
    home.synonyms.write_text("")
    home.api_key.write_text("sk-none")
    for path in (home.team_address, home.team_admin_address, home.team_key):
        write_secret(path, "a secret")
    for unfinished in ("team-url.new", ".team-url.0123456789abcdef"):
        (home.root / unfinished).write_text("a secret")
    aside = home.root / "damaged-20260101T000000Z-2"
    aside.mkdir()
    (aside / "memory.db-wal").write_text("x")
    file_swap.new_file(home.memory_db).write_text("x")
    (home.root / "replacing.json.new").write_text("x")
    (home.root / "ui-4711.html").write_text("x")
    for suffix in ("", ".new", ".tmp"):
        home.rendered_for("/home/dev").with_suffix(suffix).write_text("x")
    with closing(sqlite3.connect(aside / home.memory_db.name)) as db:
        migrate(db, MEMORY_MIGRATIONS, datetime(2026, 1, 1, tzinfo=UTC))
    backup_files.make(aside / home.memory_db.name, home.backups, datetime(2026, 1, 1, tzinfo=UTC))
    (home.backups / ".making-1-wal").write_text("x")
    (home.spool_new / "event").write_text("x")
    home.hook_python.symlink_to("/bin/true")
    return home


def test_a_home_is_gone_after_it(home: Home) -> None:
    assert purge(filled(home)) == []
    assert not home.root.exists()


def test_everything_that_a_home_names_is_ours(home: Home) -> None:
    paths = {name: getattr(home, name) for name, made in vars(Home).items() if isinstance(made, property)}
    assert {"backups", "recoveries", "memory_db"} <= set(paths)
    tops = {name: path.relative_to(home.root).parts[0] for name, path in paths.items()}
    assert [name for name, top in tops.items() if not is_own_name(top)] == []
    databases = [path.name for path in paths.values() if path.suffix == ".db"]
    beside = [f"{name}{suffix}" for name in databases for suffix in ("-wal", "-shm", "-journal")]
    assert len(beside) >= 9
    assert [name for name in beside if not is_own_name(name)] == []


def test_what_is_not_ours_stays_and_is_named(home: Home) -> None:
    (filled(home).root / "thesis").mkdir()
    (home.root / "thesis" / "chapter").write_text("long work")
    assert purge(home) == [home.root / "thesis"]
    assert (home.root / "thesis" / "chapter").read_text() == "long work"
    assert not home.memory_db.exists()


OF_THE_USER = (
    "damaged-photos/2024/a.jpg",
    "damaged-20260101T000000Z/mine.txt",
    "before-restore-notes",
    "backups/holiday.tar",
    "backups/memory-of-mine.db",
    "rendered/a film.mp4",
    "config.toml.new-ideas.txt",
    "memory.db.newer",
    "ui-sketches.html",
)


@pytest.mark.parametrize("theirs", OF_THE_USER)
def test_a_file_of_the_user_stays_though_its_name_is_near_to_one_of_ours(home: Home, theirs: str) -> None:
    path = filled(home).root / theirs
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    assert purge(home) == [home.root / Path(theirs).parts[0]]
    assert path.read_text() == "mine"
    assert [one for one in home.root.rglob("*") if one.is_file()] == [path]


def test_a_link_in_the_place_of_the_backups_goes_and_what_it_leads_to_stays(home: Home, tmp_path: Path) -> None:
    kept = tmp_path / "elsewhere" / "memory-20260101T000000Z-000000000001.db"
    kept.parent.mkdir()
    kept.write_text("x")
    filled(home).backups.rename(tmp_path / "before")
    home.backups.symlink_to(kept.parent)
    assert purge(home) == []
    assert kept.read_text() == "x"


def test_a_folder_that_only_looks_like_one_is_no_home(tmp_path: Path) -> None:
    (tmp_path / "var" / "spool" / "mail").mkdir(parents=True)
    assert not is_data_folder(Home(tmp_path / "var"))


@pytest.mark.parametrize("above", [0, 1])
def test_the_users_own_folder_is_no_home_whatever_is_in_it(tmp_path: Path, above: int) -> None:
    user = tmp_path / "user"
    folder = (user, *user.parents)[above]
    Home(folder).memory_db.touch()
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
