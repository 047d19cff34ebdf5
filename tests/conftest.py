"""No test sees the developer's own agent, keys or data."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from claude_mem_lite.paths import Home
from tests.support.fakes import Store
from tests.support.folders_in_memory import IN_MEMORY, is_memory_roomy

# How long an example takes to make or to run tells of the machine and what else it does, not of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
_KEPT = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TERM",
    "TMPDIR",
    "CLAUDE_BINARY",
    "CODEX_BINARY",
    "GEMINI_BINARY",
    "CI",
    "PYTEST_CURRENT_TEST",
    "PYTEST_VERSION",
)

# Tests in these folders wait for processes, and a file of one test may take half a minute.
_SLOW_FOLDERS = ("pipeline", "faults", "worker", "hook", "docs", "install", "mcp", "ui", "cli")
_TESTS = Path(__file__).parent


def pytest_configure() -> None:
    """Place the folders of `tmp_path` in memory where it has room, and have commands heed signals.

    A shell starts what runs in its background deaf to Ctrl-C, and `nohup` to a closed terminal."""
    if is_memory_roomy():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sort slow folders to the front: a long file that starts last would run alone at the end of `make test`."""
    order = {folder: number for number, folder in enumerate(_SLOW_FOLDERS)}
    items.sort(key=lambda item: order.get(item.path.relative_to(_TESTS).parts[0], len(order)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """With `-n auto`, three processes for two processors: tests of hooks and workers wait for a third of their time."""
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(processors * 3 // 2, 2)


@pytest.fixture(autouse=True)
def private_environment(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A temporary HOME, and nothing of the environment but what every program needs."""
    has_folder = "tmp_path" in request.fixturenames
    folder = request.getfixturevalue("tmp_path") if has_folder else _unused_folder(tmp_path_factory)
    user_home = folder / "user"
    user_home.mkdir(exist_ok=not has_folder)
    before = {name: value for name, value in os.environ.items() if name not in _KEPT}
    for name in before:
        del os.environ[name]
    os.environ.update({"HOME": str(user_home), "CLAUDE_MEM_LITE_HOME": str(folder / "home")})
    yield
    for name in [name for name in os.environ if name not in _KEPT]:
        del os.environ[name]
    os.environ.update(before)


_unused: list[Path] = []


def _unused_folder(factory: pytest.TempPathFactory) -> Path:
    """One for all tests that write to no folder: to make two for each of them takes longer than most of them do."""
    if not _unused or [entries for _, *entries in os.walk(_unused[-1])] != [[["user"], []], [[], []]]:
        _unused.append(factory.mktemp("unused"))
    return _unused[-1]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An empty data folder."""
    made = Home(tmp_path / "home")
    made.make()
    return made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return an open memory database without memories."""
    with Store(tmp_path / "memory.db") as made:
        yield made
