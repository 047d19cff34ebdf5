"""Removal of secrets from text, before any database or model gets it; paths, ids and hashes stay.

Called by the worker for every event. Never raises and never reports secrets. The rules that an event needs are selected
once for all of its texts: most events need none. Commands that print nothing but a secret, without a name or a format,
are known by a list."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonValue
from claude_mem_lite.safety.named_secrets import is_secret_member, is_secret_name, small, without_named, words_in
from claude_mem_lite.safety.positional_secrets import MARK, Spot, spots
from claude_mem_lite.safety.prefilter import Signs
from claude_mem_lite.safety.secret_values import has_digit_and_letter, is_password_name, is_worth_finding, looks_real
from claude_mem_lite.safety.token_formats import JWT_SIGNS, KEY_SIGNS, Format, formats, without_jwts, without_keys
from claude_mem_lite.safety.unescaped_view import UnescapedView, body_of_line
from claude_mem_lite.values import frozen

# Parts of a command, in this order. Plain literals, because every text is searched for them.
_REVEALING_COMMANDS: tuple[tuple[str, ...], ...] = (
    *(("kubectl ", "secret", f"base64 {flag}") for flag in ("-d", "-D", "--decode")),
    *(("kubectl create token",), ("kubeadm token create",), ("vault ", "-field"), ("vault print token",)),
    *(("op read ",), ("op item get ", "--fields"), ("op item get ", "--reveal"), ("pass show ",), ("bw get password",)),
    *(("lpass show ",), ("keyring get ",), ("secret-tool lookup ",), ("find-generic-password ", "-w")),
    *(("find-internet-password ", "-w"), ("get-secret-value ", "SecretString"), ("get-parameter", "--with-decryption")),
    *(("ecr get-login-password",), ("secrets versions access ",), ("print-access-token",), ("print-identity-token",)),
    *(("keyvault secret show ", "value"), ("account get-access-token",), ("gh auth token",), ("heroku config:get ",)),
    *(("doppler secrets get ", "--plain"), ("terraform output ", "-raw", "password"), ("cat ", "/run/secrets/")),
    *(("terraform output ", "-raw", "secret"), ("terraform output ", "-raw", "token"), ("cat ", ".vault-token")),
    *((command, name) for command in ("printenv ", "echo $", 'echo "$') for name in ("PASSWORD", "TOKEN", "SECRET")),
    *(("openssl rand ",), ("pwgen ",), ("sops ", "-d"), ("chamber read ", "-q")),
)  # fmt: skip
REVEALING_SIGNS = tuple({f"{parts[0]}." for parts in _REVEALING_COMMANDS})
_MAX_LINES = 3
_MAX_OUTPUT = 8_000
_MAX_COMMAND = 2_000
_MIN_SECRET = 6
_PROMPTS = "$#>%"
_KEYS, _JWTS, _REVEALING, _FIRST_RULE = 0, 1, 2, 3
_MIN_LENGTH = 8
# Colours hide a token found by `grep`, and are removed later on.
_INVISIBLE = lazy(r"[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]+(?=[!-~！-～])")
# Full-width letters, digits and signs of tokens, at an offset of 0xFEE0.
_WIDE = lazy("[０-９Ａ-Ｚａ-ｚ]")
_RUN = lazy(r"[!-~０-９Ａ-Ｚａ-ｚ＿－．]+")
_TO_NARROW = {ord(wide): ord(wide) - 0xFEE0 for wide in map(chr, range(0xFF01, 0xFF5F))}
_COLOURS = lazy(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")


@frozen
class RedactionRules:
    """Rules that a text may need, and in `removed` the secrets without a format of their own."""

    has_keys: bool
    has_jwts: bool
    formats: list[Format]
    spots: list[Spot]
    words: list[str]
    reveals: bool = False
    """True if a command among the texts prints nothing but a secret."""
    removed: set[str] = field(default_factory=set)
    done: dict[str, str] = field(default_factory=dict)
    """Texts without secrets, by text: an event repeats a tenth of its characters."""

    def known_out(self, text: str) -> str:
        """Return the text without colours and without secrets of a known format."""
        text = _plain(text)
        if self.has_keys:
            text = without_keys(text)
        if self.has_jwts:
            text = without_jwts(text)
        for format_ in self.formats:
            text = format_.without(text)
        return text

    def out(self, text: str) -> str:
        """Return the text without secrets."""
        if len(text) < _MIN_LENGTH:
            return text
        if text not in self.done:
            self.done[text] = self._out(text)
        return self.done[text]

    def _out(self, text: str) -> str:
        text = self.known_out(text)
        for spot in self.spots:
            text = spot.without(text, self.removed)
        if self.reveals:
            text = without_revealed(text, self.removed)
        return without_named(text, self.words, self.removed) if self.words else text


@cache
def all_rules() -> tuple[Format | Spot, ...]:
    """Return the formats and spots, in the order of application."""
    return (*formats(), *spots())


@cache
def _signs() -> Signs:
    return Signs([KEY_SIGNS, JWT_SIGNS, REVEALING_SIGNS, *(rule.signs for rule in all_rules())])


def rules_for(text: str) -> RedactionRules:
    """Return the rules that can change a text, or any part of it."""
    text = _plain(text)
    seen = sorted(_signs().seen_in(text))
    rules = [all_rules()[number - _FIRST_RULE] for number in seen if number >= _FIRST_RULE]
    return RedactionRules(
        has_keys=_KEYS in seen,
        has_jwts=_JWTS in seen,
        formats=[rule for rule in rules if isinstance(rule, Format)],
        spots=[rule for rule in rules if isinstance(rule, Spot)],
        words=words_in(small(text)),
        reveals=_REVEALING in seen,
    )


def _plain(text: str) -> str:
    """Return the text without colours, invisible characters and full-width characters, which hide tokens."""
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    if text.isascii():
        return text
    text = _INVISIBLE.sub("", text)
    return _RUN.sub(_narrow, text) if _WIDE.search(text) else text


def _narrow(run: re.Match[str]) -> str:
    return run[0] if run[0].isascii() or len(run[0]) < _MIN_LENGTH else run[0].translate(_TO_NARROW)


_JOIN = "\n\x1e"
_MAX_DEPTH = 200
_MAX_SOUGHT = 200
# Fields that identify an event: `/srv/token=one` and `/srv/token=two` are two projects.
_IDENTIFYING_FIELDS = frozenset(
    ("cwd", "session_id", "transcript_path", "hook_event_name", "tool_name", "prompt_id", "agent_id")
)
_USER_FLAGS = ("-u", "-U", "--user", "--proxy-user")
_MIN_PASSWORD_LENGTH = 4
_HEADERS = ("authorization", "proxy-authorization", "cookie", "set-cookie")


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[redacted:KIND]`."""
    rules = rules_for(text)
    cleaned = rules.out(text)
    return _without(_sought(rules.removed), cleaned)


