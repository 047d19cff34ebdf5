"""Tests of `worker/shutdown.py`: a worker ends when its package is replaced or removed; a
worker of the new version can start."""

from pathlib import Path

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.shutdown import GONE_AFTER_S, Package
from tests.support.fakes import NOW
from tests.support.running import leave, payload, query, running_loop, wait_until


def test_a_package_is_replaced_when_another_file_stands_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "__init__.py"
    path.write_text("0.1.0")
    package = Package(path)
    assert not package.is_replaced()
    path.unlink()
    assert not package.is_replaced(), "an upgrade is under way"
    path.write_text("0.2.0")
    assert package.is_replaced()


def test_the_loop_ends_in_good_order_when_its_package_was_replaced(home: Home, tmp_path: Path) -> None:
    path = tmp_path / "__init__.py"
    path.write_text("0.1.0")
    with running_loop(home, lambda: NOW, package=Package(path)) as loop:
        leave(home, payload("Stop"))
        path.unlink()
        path.write_text("0.2.0 and more")
        loop.writes.wake()
        wait_until(loop.shutdown.stopping.is_set, "the loop to end")
    assert [name for (name,) in query(home.inbox_db, "select event from inbox")] == ["Stop"]


def test_a_package_is_gone_when_it_is_missing_for_longer_than_an_upgrade_takes(tmp_path: Path) -> None:
    path, now = tmp_path / "__init__.py", [0.0]
    path.write_text("0.1.0")
    package = Package(path, lambda: now[0])
    now[0] = 1000
    assert not package.is_gone()
    path.unlink()
    assert not package.is_gone(), "it may be an upgrade"
    now[0] += GONE_AFTER_S
    assert not package.is_gone()
    path.write_text("0.1.0")
    now[0] += 1
    assert not package.is_gone(), "it came back"
    path.unlink()
    assert not package.is_gone()
    now[0] += GONE_AFTER_S + 1
    assert package.is_gone()


def test_the_loop_ends_in_good_order_when_its_package_was_removed(home: Home, tmp_path: Path) -> None:
    path, now = tmp_path / "__init__.py", [0.0]
    path.write_text("0.1.0")
    with running_loop(home, lambda: NOW, package=Package(path, lambda: now[0])) as loop:
        path.unlink()
        assert not loop.package.is_gone()
        leave(home, payload("Stop"))
        now[0] = GONE_AFTER_S + 1
        loop.writes.wake()
        wait_until(loop.shutdown.stopping.is_set, "the loop to end")
    assert [name for (name,) in query(home.inbox_db, "select event from inbox")] == ["Stop"]
