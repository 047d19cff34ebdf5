"""Tests of the choice of a model: `cli/setup/model_settings.py`, `cli/setup/config_edit.py`,
`cli/setup/model_options.py`, `cli/setup/model_question.py`, `cli/setup/local_servers.py`."""

import json
import os
import stat
import subprocess
import tomllib
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event

import pytest

from claude_mem_lite.cli.setup.config_edit import edited
from claude_mem_lite.cli.setup.local_servers import LocalServer, ServerPort, find_servers, is_local, usual_ports
from claude_mem_lite.cli.setup.model_settings import ModelChoice, present_choice, write_choice
from claude_mem_lite.paths import Home
from tests.support.fake_worker import run
from tests.support.loopback import dead_port, serving
from tests.support.running import COMMAND
from tests.support.terminals import at_terminal

KEY = "sk-made-up-0123456789"
LOCAL = ModelChoice("openai", "qwen3:8b", "http://127.0.0.1:11434/v1")


def handler(body: bytes, status: int = 200) -> type[BaseHTTPRequestHandler]:
    """Return a handler that gives this answer to a question for models."""

    class Models(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/v1/models" else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...

    return Models


def offering(*models: str) -> type[BaseHTTPRequestHandler]:
    return handler(json.dumps({"data": [{"id": model} for model in models]}).encode())


def port_of(address: str) -> int:
    return int(address.rpartition(":")[2])


def test_a_server_on_loopback_is_found_with_its_models() -> None:
    with serving(offering("qwen3:8b", "llama3")) as address, dead_port() as dead:
        found = find_servers((ServerPort("LM Studio", dead), ServerPort("Ollama", port_of(address))))
    assert found == (LocalServer("Ollama", f"{address}/v1", ("qwen3:8b", "llama3")),)


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"data": 3}', b'{"data": [3, {"id": 4}, {"id": "a\\u001b[2J"}]}', b"[" * 5000]
)
def test_another_server_on_the_port_is_no_model_server(body: bytes) -> None:
    with serving(handler(body)) as address:
        assert find_servers((ServerPort("llama.cpp", port_of(address)),)) == ()


def test_a_server_that_never_answers_is_left_after_a_moment() -> None:
    with dead_port() as port:
        assert find_servers((ServerPort("Ollama", port),), timeout_s=0.01) == ()


def test_a_server_whose_answer_never_ends_is_left_after_a_moment() -> None:
    class Trickle(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with suppress(OSError):  # the client left
                for _ in range(100):
                    self.wfile.write(b" ")
                    Event().wait(0.01)
                self.wfile.write(b'{"data": [{"id": "late"}]}')

        def log_message(self, format: str, *args: object) -> None: ...

    with serving(Trickle) as address:
        assert find_servers((ServerPort("llama.cpp", port_of(address)),), timeout_s=0.1) == ()


@pytest.mark.parametrize(
    ("host", "port"),
    [("", 11434), ("127.0.0.1:5000", 5000), ("http://localhost:5000", 5000), ("gpu.lan:5000", 11434), ("::::", 11434)],
)
def test_the_variable_of_ollama_names_the_port_on_this_machine(host: str, port: int) -> None:
    assert usual_ports({"OLLAMA_HOST": host})[0] == ServerPort("Ollama", port)


def test_addresses_of_this_machine_are_known() -> None:
    assert is_local("http://localhost/v1")
    assert is_local("http://127.0.0.2:1/")
    assert not is_local("https://api.openai.com/v1")
    assert not is_local("")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'provider = "openai"\n'),
        ("# mine\nexclude = []\n", 'provider = "openai"\n# mine\nexclude = []\n'),
        ('# a\nprovider = "rules"  # b\n# c', '# a\nprovider = "openai"\n# c'),
        ('x = 1\nprovider = "rules"', 'x = 1\nprovider = "openai"\n'),
        ("[presets.mine]\nsessions = 5\n", 'provider = "openai"\n[presets.mine]\nsessions = 5\n'),
    ],
)
def test_a_setting_is_changed_in_its_place_and_the_rest_stays(before: str, after: str) -> None:
    assert edited(before, {"provider": "openai"}) == after
    assert edited(after, {"provider": "openai"}) == after


