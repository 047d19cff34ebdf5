"""A store for tests of what reads and writes memories."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "memory.db") as made:
        yield made
