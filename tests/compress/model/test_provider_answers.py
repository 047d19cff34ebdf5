"""Whatever a server answers, well or badly: a turn is told, or one of two errors says what to do."""

import gzip
import json

import pytest

from claude_mem_lite.compress.model.provider_errors import unreachable
from claude_mem_lite.compress.model.request import ask, ask_summary
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.providers import Provider
from tests.compress.model.conftest import ANTHROPIC, KEY, OPENAI, REQUEST, Side
from tests.compress.model.model_server import ModelServer, Reply, anthropic_reply, error_reply, openai_reply
from tests.support.loopback import dead_port

MEMORY = {
    "kind": "bugfix",
    "title": "Compare session expiry in seconds",
    "summary": "is_valid compared seconds with milliseconds, so fresh sessions were invalid.",
    "facts": [],
    "files": ["src/auth.py"],
}
SESSION = {"headline": "Fixed expiry of sessions", "completed": "is_valid compares seconds.", "next_steps": ["Deploy"]}
ANSWER = json.dumps({"memories": [MEMORY], "session": SESSION})


def test_a_good_answer_becomes_memories_a_summary_and_what_they_took(
    side: Side, provider: Provider, server: ModelServer
) -> None:
    server.replies = [side.reply(ANSWER)]

    told = ask(provider, REQUEST)

    assert [(draft.kind, draft.title, draft.files) for draft in told.drafts] == [
        ("bugfix", "Compare session expiry in seconds", ("src/auth.py",))
    ]
    assert told.summary is not None
    assert (told.summary.headline, told.summary.next_steps) == ("Fixed expiry of sessions", ("Deploy",))
    assert (told.usage.tokens_in, told.usage.tokens_out) == (1_000, 100)
    assert told.prompt_version == "turn-2"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{ANSWER}\n```",
        f"Here is what I found:\n\n{ANSWER}\n\nLet me know if {{you}} need more [details].",
        f"<think>The user wants {{JSON}}.</think>{ANSWER}",
        ANSWER.replace("}]", "},]").replace("]}", "],}"),
        json.dumps([MEMORY]),
        json.dumps(MEMORY),
        json.dumps({"memories": MEMORY}),
        json.dumps({"memories": [{"title": MEMORY["title"], "summary": MEMORY["summary"]}]}),
        json.dumps({"memories": [{**MEMORY, "facts": None, "files": "src/auth.py", "kind": 7}, "nonsense", 3, None]}),
    ],
    ids=["fences", "prose", "thoughts", "commas", "list", "alone", "object", "missing", "types"],
)
def test_an_answer_in_a_bad_form_is_understood(side: Side, provider: Provider, server: ModelServer, text: str) -> None:
    server.replies = [side.reply(text)]
    assert [draft.title for draft in ask(provider, REQUEST).drafts] == [MEMORY["title"]]


def test_nothing_worth_remembering_is_a_valid_answer(side: Side, provider: Provider, server: ModelServer) -> None:
    server.replies = [side.reply('{"memories": [], "session": null}')]
    told = ask(provider, REQUEST)
    assert (told.drafts, told.summary) == ((), None)


@pytest.mark.parametrize(
    "text",
    ["I cannot help with that.", "{}", "null", '{"memories": [{"title": 5}]}', '{"memories": "none"}', ANSWER[:60]],
)
def test_an_unusable_answer_is_refused_with_what_it_took(
    side: Side, provider: Provider, server: ModelServer, text: str
) -> None:
    server.replies = [side.reply(text)]
    with pytest.raises(ModelRefused, match="cannot be used; another model may do better") as caught:
        ask(provider, REQUEST)
    assert caught.value.usage.tokens_out == 100


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_answer_is_refused_with_what_it_took(
    side: Side, provider: Provider, server: ModelServer, text: str
) -> None:
    server.replies = [side.reply(text)]
    with pytest.raises(ModelRefused, match="answered nothing") as caught:
        ask(provider, REQUEST)
    assert caught.value.usage.tokens_in == 1_000


@pytest.mark.parametrize(
    ("side", "reply"),
    [
        (ANTHROPIC, anthropic_reply("No.", stop_reason="refusal")),
        (OPENAI, openai_reply("", refusal="No.")),
        (OPENAI, openai_reply("half an", finish_reason="content_filter")),
    ],
    ids=["anthropic", "openai", "filtered"],
)
def test_a_model_that_will_not_answer_is_not_asked_again(side: Side, reply: Reply, server: ModelServer) -> None:
    server.replies = [reply]
    with pytest.raises(ModelRefused, match="would not answer") as caught:
        ask(side.make(server.url, 20.0), REQUEST)
    assert caught.value.usage.tokens_in == 1_000


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_a_passing_trouble_is_said_to_be_worth_another_try(
    side: Side, provider: Provider, server: ModelServer, status: int
) -> None:
    server.replies = [error_reply(status)]
    with pytest.raises(ModelUnavailable, match=f"status {status}; wait"):
        ask(provider, REQUEST)
    assert len(server.asked) == 1  # the SDK does not try again by itself


@pytest.mark.parametrize(
    ("status", "step"), [(400, "config.toml"), (401, "key"), (403, "key"), (404, "model"), (413, "config.toml")]
)
def test_a_lasting_trouble_says_what_to_do(
    side: Side, provider: Provider, server: ModelServer, status: int, step: str
) -> None:
    server.replies = [error_reply(status)]
    with pytest.raises(ModelRefused, match=f"status {status}") as caught:
        ask(provider, REQUEST)
    assert step in caught.value.next_step
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "said",
    ["model 'qwen3:8b' not found, try pulling it first", "404 page not found", "The model `qwen9` does not exist"],
)
def test_a_server_that_lacks_the_model_is_quoted(
    side: Side, provider: Provider, server: ModelServer, said: str
) -> None:
    server.replies = [error_reply(404, said)]
    with pytest.raises(ModelRefused) as caught:
        ask(provider, REQUEST)
    assert caught.value.message.endswith(f"answered with status 404: {said}")
    assert caught.value.next_step == "check model and base_url in config.toml"


@pytest.mark.parametrize(
    "said",
    [
        f"no model for {KEY}",
        "nothing found for: Why are fresh sessions invalid?",
        "no such model, you sent ARE  FRESH sessions",
        "no such file: src/auth.py",
        "<html>not found</html>",
        "one line\nand another",
        "word " * 41,
        "",
    ],
    ids=["key", "prompt", "spelling", "path", "markup", "lines", "long", "empty"],
)
def test_what_a_server_says_is_not_quoted_when_it_is_long_or_repeats_what_was_sent(
    side: Side, provider: Provider, server: ModelServer, said: str
) -> None:
    server.replies = [error_reply(404, said)]
    with pytest.raises(ModelRefused) as caught:
        ask(provider, REQUEST)
    assert caught.value.message.endswith("answered with status 404")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"error": 5}', b'{"error": {"message": {"error": {"message": "x"}}}}', b"\xff", b"null"]
)
def test_a_404_of_any_form_is_told(side: Side, provider: Provider, server: ModelServer, body: bytes) -> None:
    server.replies = [Reply(status=404, body=body)]
    with pytest.raises(ModelRefused, match="status 404"):
        ask(provider, REQUEST)


def test_a_secret_that_a_server_tells_of_is_taken_out(side: Side, provider: Provider, server: ModelServer) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    server.replies = [error_reply(404, f"no model for {token}")]
    with pytest.raises(ModelRefused) as caught:
        ask(provider, REQUEST)
    assert token not in str(caught.value)


def test_a_server_that_is_slow_is_left_in_time(side: Side, server: ModelServer) -> None:
    server.replies = [Reply(hang=True)]
    with pytest.raises(ModelUnavailable, match=r"did not answer in time; .*faster model"):
        ask(side.make(server.url, 0.2), REQUEST)


def test_a_dropped_connection_is_worth_another_try(side: Side, provider: Provider, server: ModelServer) -> None:
    whole = side.reply(ANSWER)
    server.replies = [Reply(body=whole.body, drop=True)]
    with pytest.raises(ModelUnavailable):
        ask(provider, REQUEST)


def test_a_server_that_is_not_there_is_worth_another_try(side: Side) -> None:
    with dead_port() as port, pytest.raises(ModelUnavailable, match="could not be reached") as caught:
        ask(side.make(f"http://127.0.0.1:{port}", 20.0), REQUEST)
    assert f"the server at 127.0.0.1:{port} is running and that base_url" in caught.value.next_step


def test_an_address_is_named_without_the_password_in_it(side: Side) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        ask(side.make("http://me:hunter2@127.0.0.1:1/v1?key=abc", 5.0), REQUEST)
    assert "the server at 127.0.0.1:1 is" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "step"),
    [
        ("https://api.anthropic.com", "check the network"),
        ("https://api.openai.com/v1", "check the network"),
        ("", "check the network"),
        ("https://models.example.org", "models.example.org:443"),
        ("http://[::1]/v1", "[::1]:80"),
    ],
)
def test_what_to_look_at_follows_the_address(address: str, step: str) -> None:
    class ConnectError(Exception):
        pass

    assert step in unreachable("openai/m", ConnectError(), address).next_step


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<html>Sign in to the network</html>", kind="text/html"),
        Reply(body=b"not json"),
        Reply(body=b"[1, 2]"),
        Reply(body=b"\xff\xfe\x00"),
    ],
)
def test_an_answer_that_is_no_json_points_to_the_address(
    side: Side, provider: Provider, server: ModelServer, reply: Reply
) -> None:
    server.replies = [reply]
    with pytest.raises(ModelRefused, match="base_url"):
        ask(provider, REQUEST)


@pytest.mark.parametrize(
    "body", [{}, {"content": 5, "choices": 5, "usage": "much"}, {"content": [5], "choices": [5]}, {"choices": [{}]}]
)
def test_json_of_another_shape_is_refused(side: Side, provider: Provider, server: ModelServer, body: object) -> None:
    server.replies = [Reply(body=json.dumps(body).encode())]
    with pytest.raises(ModelRefused, match="answered nothing"):
        ask(provider, REQUEST)


def test_a_redirection_is_not_followed(side: Side, provider: Provider, server: ModelServer) -> None:
    with ModelServer([side.reply(ANSWER)]) as elsewhere:
        server.replies = [Reply(status=307, location=f"{elsewhere.url}/v1/messages")]
        with pytest.raises(ModelRefused, match="redirection"):
            ask(provider, REQUEST)
        assert elsewhere.asked == []


@pytest.mark.parametrize(
    "reply",
    [error_reply(400, f"you sent {KEY} with {REQUEST.digest}"), error_reply(500, KEY), Reply(body=KEY.encode())],
)
def test_no_error_quotes_key_or_content(side: Side, provider: Provider, server: ModelServer, reply: Reply) -> None:
    server.replies = [reply]
    with pytest.raises(ModelError) as caught:
        ask(provider, REQUEST)
    assert KEY not in str(caught.value)
    assert "auth.py" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_session_is_summed_up_on_demand(side: Side, provider: Provider, server: ModelServer) -> None:
    server.replies = [side.reply(f"```json\n{json.dumps(SESSION)}\n```")]
    summary, usage, version = ask_summary(provider, "User: make it work\nAssistant: done")
    assert (summary.headline, summary.completed) == ("Fixed expiry of sessions", "is_valid compares seconds.")
    assert (usage.tokens_out, version) == (100, "session-2")


def test_a_summary_without_a_headline_is_refused(side: Side, provider: Provider, server: ModelServer) -> None:
    server.replies = [side.reply('{"headline": "", "completed": "much"}')]
    with pytest.raises(ModelRefused, match="cannot be used"):
        ask_summary(provider, "nothing")


def test_tokens_from_a_cache_are_counted_and_priced(server: ModelServer) -> None:
    took: dict[str, object] = {
        "input_tokens": 1_000,
        "output_tokens": 200,
        "cache_creation_input_tokens": 400,
        "cache_read_input_tokens": 2_000,
    }
    server.replies = [anthropic_reply(ANSWER, usage=took)]
    usage = ask(ANTHROPIC.make(server.url, 20.0), REQUEST).usage
    assert (usage.tokens_in, usage.tokens_out) == (3_400, 200)
    assert usage.cost_usd == pytest.approx((1_000 + 400 * 1.25 + 2_000 * 0.1 + 200 * 5) / 1e6)


@pytest.mark.parametrize(
    "usage",
    [None, {}, {"input_tokens": -5, "prompt_tokens": -5}, {"input_tokens": 5e5, "prompt_tokens": "12"}],
    ids=["none", "empty", "negative", "types"],
)
def test_what_a_server_does_not_say_it_took_is_guessed(
    side: Side, provider: Provider, server: ModelServer, usage: object
) -> None:
    body = json.loads(side.reply(ANSWER).body) | {"usage": usage}
    server.replies = [Reply(body=json.dumps(body).encode())]
    took = ask(provider, REQUEST).usage
    assert took.tokens_in > len(REQUEST.digest) / 4
    assert took.tokens_out > len(ANSWER) / 4


def test_absurd_numbers_are_counted_as_far_as_they_can_be(side: Side, provider: Provider, server: ModelServer) -> None:
    body = json.loads(side.reply(ANSWER).body) | {"usage": {"input_tokens": 10**400, "prompt_tokens": 10**400}}
    server.replies = [Reply(body=json.dumps(body).encode())]
    assert ask(provider, REQUEST).usage.tokens_in == 10**9


@pytest.mark.parametrize("status", [200, 500])
def test_a_server_that_sends_a_little_for_ever_is_left_in_time(side: Side, server: ModelServer, status: int) -> None:
    server.replies = [Reply(status=status, trickle=True)]
    with pytest.raises(ModelUnavailable, match="did not answer in time") as raised:
        ask(side.make(server.url, 0.5), REQUEST)
    assert raised.value.may_have_cost


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_without_measure_is_not_read(
    side: Side, provider: Provider, server: ModelServer, packed: bool
) -> None:
    body = b" " * 20_000_000
    server.replies = [Reply(body=gzip.compress(body) if packed else body, packing="gzip" if packed else "")]
    with pytest.raises(ModelUnavailable):
        ask(provider, REQUEST)


def test_a_call_that_never_left_has_cost_nothing(side: Side) -> None:
    with pytest.raises(ModelUnavailable) as raised:
        ask(side.make("http://127.0.0.1:1", 5.0), REQUEST)
    assert not raised.value.may_have_cost
