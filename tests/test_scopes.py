"""One grammar of scopes, for the command line, files of memories and the worker."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import click
import pytest

from claude_mem_lite.cli.options import scope
from claude_mem_lite.compress.lessons.lesson import NAMES, without_scope
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.export_format import values_of
from claude_mem_lite.knowledge.user_edits import named_scope
from claude_mem_lite.scopes import LANGUAGES, SAME_LANGUAGE, SCOPES, language_name, written_scope

HERE = "example.org/me/here"


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as made:
        yield made


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("universal", "universal"),
        (" Universal ", "universal"),
        ("PROJECT", "project"),
        ("Language: Python ", "language:python"),
        ("language:golang", "language:go"),
        ("language:JS", "language:javascript"),
        ("language:cpp", "language:c++"),
        ("language:bash", "language:shell"),
        (f"Project:{HERE}", f"project:{HERE}"),
        ("project:/tmp/ends with a space ", "project:/tmp/ends with a space "),
    ],
)
def test_a_scope_is_read_alike_wherever_it_is_written(given: str, meant: str) -> None:
    line = {"kind": "note", "title": "t", "scope": given}
    assert (written_scope(given), scope(given)) == (meant, meant)
    assert values_of(line) == ({"kind": "note", "title": "t", "scope": meant}, [])


def test_every_name_of_a_language_comes_out_as_the_one_a_project_is_found_by() -> None:
    found = {name: language_name(name) for name in (*NAMES, *SAME_LANGUAGE, *LANGUAGES)}
    unknown = {meant for meant in found.values() if meant not in LANGUAGES}
    assert unknown == {"haskell", "sql", "html", "css", "perl", "zig"}, "no project is found to be in these"
    for name in NAMES:
        assert without_scope(f"In {name}, use small functions").scope == f"language:{found[name]}"


@pytest.mark.parametrize("given", ["Universal", "Language:Python", "Project", f"Project:{HERE}"])
def test_the_worker_reads_it_so_too(given: str, db: sqlite3.Connection) -> None:
    meant = written_scope(given)
    assert named_scope(db, given, HERE) == (f"project:{HERE}" if meant == "project" else meant)


@pytest.mark.parametrize("given", ["", "galaxy", "language", "language: ", "project:", "project: ", "universal:x"])
def test_what_is_no_scope_is_refused_by_all_with_what_may_be_written(given: str, db: sqlite3.Connection) -> None:
    assert written_scope(given) is None
    with pytest.raises(click.BadParameter, match=SCOPES):
        scope(given)
    with pytest.raises(MemoryLiteError, match=SCOPES):
        named_scope(db, given, HERE)
    assert SCOPES in values_of({"kind": "note", "title": "t", "scope": given})[1][0]