@pytest.mark.parametrize("text", ['a = """\nprovider = 3\n"""\n', 'provider = """\nrules"""\n', "broken ="])
def test_a_form_that_cannot_be_changed_safely_is_left_alone(text: str) -> None:
    assert edited(text, {"provider": "openai"}) is None


def test_a_choice_is_read_back_as_it_was_written_and_writing_it_again_changes_nothing(home: Home) -> None:
    home.make()
    home.config.write_text("# mine\nbudget_tokens = 900\n")
    assert write_choice(home, LOCAL)
    assert present_choice(home) == LOCAL
    assert not write_choice(home, LOCAL)
    assert write_choice(home, ModelChoice())
    assert home.config.read_text() == "# mine\nbudget_tokens = 900\n"


@pytest.mark.parametrize("mode", [None, 0o644])
def test_a_key_is_for_the_user_alone_whatever_was_there(home: Home, mode: int | None) -> None:
    home.make()
    home.api_key.with_name("api-key.new").write_text("left by a run that was killed")
    if mode:
        home.api_key.write_text("older")
        home.api_key.chmod(mode)
    write_choice(home, ModelChoice("anthropic", key=KEY))
    assert home.api_key.read_text() == f"{KEY}\n"
    assert stat.S_IMODE(home.api_key.stat().st_mode) == 0o600
    assert not home.api_key.with_name("api-key.new").exists()
    assert KEY not in repr(ModelChoice(key=KEY))


@pytest.mark.parametrize(("base_url", "asks_for_key"), [("", True), ("http://127.0.0.1:1/v1", False)])
def test_a_key_is_asked_for_unless_the_provider_is_a_server_of_ones_own(
    home: Home, capsys: pytest.CaptureFixture[str], base_url: str, asks_for_key: bool
) -> None:
    address = ("--base-url", base_url) if base_url else ()
    assert run("install", "--provider", "openai", "--model", "qwen3", *address) == 0
    assert ("No key yet" in capsys.readouterr().out) is asks_for_key


def test_options_choose_a_model_without_a_terminal(home: Home) -> None:
    line = ["install", "--provider", "openai", "--model", LOCAL.model, "--base-url", LOCAL.base_url]
    for _ in range(2):
        assert run(*line) == 0
        assert present_choice(home) == LOCAL
    assert run("install") == 0
    assert present_choice(home) == LOCAL
    assert run("install", "--provider", "rules") == 0
    assert present_choice(home) == ModelChoice()


