"""Secrets in code and scripts at some distance from their name: behind a type or a constructor, in a call, in a form
field of a test, on the next line of YAML. Called by `named_secrets` at a name."""

import re

from claude_mem_lite.safety.secret_values import FoundSecret, is_made_up, is_password_name, looks_real
from claude_mem_lite.safety.unescaped_view import LINE_PREFIX

EXPECTED = ('"assword', "'assword", "?assword", "*assword", "]assword")
"""Prompts that scripts wait for before sending a password."""
_QUOTE = r"\\{0,3}[\"'`]"
_TEXT = r"[^\s\"'`\\]{4,200}"
_CONSTRUCTOR = (
    r"(?:[&\w:.<>\[\]]{0,40}?"
    r"(?:String|Str|str|Secret\w{0,12}|Password\w{0,10}|Sensitive|Zeroizing|Redacted|bytes?|from|new|Some|Just|Ok|of|wrap)"
    r"[<>\w]{0,10}\({1,2}){1,3}"
)
# `: TYPE = CONSTRUCTOR("VALUE")`; type and constructor are optional.
_TYPED = re.compile(
    rf"(?:{_QUOTE})?[\]}}]{{0,2}}(?:[ \t]{{0,2}}:[ \t]{{0,2}}[&\w'<>\[\]?.: |]{{1,40}}?)?"
    rf"[ \t]{{0,4}}(?::=|=>|=|:)[ \t]{{0,4}}(?:new[ \t])?(?:{_CONSTRUCTOR})?[bru]?{_QUOTE}({_TEXT})(?={_QUOTE})"
)
_CALLED = re.compile(rf"\w{{0,14}}(?:::new|\.new|::from|\.of)?\({{1,2}}[bru]?{_QUOTE}({_TEXT})(?={_QUOTE})")
_CALLED_BEFORE = re.compile(
    r"(?i)(?:[.>:]|set_?|with_?|use_?|add_?)(?:\w{0,20}_)?\w{0,12}$|(?<![\w.])new[ \t]\w{0,20}$"
)
_PERL = re.compile(r"[\"']?[}\]]?[ \t]{0,4}(?:=>|=)[ \t]{0,4}qq?[({\[|!/]([^\s(){}\[\]|!/]{4,100})")
_FILL = (
    r"(?:fill|type|send_keys|sendKeys|set_value|setValue|press_?[sS]equentially|enterText|typeText|type_text|input_text"
    r"|fill_in)"
)
_FILLED = re.compile(
    rf"[\w -]{{0,20}}/?i?(?:{_QUOTE})?[\]}})\"'`]{{0,4}}"
    rf"(?:[^\n;\"'`]{{0,60}}?(?:\.{_FILL}\([ \t\n]{{0,8}}|value:[ \t]{{0,2}})"
    rf"|,[ \t\n]{{0,8}}(?:with:?[ \t]{{0,2}}=?>?[ \t]{{0,2}})?){_QUOTE}([^\"'`\n\\]{{4,200}})"
)
_FILL_BEFORE = re.compile(
    rf"(?i:{_FILL}|select|change|find\w{{0,16}}|locator|get\w{{0,20}}|query\w{{0,12}}|\$)[ (][^\n;]{{0,80}}$"
)
_SENT = re.compile(
    r"assword[^\n]{0,20}(?:\n[^\n]{0,80}?)?(?:send|sendline|send_line|exp_send|write)\b[ \t(]{0,3}"
    rf"(?:-[a-z][ \t])?(?:--[ \t])?(?:{_QUOTE})?([^\s\"'\\]{{4,100}})"
)
_BLOCK = re.compile(
    rf"[\"']?[ \t]{{0,2}}:[ \t]{{0,4}}([|>][+-]?\d?)?[ \t]{{0,4}}\r?\n(?:{LINE_PREFIX}|- )?[ \t]{{1,40}}"
    r"[\"']?([^\s\"'\\]{4,300}(?<!:))[\"']?[ \t]{0,4}(?=[\n\"'<\\]|$)"
)
_REACH = 90


def literal_at(text: str, at: int, end: int, name: str) -> FoundSecret:
    """Return the secret behind the name that begins at `at` and ends at `end`."""
    for pattern in (_TYPED, _PERL):
        if (match := pattern.match(text, end)) and looks_real(name, match[1], quoted=True, tight=True):
            return match.start(1), match[1]
    match = _CALLED.match(text, end)
    if match and is_made_up(match[1], strict=True) and _CALLED_BEFORE.search(text, max(0, at - 40), at):
        return match.start(1), match[1]
    return _in_block(text, end, name) or _filled_in(text, at, end, name)


def sent_at(text: str, at: int) -> FoundSecret:
    """Return the text that a script sends at a password prompt."""
    match = _SENT.match(text, at + 1)
    return (match.start(1), match[1]) if match and looks_real("password", match[1], quoted=True, tight=True) else None


def _in_block(text: str, end: int, name: str) -> FoundSecret:
    match = _BLOCK.match(text, end)
    if not match:
        return None
    is_secret = looks_real(name, match[2], quoted=True, tight=True) if match[1] else is_made_up(match[2], strict=True)
    return (match.start(2), match[2]) if is_secret else None


def _filled_in(text: str, at: int, end: int, name: str) -> FoundSecret:
    match = _FILLED.match(text, end) if is_password_name(name) else None
    if not match or not _FILL_BEFORE.search(text, max(0, at - _REACH), at):
        return None
    return (match.start(1), match[1]) if looks_real(name, match[1], quoted=True, tight=True) else None
