"""Symbols by name, and a call graph that follows a project as it changes."""

import subprocess
from pathlib import Path

import pytest

from claude_mem_lite.code.callgraph.graph import Walks
from claude_mem_lite.code.freshness.source_files import walk
from claude_mem_lite.deadline import PAST
from tests.code.callgraph_project import Project

CALL = "from a import f\n\ndef g():\n    f()\n"


@pytest.fixture
def pair(project: Project) -> Project:
    """A function in one file and its caller in another."""
    project.write("a.py", "def f(): pass\n")
    project.write("b.py", CALL)
    return project


def git(project: Project, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(project.root), *arguments], check=True, capture_output=True)


def tracked(project: Project) -> Project:
    git(project, "init", "--quiet")
    git(project, "add", ".")
    return project


# Names.


def test_a_symbol_is_found_by_its_simple_and_its_qualified_name_and_with_its_file(project: Project) -> None:
    project.write("src/auth.py", "class Session:\n    def renew(self): pass\n\ndef renew(): pass\n")
    project.write("lib/auth.py", "class Other:\n    def renew(self): pass\n")
    assert project.symbols("renew") == [
        "lib/auth.py::Other.renew",
        "src/auth.py::Session.renew",
        "src/auth.py::renew",
    ]
    assert project.symbols("Session.renew") == project.symbols("Session::renew") == ["src/auth.py::Session.renew"]
    assert project.symbols("src/auth.py::renew()") == ["src/auth.py::Session.renew", "src/auth.py::renew"]
    assert project.symbols("./lib/auth.py::renew") == project.symbols("lib/auth.py::Other#renew")
    assert project.symbols("Renew") == []


def test_a_file_stands_for_all_it_defines(project: Project) -> None:
    project.write("src/auth.py", "class Session:\n    def renew(self): pass\n")
    assert (
        project.symbols("src/auth.py")
        == project.symbols("auth.py")
        == ["src/auth.py::Session", "src/auth.py::Session.renew"]
    )
    assert project.symbols("src/other.py") == []


def test_a_name_that_does_not_exist_has_neighbours(project: Project) -> None:
    project.write("a.py", "class Session:\n    def renew(self): pass\n\ndef reset(): pass\n")
    assert project.suggestions("Renew")[0] == "Session.renew"
    assert "Session.renew" in project.suggestions("Session.renwe")
    assert project.suggestions("zzz") == []
    assert project.suggestions("sub/b.py") == []
    assert project.suggestions("src/a.py") == ["a.py"]


def test_two_symbols_of_one_name_have_their_own_callers(project: Project) -> None:
    project.write("a.py", "class A:\n    def go(self): pass\n    def run_a(self): self.go()\n")
    project.write("b.py", "class B:\n    def go(self): pass\n    def run_b(self): self.go()\n")
    assert project.callers("A.go") == {"a.py::A.run_a"}
    assert project.callers("B.go") == {"b.py::B.run_b"}


def test_a_call_of_a_method_that_is_overridden_may_be_one_of_the_overriding(project: Project) -> None:
    project.write("a.py", "class A:\n    def step(self): pass\n    def go(self): self.step()\n")
    project.write("b.py", "from a import A\n\nclass B(A):\n    def step(self): super().step()\n")
    assert project.callers("A.step") == {"a.py::A.go", "b.py::B.step"}
    assert project.callers("B.step") == {"a.py::A.go?"}


def test_a_call_on_the_class_above_by_its_name_is_none_of_the_overriding_method(project: Project) -> None:
    project.write("a.py", "class A:\n    def step(self): pass\n\nclass B(A):\n    def step(self): A.step(self)\n")
    assert project.callers("A.step") == {"a.py::B.step"}
    assert project.callers("B.step") == set()


def test_the_classes_that_inherit_from_a_class_are_counted(project: Project) -> None:
    project.write("a.py", "class A: pass\n\nclass B(A): pass\n")
    project.write("b.py", "import a\nfrom a import A as Base\n\nclass C(Base): pass\n\nclass D(a.A): pass\n")
    project.write("c.py", "class A: pass\n\nclass E(A): pass\n")
    assert (project.heirs("a.py::A"), project.heirs("c.py::A"), project.heirs("B")) == (3, 1, 0)


# Changes.


def test_what_is_unchanged_is_not_read_again(pair: Project) -> None:
    assert pair.read().fresh == 2
    assert pair.read().fresh == 0
    pair.write("b.py", CALL + "\n    f()\n")
    assert pair.read().fresh == 1


def test_an_edit_changes_the_callers(pair: Project) -> None:
    assert pair.callers("f") == {"b.py::g"}
    pair.write("b.py", "from a import f\n\ndef g(): pass\n\ndef h():\n    f()\n")
    assert pair.callers("f") == {"b.py::h"}
    pair.write("a.py", "def other(): pass\n")
    assert pair.symbols("f") == []
    assert pair.callees("h") == set()


