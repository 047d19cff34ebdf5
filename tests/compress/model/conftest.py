"""A model's server for each test, both SDKs in front of it, and a watch on every address this process turns to."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from claude_mem_lite.compress.model.request import TurnRequest
from claude_mem_lite.compress.model.sdk_provider import AnthropicProvider, OpenAiProvider
from claude_mem_lite.providers import CallLimits, Prices, Provider
from tests.compress.model.model_server import ModelServer, Reply, anthropic_reply, openai_reply

KEY = "sk-test-0123456789"
REQUEST = TurnRequest(
    goal="Make sessions expire at the right time",
    titles=("Add a session class",),
    digest="Asked:\nWhy are fresh sessions invalid?\n\nEdited:\nsrc/auth.py: changed is_valid (+1 -1)\n\n"
    "Said at the end:\nDeploy it.",
    files_edited=("src/auth.py",),
)
_addresses: list[str] = []
_watched = False


@dataclass(frozen=True, slots=True)
class Side:
    """One SDK: how a provider of it is made and how its server answers."""

    name: str
    make: Callable[[str, float], Provider]
    reply: Callable[[str], Reply]


ANTHROPIC = Side(
    "anthropic",
    lambda url, timeout_s: AnthropicProvider(
        "claude-haiku-4-5-20251001", lambda: KEY, Prices(1, 5), url, CallLimits(timeout_s)
    ),
    anthropic_reply,
)
OPENAI = Side(
    "openai",
    lambda url, timeout_s: OpenAiProvider("qwen3:8b", lambda: KEY, Prices(), url, CallLimits(timeout_s)),
    openai_reply,
)


@pytest.fixture(params=[ANTHROPIC, OPENAI], ids=["anthropic", "openai"])
def side(request: pytest.FixtureRequest) -> Side:
    chosen: Side = request.param
    return chosen


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
def provider(side: Side, server: ModelServer) -> Provider:
    return side.make(server.url, 20.0)


@pytest.fixture(autouse=True)
def no_certificates(private_environment: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Loopback needs none, and to read those of this machine takes longer than a call."""
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        _addresses.append(str(arguments[1][0]))
    elif event == "socket.getaddrinfo":
        _addresses.append(str(arguments[0]))


@pytest.fixture(autouse=True)
def nothing_but_loopback() -> Iterator[None]:
    """No test of this folder turns to another machine."""
    global _watched
    if not _watched:
        sys.addaudithook(_note)
        _watched = True
    _addresses.clear()
    yield
    assert set(_addresses) <= {"127.0.0.1", "::1", "localhost"}
