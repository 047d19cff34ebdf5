"""Tests of `compress/model/sdk_provider.py`: a request contains the configured
address, key and body, and nothing else."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from claude_mem_lite.compress.model import sdk_provider
from claude_mem_lite.compress.model.claude_cli_provider import ClaudeCliProvider
from claude_mem_lite.compress.model.provider_setup import make_provider
from claude_mem_lite.compress.model.request import ask
from claude_mem_lite.compress.model.sdk_provider import AnthropicProvider, OpenAiProvider
from claude_mem_lite.config import Config
from claude_mem_lite.errors import ModelRefused
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import LOCAL_LIMITS, CallLimits, Provider
from tests.compress.model.conftest import ANTHROPIC, KEY, OPENAI, REQUEST, Side
from tests.compress.model.model_server import Asked, ModelServer, anthropic_reply, error_reply, openai_reply

NOTHING = '{"memories": []}'
LOCAL = Config(provider="openai", model="qwen3:8b")


def asked_by(provider: Provider, server: ModelServer) -> Asked:
    ask(provider, REQUEST)
    return server.asked[-1]


def test_anthropic_is_asked_for_an_answer_of_this_form(server: ModelServer) -> None:
    server.replies = [anthropic_reply(NOTHING)]
    asked = asked_by(ANTHROPIC.make(server.url, 20.0), server)
    assert asked.path == "/v1/messages"
    assert set(asked.body) == {"model", "max_tokens", "system", "messages", "output_config"}
    assert asked.body["model"] == "claude-haiku-4-5-20251001"
    assert asked.body["max_tokens"] == 1_024
    form = asked.body["output_config"]
    assert isinstance(form, dict)
    assert form["format"]["type"] == "json_schema"
    assert set(form["format"]["schema"]["properties"]) == {"memories", "session"}


def test_openai_is_asked_for_an_answer_of_this_form(server: ModelServer) -> None:
    server.replies = [openai_reply(NOTHING)]
    asked = asked_by(OPENAI.make(f"{server.url}/v1", 20.0), server)
    assert asked.path == "/v1/chat/completions"
    assert set(asked.body) == {"model", "max_tokens", "messages", "response_format"}
    assert asked.body["max_tokens"] == 1_024
    form = asked.body["response_format"]
    assert isinstance(form, dict)
    assert form["json_schema"]["strict"] is True
    assert set(form["json_schema"]["schema"]["required"]) == {"memories", "session"}


def test_goal_titles_and_digest_are_sent_and_secrets_are_not(
    side: Side, provider: Provider, server: ModelServer
) -> None:
    server.replies = [side.reply(NOTHING)]
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    request = type(REQUEST)(f"Log in with {token}", (f"Use {token} in tests",), f"Ran:\n$ gh auth login {token}")
    ask(provider, request)
    sent = json.dumps(server.asked[0].body)
    assert "Log in with" in sent
    assert "Use " in sent
    assert "gh auth login" in sent
    assert token not in sent


def test_variables_meant_for_the_agent_change_nothing(
    side: Side, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.replies = [side.reply(NOTHING)]
    with ModelServer([side.reply(NOTHING)]) as elsewhere:
        for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"):
            monkeypatch.setenv(name, elsewhere.url)
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "OPENAI_ADMIN_KEY"):
            monkeypatch.setenv(name, "not-ours")
        for name in ("ANTHROPIC_CUSTOM_HEADERS", "OPENAI_CUSTOM_HEADERS"):
            monkeypatch.setenv(name, "X-Gateway: not-ours\nAuthorization: Bearer not-ours")
        asked = asked_by(side.make(server.url, 20.0), server)
        assert elsewhere.asked == []
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert "not-ours" not in asked.text


def test_a_model_on_this_machine_has_ten_minutes_to_answer(side: Side, server: ModelServer, tmp_path: Path) -> None:
    server.replies = [side.reply(NOTHING)]
    config = Config(provider=side.name, model="some-model", base_url=server.url)
    key = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    provider = make_provider(config, Home(tmp_path), key)
    assert isinstance(provider, AnthropicProvider | OpenAiProvider)
    assert float(asked_by(provider, server).headers["x-stainless-read-timeout"]) == 600.0


@pytest.mark.parametrize(
    ("address", "limits"),
    [
        ("", CallLimits()),
        ("https://models.example.org/v1", CallLimits()),
        ("http://127.0.0.2:11434/v1", LOCAL_LIMITS),
        ("http://localhost:11434/v1", LOCAL_LIMITS),
        ("http://[::1]:8080", LOCAL_LIMITS),
        ("http://localhost.example.org", CallLimits()),
    ],
)
def test_a_model_on_this_machine_gets_more_time_and_less_to_read(
    side: Side, tmp_path: Path, address: str, limits: CallLimits
) -> None:
    provider = make_provider(Config(provider=side.name, model="some-model", base_url=address), Home(tmp_path), {})
    assert provider is not None
    assert provider.limits == limits


def test_the_sdks_log_nothing_of_a_request(
    side: Side, server: ModelServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("anthropic", "openai", "httpx", "httpx2"):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.DEBUG)
    server.replies = [side.reply(NOTHING)]
    with caplog.at_level(logging.DEBUG):
        ask(side.make(server.url, 20.0), REQUEST)
    assert "is_valid" not in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    "message",
    ["response_format.type must be text", "Unsupported parameter: json_schema", "guided decoding needs a grammar"],
)
def test_a_server_that_knows_no_schema_is_asked_for_json_and_then_in_words(server: ModelServer, message: str) -> None:
    provider = OPENAI.make(server.url, 20.0)
    server.replies = [error_reply(400, message), error_reply(422, message), openai_reply(NOTHING)]

    ask(provider, REQUEST)
    ask(provider, REQUEST)

    forms = [asked.body.get("response_format") for asked in server.asked]
    assert [form["type"] if isinstance(form, dict) else form for form in forms] == [
        "json_schema",
        "json_object",
        None,
        None,  # it is remembered
    ]


def test_a_claude_model_without_structured_output_is_asked_in_words(server: ModelServer) -> None:
    provider = ANTHROPIC.make(server.url, 20.0)
    server.replies = [error_reply(400, "output_config: not supported by this model"), anthropic_reply(NOTHING)]

    ask(provider, REQUEST)
    ask(provider, REQUEST)

    assert ["output_config" in asked.body for asked in server.asked] == [True, False, False]


def test_rules_have_no_provider_whatever_keys_there_are(home: Home) -> None:
    keys = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY}
    assert make_provider(Config(), home, keys) is None


def test_nothing_is_imported_before_a_model_is_asked(home: Home) -> None:
    program = """