def test_a_choice_names_the_settings_that_it_removes(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("install", "--provider", "openai", "--model", LOCAL.model, "--base-url", LOCAL.base_url) == 0
    removed = f'model = "{LOCAL.model}", base_url = "{LOCAL.base_url}".'
    assert "from it: " not in capsys.readouterr().out
    assert run("install", "--provider", "rules", "--dry-run") == 0
    assert f"Would remove from it: {removed}" in capsys.readouterr().out
    assert run("install", "--provider", "rules") == 0
    assert f"Removed from it: {removed}" in capsys.readouterr().out


@pytest.mark.parametrize("address", [(), ("--base-url", "http://localhost:1234/v1")])
def test_the_option_takes_local_as_the_question_does(home: Home, address: tuple[str, ...]) -> None:
    assert run("install", "--provider", "local", "--model", LOCAL.model, *address) == 0
    assert present_choice(home) == ModelChoice("openai", LOCAL.model, address[-1] if address else LOCAL.base_url)


def test_a_key_comes_by_the_input_and_not_by_an_argument(home: Home) -> None:
    line = [str(COMMAND), "install", "--provider", "anthropic", "--key-stdin"]
    ran = subprocess.run(line, input=f"{KEY}\n", text=True, capture_output=True, check=True)
    assert KEY not in ran.stdout + ran.stderr
    assert home.api_key.read_text() == f"{KEY}\n"
    assert tomllib.loads(home.config.read_text()) == {"provider": "anthropic"}


@pytest.mark.parametrize(
    "options",
    [
        ["--model", "x"],
        ["--key-stdin"],
        ["--provider", "rules", "--model", "x"],
        ["--provider", "openai"],
        ["--provider", "claude-cli", "--key-stdin"],
        ["--provider", "openai", "--model", "x", "--base-url", "localhost"],
        ["--provider", "olama"],
        ["--provider", "local"],
        ["--provider", "local", "--model", "x", "--key-stdin"],
        ["--provider", "local", "--model", "x", "--base-url", "https://api.openai.com/v1"],
    ],
)
def test_options_that_make_no_sense_together_change_nothing(options: list[str], home: Home) -> None:
    assert run("install", *options) == 2
    assert not home.config.exists()
    assert not (Path.home() / ".claude" / "settings.json").exists()


def test_an_agent_may_not_choose_a_model(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run("install", "--provider", "claude-cli") == 1
    assert "speaks for the user" in capsys.readouterr().err
    assert not home.config.exists()
    assert not (Path.home() / ".claude" / "settings.json").exists()


@pytest.mark.parametrize("options", [(), ("--yes",), ("--provider", "claude-cli")])
def test_a_broken_config_keeps_everything_as_it_is(
    home: Home, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    home.config.write_text("provider = 3\n")
    assert run("install", *options) == 1
    assert "provider must be a string" in capsys.readouterr().err
    assert not (Path.home() / ".claude" / "settings.json").exists()
    assert home.config.read_text() == "provider = 3\n"


def test_the_question_offers_the_servers_that_were_found(home: Home) -> None:
    with serving(offering("qwen3:8b", "llama3")) as address:
        variables = {**os.environ, "OLLAMA_HOST": address}
        with at_terminal("install", "--no-allow-tools", environment=variables) as terminal:
            place = terminal.wait_for("notes? [rules]: ")
            terminal.type("local\n")
            place = terminal.wait_for("Which model? [qwen3:8b]: ", place)
            terminal.type("llama3\n")
            terminal.wait_for("Go ahead? [Y/n]: ", place)
            terminal.type("\n")
            assert terminal.finish() == 0
    assert f"Found Ollama at {address}/v1: qwen3:8b, llama3." in terminal.shown
    assert present_choice(home) == ModelChoice("openai", "llama3", f"{address}/v1")


def test_enter_in_place_of_the_name_of_a_model_says_that_a_name_is_needed(home: Home) -> None:
    with at_terminal("install", "--no-allow-tools") as terminal:
        place = 0
        for question, typed in (
            ("notes? [rules]: ", "openai"),
            ("gpt-4.1-mini): ", ""),
            ("gpt-4.1-mini): ", " gpt-x "),
        ):
            place = terminal.wait_for(question, place)
            terminal.type(f"{typed}\n")
        assert "type the name of a model; Ctrl-C ends without any change" in terminal.shown
        for question in ("later): ", "Go ahead? [Y/n]: "):
            place = terminal.wait_for(question, place)
            terminal.type("\n")
        assert terminal.finish() == 0
    assert present_choice(home) == ModelChoice("openai", "gpt-x")


def test_a_local_server_that_is_not_there_is_asked_about_again(home: Home) -> None:
    with dead_port() as port:
        variables = {**os.environ, "OLLAMA_HOST": f"127.0.0.1:{port}"}
        with at_terminal("install", "--no-allow-tools", environment=variables) as terminal:
            place = terminal.wait_for("notes? [rules]: ")
            terminal.type("local\n")
            place = terminal.wait_for("No local server answers.", place)
            terminal.wait_for("notes? [rules]: ", place)
            terminal.type("rules\n")
            terminal.wait_for("Go ahead? [Y/n]: ", place)
            terminal.type("\n")
            assert terminal.finish() == 0
    assert not home.config.exists()