def test_a_deleted_file_calls_nothing_any_more(pair: Project) -> None:
    assert pair.callers("f") == {"b.py::g"}
    (pair.root / "b.py").unlink()
    assert pair.callers("f") == set()
    assert pair.symbols("g") == []


def test_a_renamed_file_is_followed(pair: Project) -> None:
    assert pair.callers("f") == {"b.py::g"}
    (pair.root / "b.py").rename(pair.root / "c.py")
    assert pair.callers("f") == {"c.py::g"}
    (pair.root / "a.py").rename(pair.root / "d.py")
    assert pair.callers("f") == set()


def test_reading_goes_on_where_time_ran_out(project: Project) -> None:
    for number in range(5):
        project.write(f"m{number}.py", f"def f{number}(): pass\n")
    root, paths = str(project.root), walk(str(project.root)).paths
    stopped = project.cache.read_calls(root, paths, deadline=PAST)
    assert (stopped.done, stopped.total) == (0, 5)
    some = project.cache.read_calls(root, paths[:2])
    assert (some.done, some.total) == (2, 2)
    whole = project.cache.read_calls(root, paths)
    assert (whole.done, whole.total, whole.fresh) == (5, 5, 3)


def test_what_was_read_for_its_symbols_alone_is_read_for_its_calls_too(pair: Project) -> None:
    pair.cache.read(str(pair.root), ["a.py", "b.py"])
    assert pair.callers("f") == {"b.py::g"}


def test_two_checkouts_do_not_mix(pair: Project, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.py").write_text(CALL)
    pair.cache.read_calls(str(other), ("b.py",))
    assert pair.callers("f") == {"b.py::g"}
    assert pair.symbols("g") == ["b.py::g"]


# Which files.


def test_with_git_what_it_tracks_is_read(pair: Project) -> None:
    tracked(pair)
    pair.write("new.py", "from a import f\n\nf()\n")
    assert pair.callers("f") == {"b.py::g"}
    git(pair, "add", "new.py")
    assert pair.callers("f") == {"b.py::g", "new.py::"}
    git(pair, "rm", "--quiet", "--cached", "new.py")
    assert pair.callers("f") == {"b.py::g"}


def test_without_git_folders_of_others_and_hidden_ones_are_left_out(pair: Project) -> None:
    for folder in (".venv/lib", "node_modules/x", "vendor", "build", "sub/__pycache__", ".hidden"):
        pair.write(f"{folder}/c.py", CALL)
    pair.write("sub/deep/d.py", CALL)
    assert walk(str(pair.root)).paths == ("a.py", "b.py", "sub/deep/d.py")


def test_links_lead_nowhere(pair: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "c.py").write_text("def secret(): pass\n")
    (pair.root / "linked").symlink_to(outside)
    (pair.root / "link.py").symlink_to(outside / "c.py")
    assert pair.symbols("secret") == []
    tracked(pair)
    assert "link.py" in Walks().find_sources(str(pair.root)).paths
    assert pair.symbols("secret") == []


def test_a_file_that_is_too_large_is_left_out_and_named(pair: Project) -> None:
    pair.write("huge.py", "def huge(): pass\n" + "#" * 1024 * 1024)
    read = pair.read()
    assert read.too_large == ("huge.py",)
    assert (read.done, read.total) == (3, 3)
    assert pair.symbols("huge") == []


def test_a_file_that_grew_too_large_is_dropped(pair: Project) -> None:
    assert pair.callers("f") == {"b.py::g"}
    pair.write("b.py", CALL + "#" * 1024 * 1024)
    assert pair.callers("f") == set()


def test_a_folder_without_code_has_no_sources(project: Project) -> None:
    project.write("README.md", "# Nothing\n")
    assert walk(str(project.root)).paths == ()
    assert walk(str(project.root / "missing")).paths == ()


def test_secrets_of_code_are_not_kept(project: Project, tmp_path: Path) -> None:
    key = "AKIA" + "Q3EGRIZ7QWERTY5A"
    project.write("a.py", f'def f(key="{key}"): pass\n\nf("{key}")\nclient = connect("{key}").{key}()\n')
    assert project.symbols("f") == ["a.py::f"]
    project.cache.release()
    assert key.encode() not in (tmp_path / "code.db").read_bytes()


@pytest.mark.parametrize("ending", ["py", "js", "ts", "tsx", "go", "rs", "java", "c", "cpp", "rb"])
def test_any_text_is_read_without_failing(ending: str, project: Project) -> None:
    pieces = [
        "(",
        "{",
        "def f(x):\n",
        "class A",
        "import",
        "@",
        "=",
        ".",
        "f(",
        "for x in",
        "<",
        "->",
        "::",
        "\x00",
        "é",
        '"',
        "\n",
    ]
    for number in range(40):
        text = "".join(pieces[(number * 7 + at * (number + 3)) % len(pieces)] for at in range(60))
        project.write(f"t{number}.{ending}", text)
    read = project.read()
    assert read.done == read.total == 40