import sys
from claude_mem_lite.compress.model import request, turn_digest
from claude_mem_lite.compress.model.provider_setup import make_provider
from claude_mem_lite.config import Config
from claude_mem_lite.paths import Home
from pathlib import Path
for name in ("anthropic", "openai", "claude-cli"):
    make_provider(Config(provider=name, model="m"), Home(Path(sys.argv[1])), {})
assert not {"anthropic", "openai", "httpx", "httpx2", "pydantic"} & set(sys.modules), sorted(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program, str(home.root)], check=True)


def test_the_address_is_the_providers_own_unless_configured(home: Home) -> None:
    environment = {"ANTHROPIC_BASE_URL": "http://gateway", "OPENAI_BASE_URL": "http://gateway"}
    anthropic = make_provider(Config(provider="anthropic"), home, environment)
    openai = make_provider(LOCAL, home, environment)
    other = make_provider(Config(provider="anthropic", base_url="http://127.0.0.1:9/"), home, environment)
    cli = make_provider(Config(provider="claude-cli"), home, environment)
    assert isinstance(anthropic, AnthropicProvider)
    assert isinstance(openai, OpenAiProvider)
    assert isinstance(other, AnthropicProvider)
    assert isinstance(cli, ClaudeCliProvider)
    assert anthropic.base_url == sdk_provider.ANTHROPIC_ADDRESS
    assert openai.base_url == sdk_provider.OPENAI_ADDRESS
    assert other.base_url == "http://127.0.0.1:9"
    assert cli.base_url == ""
    assert [one.name for one in (anthropic, openai, cli)] == [
        "anthropic/claude-haiku-4-5-20251001",
        "openai/qwen3:8b",
        "claude-cli/claude-haiku-4-5-20251001",
    ]


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_without_a_key_nothing_is_sent(home: Home, name: str) -> None:
    provider = make_provider(Config(provider=name, model="m"), home, {})
    assert provider is not None
    with pytest.raises(ModelRefused, match=r"needs a key; set \w+_API_KEY, or put it into the file ") as caught:
        ask(provider, REQUEST)
    assert caught.value.next_step.endswith(f" {home.api_key}")