def redact_json(value: JsonValue) -> JsonValue:
    """Redact every string of a JSON value, keys included; a list of strings is also read as one text.

    A secret found in one string is removed from all others too; fields that identify the event lose only secrets of a
    known format."""
    rules = rules_for(_JOIN.join(dict.fromkeys(texts_of(value))))
    cleaned = _json(_without_printed(value) if rules.reveals else value, 0, rules)
    sought = _sought(rules.removed)
    return _everywhere(sought, cleaned, 0) if sought else cleaned


def is_untouched(texts: Sequence[str], lists: Sequence[Sequence[str]]) -> bool:
    """Return whether `redact_json` certainly leaves texts and lists of lines as they are, as most. Half of the time of
    a redaction; the names of all fields must be harmless."""
    if any(line.startswith("-") for lines in lists for line in lines):
        return False  # the line after a flag may be a secret
    joined = [_JOIN.join(lines) for lines in lists]
    rules = rules_for(_JOIN.join((*texts, *joined)))
    if rules.has_keys or rules.has_jwts or rules.spots or rules.words or rules.reveals:
        return False
    return all(rules.known_out(text) == text for text in (*texts, *joined))


def _without_printed(value: JsonValue) -> JsonValue:
    """Return an event without its output if the command prints nothing but a secret."""
    tool_input = value.get("tool_input") if isinstance(value, Mapping) else None
    command = tool_input.get("command") if isinstance(tool_input, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(command, str) or not prints_secret(command):
        return value
    return {**value, "tool_response": _without_bare(value.get("tool_response"))}


def _without_bare(response: JsonValue) -> JsonValue:
    if isinstance(response, str):
        return MARK if is_bare(response) else response
    if isinstance(response, Mapping):
        return {key: _without_bare(item) if key in ("stdout", "output") else item for key, item in response.items()}
    return response


def texts_of(value: JsonValue, depth: int = 0) -> Iterator[str]:
    """Yield every string of a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif depth > _MAX_DEPTH:
        return
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from texts_of(item, depth + 1)
    elif isinstance(value, Sequence):
        for item in value:
            yield from texts_of(item, depth + 1)


def _sought(removed: set[str]) -> list[str]:
    """Return the secrets to remove elsewhere, longest first: a secret may be part of another."""
    return sorted(filter(is_worth_finding, removed), key=lambda value: (-len(value), value))[:_MAX_SOUGHT]


def _without(sought: list[str], text: str) -> str:
    for secret in sought:
        text = text.replace(secret, MARK)
    return text


def _everywhere(sought: list[str], value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        return _without(sought, value)
    if isinstance(value, Mapping):
        return {
            _without(sought, key): item
            if depth == 0 and key in _IDENTIFYING_FIELDS
            else _everywhere(sought, item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, Sequence):
        return [_everywhere(sought, item, depth + 1) for item in value]
    return value


def _json(value: JsonValue, depth: int, rules: RedactionRules) -> JsonValue:
    if isinstance(value, str):
        return rules.out(value)
    if depth > _MAX_DEPTH:
        return None
    if isinstance(value, Mapping):
        return {rules.out(key): _member(value, key, depth, rules) for key in value}
    if isinstance(value, Sequence):
        strings = [item for item in value if isinstance(item, str)]
        if len(strings) == len(value):
            return _strings(strings, rules)
        return [_json(item, depth + 1, rules) for item in value]
    return value


def _member(value: Mapping[str, JsonValue], key: str, depth: int, rules: RedactionRules) -> JsonValue:
    item = value[key]
    named = value.get("name", value.get("key"))
    name = named if key == "value" and isinstance(named, str) else key
    if not isinstance(item, str):
        return _secret_items(name, item, depth, rules) if is_secret_name(name) else _json(item, depth + 1, rules)
    if depth == 0 and key in _IDENTIFYING_FIELDS:
        return rules.known_out(item)
    if is_secret_member(name, item):
        rules.removed.add(item)
        return MARK
    if name.lower() in _HEADERS:
        return rules.out(f"{name}: {item}").removeprefix(f"{name}: ")
    return rules.out(item)


def _secret_items(name: str, item: JsonValue, depth: int, rules: RedactionRules) -> JsonValue:
    """Redact values of a secret's name that are no strings: a numeric password, or a list of secrets."""
    if isinstance(item, int) and abs(item) >= 1000 and is_password_name(name) and not name.lower().endswith("pass"):
        return MARK
    if isinstance(item, Sequence) and all(isinstance(secret, str) for secret in item):
        return [_member({name: secret}, name, depth + 1, rules) for secret in item]
    return _json(item, depth + 1, rules)


def _strings(strings: list[str], rules: RedactionRules) -> list[JsonValue]:
    """Redact a list of lines: finds a key spread over lines, and the value after a `--password`."""
    if not strings:
        return []
    result: list[JsonValue] = []
    flag = ""
    for line in rules.out(_JOIN.join(strings)).split(_JOIN):
        if flag.startswith("-") and is_secret_name(flag) and looks_real(flag, line, quoted=True, tight=True):
            rules.removed.add(line)
            result.append(MARK)
        else:
            result.append(_without_password(line, rules) if flag in _USER_FLAGS else line)
        flag = line
    return result


def _without_password(user: str, rules: RedactionRules) -> str:
    """Return `USER:PASSWORD` without the password; `1000:1000` are the ids of a user and a group."""
    name, colon, password = user.partition(":")
    if not has_digit_and_letter(password) or len(password) < _MIN_PASSWORD_LENGTH or "/" in user:
        return user
    rules.removed.add(password)
    return name + colon + MARK


def prints_secret(command: str) -> bool:
    """Return whether a command prints nothing but a secret."""
    return any(_has(command[:_MAX_COMMAND], parts) for parts in _REVEALING_COMMANDS)


def is_bare(output: str) -> bool:
    """Return whether an output is a few words without blanks, each on its own line."""
    if len(output) > _MAX_OUTPUT:
        return False
    words, lines = output.split(), output.strip().splitlines()
    return 0 < len(words) <= _MAX_LINES and len(words) == len(lines) and len(output.strip()) >= _MIN_SECRET


def without_revealed(text: str, removed: set[str]) -> str:
    """Return the text without the line below such a command."""
    view = UnescapedView(text)
    parts: list[str] = []
    done = 0
    for start, end in _revealed(view.text):
        removed.add(view.text[start:end])
        start, end = view.original(start, end)
        if start >= done:
            parts += (text[done:start], "[redacted:secret]")
            done = end
    return "".join(parts) + text[done:] if parts else text


def _revealed(text: str) -> list[tuple[int, int]]:
    commands = (parts for parts in _REVEALING_COMMANDS if _has(text, parts))
    return sorted({span for parts in commands for span in _below(text, parts)})


def _below(text: str, parts: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    at = text.find(parts[0])
    while at >= 0:
        end = text.find("\n", at, at + _MAX_COMMAND)
        if end < 0:
            at = text.find(parts[0], at + _MAX_COMMAND)
            continue
        line = text[max(0, at - 200) : at].rpartition("\n")[2]
        is_shown = any(prompt in line for prompt in _PROMPTS)
        if is_shown and _has(text[at:end], parts) and (span := _only_word(text, end + 1)):
            yield span
        at = text.find(parts[0], end)


def _only_word(text: str, start: int) -> tuple[int, int] | None:
    """Return the only word of a line."""
    end = text.find("\n", start, start + _MAX_COMMAND)
    end = end if end >= 0 else min(len(text), start + _MAX_COMMAND)
    start = body_of_line(text, start, end)
    word = text[start:end].strip().split('"')[0].split("<")[0].rstrip("'\\`")
    if len(word) < _MIN_SECRET or any(map(str.isspace, word)):
        return None
    start = text.index(word, start)
    return start, start + len(word)


def _has(line: str, parts: tuple[str, ...]) -> bool:
    at = 0
    for part in parts:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
