"""A project to ask about, for the tests of the call graph."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.codebase.asking import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = Project(tmp_path)
    yield made
    made.cache.let_go()
