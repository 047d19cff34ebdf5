"""Which files the API of the call graph reads: a walk is remembered while what it found is being read."""

from pathlib import Path

from claude_mem_lite.code.callgraph.graph import Walks


def test_a_walk_is_remembered_while_the_reading_goes_on(tmp_path: Path) -> None:
    shop, other = tmp_path / "shop", tmp_path / "other"
    for folder in (shop, other):
        folder.mkdir()
        (folder / "a.py").write_text("")
    now = 0.0
    walks, root = Walks(lambda: now), str(shop)
    walks.keep(root, walks.find_sources(root))
    for folder in (shop, other):
        (folder / "b.py").write_text("")
    assert walks.find_sources(root).paths == ("a.py",)
    assert walks.find_sources(str(other)).paths == ("a.py", "b.py")
    now = 31.0
    assert walks.find_sources(root).paths == ("a.py", "b.py")


def test_a_reading_that_is_over_is_looked_at_anew(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    walks, root = Walks(lambda: 0.0), str(tmp_path)
    walks.keep(root, walks.find_sources(root))
    (tmp_path / "b.py").write_text("")
    walks.forget()
    assert walks.find_sources(root).paths == ("a.py", "b.py")
