"""What came of a call that gave no answer -> the error that says whether trying again may help.

Its message names provider and status, and never quotes what was sent or signed with; its next step says what to do."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Completion, JsonObject, Usage
from claude_mem_lite.safety.redact import redact

if TYPE_CHECKING:
    from anthropic import APIStatusError as AnthropicStatusError
    from openai import APIStatusError as OpenAiStatusError

# The same that the SDKs would try again.
_PASSING = (408, 409, 429)
# More than any model takes in a day: a number beyond it is a mistake, and would not fit the table of calls.
_MAX_TOKENS = 10**9
# By their names: which library the SDKs use for HTTP is theirs to choose.
_BEFORE_SENDING = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol")
_PROVIDERS_OWN = ("api.anthropic.com", "api.openai.com")
_MAX_SAID_LENGTH = 200
_ODD_WORD = lazy(r"[a-z]+[.,:;]?")
CHECK = "check provider, model and base_url in config.toml"
OTHER_MODEL = "another model may do better"
_NEXT_STEPS = {
    401: "check the key",
    402: "check the account",
    403: "check what the key may be used for",
    404: "check model and base_url in config.toml",
    429: "wait, or check the limits of the account",
}


def of_status(provider: str, status: int, said: str = "") -> ModelError:
    """The error for an answer with this HTTP status; `said` is what may be shown of it."""
    told = f"{provider} answered with status {status}"
    if status in _PASSING or status >= 500:
        return ModelUnavailable(told, _NEXT_STEPS.get(status, "wait; if it stays so, look at the server"))
    if 300 <= status < 400:
        return ModelRefused(f"{told}, a redirection", "set base_url in config.toml to where it leads")
    shown = f": {said}" if said and status == 404 else ""
    return ModelRefused(f"{told}{shown}", _NEXT_STEPS.get(status, CHECK))


def showable(body: object, sent: str, model: str) -> str:
    """The message in the body of an error, when it is short and plain and repeats nothing of what was sent.

    That of a 404 usually names the model that is missing."""
    said = _message_in(body).strip()
    if "<" in said or not 0 < len(said) <= _MAX_SAID_LENGTH or len(said.splitlines()) > 1:
        return ""
    words, ours = said.lower().split(), " ".join(sent.lower().split())
    runs = [" ".join(words[at : at + 3]) for at in range(len(words) - 2)]
    # A name or path of the user's work may stand alone; plain words and the model's own name may be anywhere.
    odd = [word.strip("\"'`.,:;()") for word in words if not _ODD_WORD.fullmatch(word)]
    names = [word for word in odd if len(word) > 3 and word not in model.lower()]
    return "" if any(part in ours for part in (*runs, *names)) else redact(clean(said))


def _message_in(body: object, depth: int = 0) -> str:
    if isinstance(body, Mapping) and depth < 3:
        return next(
            (_message_in(body[name], depth + 1) for name in ("error", "message", "detail") if body.get(name)), ""
        )
    return body if isinstance(body, str) else ""


def unreachable(provider: str, cause: BaseException | None, base_url: str = "") -> ModelError:
    """The error for a call without an answer. Unless it never got as far as being sent, it may have to be paid for."""
    kind = type(cause).__name__
    if kind in _BEFORE_SENDING:
        return ModelUnavailable(f"{provider} could not be reached", _see_to(base_url))
    if "Timeout" in kind:
        step = "if it stays so, choose a faster model, or one that does not think before it answers"
        return ModelUnavailable(f"{provider} did not answer in time", step, may_have_cost=True)
    return ModelUnavailable(f"{provider} broke off before its answer was there", _see_to(base_url), may_have_cost=True)


def _see_to(base_url: str) -> str:
    """What to look at when a server is not there: named by host and port alone, as an address may hold a password."""
    address = urlsplit(base_url)
    if not address.hostname or address.hostname in _PROVIDERS_OWN:
        return "check the network"
    host = f"[{address.hostname}]" if ":" in address.hostname else address.hostname
    port = address.port or (443 if address.scheme == "https" else 80)
    return f"check that the server at {host}:{port} is running and that base_url in config.toml is right"


@contextmanager
def told_plainly(
    provider: str,
    base_url: str,
    private: str,
    model: str,
    *,
    status: "type[AnthropicStatusError] | type[OpenAiStatusError]",
    connection: type[Exception],
    any_other: type[Exception],
) -> Iterator[None]:
    """Turn an SDK's errors into ours. They quote the answer, which may quote us: nothing `private` goes further."""
    try:
        yield
    except status as error:
        raise of_status(provider, error.status_code, showable(error.body, private, model)) from None
    except connection as error:
        raise unreachable(provider, error.__cause__, base_url) from None
    except TimeoutError as error:  # of our own reading, if the SDK lets it through
        raise unreachable(provider, error, base_url) from None
    except any_other as error:
        raise ModelRefused(f"{provider} could not be asked: {type(error).__name__}", CHECK) from None


def completion(provider: str, said: str, usage: Usage, *, refused: bool) -> Completion:
    """What a model said; ModelRefused when it would not, or said nothing."""
    if refused:
        raise ModelRefused(f"{provider} would not answer", OTHER_MODEL, usage)
    if not said.strip():
        raise ModelRefused(f"{provider} answered nothing", OTHER_MODEL, usage)
    return Completion(said, usage)


def missing(package: str) -> ModelError:
    return ModelRefused(f"the package {package} is not installed", "install claude-mem-lite again")


def json_body(provider: str, text: str) -> JsonObject:
    """The object a server answered with; ModelRefused when it is none."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ModelRefused(f"{provider} answered with something that is not its JSON", CHECK)
    return body


def count(value: object) -> int:
    """A number of tokens as a server told it; 0 when it is none."""
    return min(max(value, 0), _MAX_TOKENS) if isinstance(value, int) and not isinstance(value, bool) else 0
