"""Errors of calls to a model, which say whether a retry may help.

A message names provider and status, and never quotes the request or the key; the next step says what to do."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject
from claude_mem_lite.providers import Completion, Usage
from claude_mem_lite.safety.redact import redact

if TYPE_CHECKING:
    from anthropic import APIStatusError as AnthropicStatusError
    from openai import APIStatusError as OpenAiStatusError

# The statuses that the SDKs would retry.
_TEMPORARY = (408, 409, 429)
# More than any model takes in a day: a higher number is a mistake, and would not fit the table of calls.
_MAX_TOKENS = 10**9
# By name, because the SDKs choose their HTTP library.
_BEFORE_SENDING = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol")
_PUBLIC_HOSTS = ("api.anthropic.com", "api.openai.com")
_MAX_MESSAGE_LENGTH = 200
_PLAIN_WORD = lazy(r"[a-z]+[.,:;]?")
CHECK = "check provider, model and base_url in config.toml"
OTHER_MODEL = "another model may do better"
_NEXT_STEPS = {
    401: "check the key",
    402: "check the account",
    403: "check what the key may be used for",
    404: "check model and base_url in config.toml",
    429: "wait, or check the limits of the account",
}


class SdkErrors(NamedTuple):
    status: "type[AnthropicStatusError] | type[OpenAiStatusError]"
    connection: type[Exception]
    any_other: type[Exception]


def of_status(provider: str, status: int, message: str = "") -> ModelError:
    """Return the error for a response with an HTTP status; a 404 shows the message of the server."""
    summary = f"{provider} answered with status {status}"
    if status in _TEMPORARY or status >= 500:
        return ModelUnavailable(summary, _NEXT_STEPS.get(status, "wait; if it stays so, look at the server"))
    if 300 <= status < 400:
        return ModelRefused(f"{summary}, a redirection", "set base_url in config.toml to where it leads")
    shown = f": {message}" if message and status == 404 else ""
    return ModelRefused(f"{summary}{shown}", _NEXT_STEPS.get(status, CHECK))


def _showable(body: object, sent: str, model: str) -> str:
    """Return the message in the body of an error if short, plain and without words of the request.

    The message of a 404 usually names the missing model."""
    message = _message_in(body).strip()
    if "<" in message or not 0 < len(message) <= _MAX_MESSAGE_LENGTH or len(message.splitlines()) > 1:
        return ""
    words, request = message.lower().split(), " ".join(sent.lower().split())
    runs = [" ".join(words[at : at + 3]) for at in range(len(words) - 2)]
    # A name or path of the user's work may stand alone; plain words and the name of the model may be anywhere.
    odd = [word.strip("\"'`.,:;()") for word in words if not _PLAIN_WORD.fullmatch(word)]
    names = [word for word in odd if len(word) > 3 and word not in model.lower()]
    return "" if any(part in request for part in (*runs, *names)) else redact(clean(message))


def _message_in(body: object, depth: int = 0) -> str:
    if isinstance(body, Mapping) and depth < 3:
        return next(
            (_message_in(body[name], depth + 1) for name in ("error", "message", "detail") if body.get(name)), ""
        )
    return body if isinstance(body, str) else ""


def unreachable(provider: str, cause: BaseException | None, base_url: str = "") -> ModelError:
    """Return the error for a call without an answer; a request that was sent may cost money."""
    kind = type(cause).__name__
    if kind in _BEFORE_SENDING:
        return ModelUnavailable(f"{provider} could not be reached", _server_check(base_url))
    if "Timeout" in kind:
        step = "if it stays so, choose a faster model, or one that does not think before it answers"
        return ModelUnavailable(f"{provider} did not answer in time", step, may_have_cost=True)
    return ModelUnavailable(
        f"{provider} broke off before its answer was there", _server_check(base_url), may_have_cost=True
    )


def _server_check(base_url: str) -> str:
    """Return the next step when no server answers, with host and port alone: an address may contain a password."""
    address = urlsplit(base_url)
    if not address.hostname or address.hostname in _PUBLIC_HOSTS:
        return "check the network"
    host = f"[{address.hostname}]" if ":" in address.hostname else address.hostname
    port = address.port or (443 if address.scheme == "https" else 80)
    return f"check that the server at {host}:{port} is running and that base_url in config.toml is right"


@contextmanager
def convert_errors(provider: str, base_url: str, private: str, model: str, errors: SdkErrors) -> Iterator[None]:
    """Turn errors of an SDK into errors of the package. Errors of an SDK quote the response, which may quote the
    request: no part of `private` is passed on."""
    try:
        yield
    except errors.status as error:
        raise of_status(provider, error.status_code, _showable(error.body, private, model)) from None
    except errors.connection as error:
        raise unreachable(provider, error.__cause__, base_url) from None
    except TimeoutError as error:  # raised by `read_in_bounds`, if the SDK lets it through
        raise unreachable(provider, error, base_url) from None
    except errors.any_other as error:
        raise ModelRefused(f"{provider} could not be asked: {type(error).__name__}", CHECK) from None


def completion(provider: str, answer: str, usage: Usage, *, is_refused: bool) -> Completion:
    """Return the answer of a model; ModelRefused when the model refused or answered nothing."""
    if is_refused:
        raise ModelRefused(f"{provider} would not answer", OTHER_MODEL, usage)
    if not answer.strip():
        raise ModelRefused(f"{provider} answered nothing", OTHER_MODEL, usage)
    return Completion(answer, usage)


def json_object(text: str) -> JsonObject | None:
    """Return the JSON object that a text is; None for any other text."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def count(value: object) -> int:
    """Return the number of tokens that a server reports; 0 for anything but a number."""
    return min(max(value, 0), _MAX_TOKENS) if isinstance(value, int) and not isinstance(value, bool) else 0