def test_the_key_of_another_provider_is_not_taken(home: Home) -> None:
    provider = make_provider(Config(provider="anthropic"), home, {"OPENAI_API_KEY": KEY})
    assert provider is not None
    with pytest.raises(ModelRefused, match="needs a key"):
        ask(provider, REQUEST)


def test_a_server_of_ones_own_needs_no_key(home: Home, server: ModelServer) -> None:
    server.replies = [openai_reply(NOTHING)]
    provider = make_provider(Config(provider="openai", model="m", base_url=server.url), home, {})
    assert provider is not None
    assert asked_by(provider, server).headers["authorization"] == "Bearer no-key"


@pytest.mark.parametrize(
    ("environment", "file", "sent"),
    [({"ANTHROPIC_API_KEY": " from-variable\n"}, "from-file", "from-variable"), ({}, "from-file\n", "from-file")],
)
def test_the_key_is_taken_from_the_variable_else_from_the_file(
    home: Home, server: ModelServer, environment: dict[str, str], file: str, sent: str
) -> None:
    server.replies = [anthropic_reply(NOTHING)]
    home.api_key.write_text(file)
    home.api_key.chmod(0o600)
    provider = make_provider(Config(provider="anthropic", base_url=server.url), home, environment)
    assert provider is not None
    assert asked_by(provider, server).headers["authorization"] == f"Bearer {sent}"


def test_a_key_that_others_can_read_is_not_used(home: Home, server: ModelServer) -> None:
    home.api_key.write_text(KEY)
    home.api_key.chmod(0o640)
    provider = make_provider(Config(provider="anthropic", base_url=server.url), home, {})
    assert provider is not None
    with pytest.raises(ModelRefused, match="can be read by others; run `chmod 600"):
        ask(provider, REQUEST)
    assert server.asked == []


def test_a_key_behind_a_link_or_in_no_file_is_not_used(home: Home, tmp_path: Path) -> None:
    provider = make_provider(Config(provider="anthropic"), home, {})
    assert provider is not None
    (tmp_path / "key").write_text(KEY)
    home.api_key.symlink_to(tmp_path / "key")
    with pytest.raises(ModelRefused, match="cannot be read"):
        ask(provider, REQUEST)
    home.api_key.unlink()
    os.mkfifo(home.api_key, 0o600)
    with pytest.raises(ModelRefused, match="not a file of yours"):
        ask(provider, REQUEST)


@pytest.mark.parametrize("content", ["two words", "schlüssel", "one\ntwo", "\x00"])
def test_what_cannot_be_a_key_is_not_sent(home: Home, content: str) -> None:
    home.api_key.write_text(content)
    home.api_key.chmod(0o600)
    provider = make_provider(Config(provider="anthropic"), home, {})
    assert provider is not None
    with pytest.raises(ModelRefused, match="holds is no key"):
        ask(provider, REQUEST)
