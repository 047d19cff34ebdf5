"""What came of a call that gave no answer -> the error that says whether trying again may help.

Its message names provider, status and the next step, and never quotes what was sent, answered or signed with."""

import json

from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.models import JsonObject

# The same that the SDKs would try again.
_PASSING = (408, 409, 429)
# More than any model takes in a day: a number beyond it is a mistake, and would not fit the table of calls.
_MOST_TOKENS = 10**9
# By their names: which library the SDKs use for HTTP is theirs to choose.
_BEFORE_SENDING = ("ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError", "UnsupportedProtocol")
_CHECK = "check provider, model and base_url in config.toml"
_NEXT_STEPS = {
    401: "check the key",
    402: "check the account",
    403: "check what the key may be used for",
    404: "check model and base_url in config.toml",
}


def of_status(provider: str, status: int) -> ModelError:
    """The error for an answer with this HTTP status."""
    said = f"{provider} answered with status {status}"
    if status in _PASSING or status >= 500:
        return ModelUnavailable(said)
    if 300 <= status < 400:
        return ModelRefused(f"{said}, a redirection", "set base_url in config.toml to where it leads")
    return ModelRefused(said, _NEXT_STEPS.get(status, _CHECK))


def unreachable(provider: str, cause: BaseException | None) -> ModelError:
    """The error for a call without an answer. Unless it never got as far as being sent, it may have to be paid for."""
    was_sent = type(cause).__name__ not in _BEFORE_SENDING
    return ModelUnavailable(f"{provider} could not be reached, or did not answer in time", may_have_cost=was_sent)


def missing(package: str) -> ModelError:
    return ModelRefused(f"the package {package} is not installed", "install claude-mem-lite again")


def json_body(provider: str, text: str) -> JsonObject:
    """The object a server answered with; ModelRefused when it is none."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise ModelRefused(f"{provider} answered with something that is not its JSON", _CHECK)
    return body


def count(value: object) -> int:
    """A number of tokens as a server told it; 0 when it is none."""
    return min(max(value, 0), _MOST_TOKENS) if isinstance(value, int) and not isinstance(value, bool) else 0
