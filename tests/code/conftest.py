"""A project to ask about, for the tests of the call graph; a repository and who watches it, for those of branches."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.code.branch_watcher import Watcher
from tests.code.callgraph_project import Project
from tests.support.git_repositories import Checkout, make_checkout


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.cache.release()


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    made = make_checkout(tmp_path / "shop")
    made.commit("readme.md", "A shop.\n")
    return made


@pytest.fixture
def watcher() -> Watcher:
    return Watcher()
