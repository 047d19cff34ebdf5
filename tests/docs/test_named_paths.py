"""Modules and folders that pages name exist, and docs/architecture.md lists the rooms as the import test has them."""

import re

import pytest

import claude_mem_lite
from tests.docs.pages import ROOT, Page, page, pages
from tests.test_import_directions import ROWS

PACKAGE = ROOT / "src" / claude_mem_lite.__name__
HISTORY = "CHANGELOG.md"
EXAMPLES = {"__init__.py", "jwt.py", "load.py", "migrate.py", "src/auth.py", "src/auth/jwt.py", "src/price.py"}
"""Files of a user's project, which pages tell of."""
IN_THE_HOME = {"spool/tmp", "spool/new", "spool/kept", "rendered/", "pauses/", "claude_mem_lite/hook/hook.py"}
"""Paths in the data folder."""
FOR_CONTRIBUTORS = ("docs/architecture.md", "CONTRIBUTING.md")
_MODULE = re.compile(r"`((?:[\w-]+/)*\w+\.py)(?:::\w+)?`")
_PATH = re.compile(r"`([a-z_]+/(?:[a-z_]+/)*[a-z_.]*)`")


@pytest.mark.parametrize("one", [one for one in pages() if one.name != HISTORY], ids=lambda one: str(one.name))
def test_a_module_that_is_named_exists(one: Page) -> None:
    elsewhere = EXAMPLES | IN_THE_HOME
    assert [name for name in _MODULE.findall(one.text) if not _exists(name) and name not in elsewhere] == []


@pytest.mark.parametrize("name", FOR_CONTRIBUTORS)
def test_a_folder_that_is_named_to_contributors_exists(name: str) -> None:
    named = _PATH.findall(page(name).text)
    assert named
    assert [path for path in named if not _exists(path) and path not in IN_THE_HOME] == []


def test_the_rooms_are_listed_in_the_order_of_their_imports() -> None:
    part = page("docs/architecture.md").text.partition("## Rooms")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| +(\d+) \| (`.+?`) \|", part, re.M)
    assert [(int(row), tuple(re.findall(r"`(.+?)`", rooms))) for row, rooms in rows] == list(enumerate(ROWS))


def _exists(path: str) -> bool:
    return (ROOT / path).exists() or (PACKAGE / path).exists()
