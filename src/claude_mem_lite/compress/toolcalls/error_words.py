"""The words of an error that may be told again: anybody may have written them, so none that tell their reader what to
do. Of such an error its class and place are left."""

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.injection import looks_like_instructions
from claude_mem_lite.text import within

_LONGEST = 4_000
_LONGEST_PLACE = 80
# A program to run, or where to get it from: "To fix this, run: pip install --index-url https://…". What is joined by
# signs is read as words, since a path or an address can say it too.
_PROGRAM = (
    r"(?:pip3?|pipx|uvx?|npm|npx|pnpm|yarn|bunx?|curl|wget|bash|sh|zsh|sudo|python3?|node|deno|git|docker|brew|apt|apk"
    r"|gem|cargo|go|rm|chmod|chown|eval|powershell|iwr|make|kubectl|ssh|scp|nc|the following|this command|https?)"
)
_ADVICE = lazy(
    rf"(?i)\b(?:run|running|execute|executing|install|installing|download|fetch|visit|paste|type|enter|use|try|via"
    rf"|exec|invoke|call)\b[^\w\n]{{0,4}}(?:\w{{1,12}} ){{0,2}}?[^\w\n]{{0,4}}{_PROGRAM}\b(?!')"
    r"|\b(?:pip3?|npm|gem|cargo|go|brew|apt(?: get)?) (?:install|i|add|get|exec)\b (?:\w+ ){0,3}?"
    r"(?:index|registry|url|http)"
    r"|\b(?:extra )?index url\b|\btrusted host\b|\b(?:npx|uvx|bunx) \w"
    r"|\b(?:please|you (?:must|should|need to|have to)|be sure to|make sure)\b.{0,60}\b(?:run|execute|install|download"
    r"|send|push|upload|delete|disable|visit|open|set|add|paste)\b"
    r"|\b(?:send|push|upload|post|mail|copy)\b.{0,60}\b(?:https?|[\w-]+\.(?:com|org|net|io|example|dev|ru|cn))\b"
    r"|\bset \w+ ?=? ?\S+ and\b"
)
_JOINED = lazy(r"[-_./+:%=]+")
_CLASS = lazy(
    r"(?:\b(?:\w{1,40}\.){0,5}[A-Z]\w{0,60}(?:Error|Exception|Warning|Interrupt|Failure|Exit)\b"
    r"|\berror\[\w{1,10}\]|\bcurl: \(\d{1,3}\)|\bnpm (?:ERR!|error)(?: code \w{1,20})?|\bHTTP (?:error )?\d{3}\b"
    r"|\b(?:E[A-Z]{4,15}|[A-Z]{2,6}\d{3,5})\b)"
)
# What a program that fetches says itself when it gets no answer.
_NO_ANSWER = lazy(
    r"curl: \(\d{1,3}\) (?:Failed|Could|Couldn't|Connection|Operation|SSL|Recv|Send|Empty|The requested URL)\b"
    r"|wget: unable"
)
_PLACE = lazy(r"(?<![\w/])[\w@.-]*(?:/[\w@.-]+)*\.\w{1,5}:\d{1,6}(?!\w)")


def tells_what_to_do(error: str) -> bool:
    """Whether an error has words for its reader: orders to an agent, or something to run, fetch or send."""
    flat = _JOINED.sub(" ", error)
    return bool(_ADVICE.search(error) or _ADVICE.search(flat) or looks_like_instructions(error))


def told_error(error: str, *, is_foreign: bool = False) -> str:
    """An error as it may be told: as it is, unless others wrote it or it tells what to do."""
    error = error[:_LONGEST]
    if (not is_foreign or _NO_ANSWER.match(error)) and not tells_what_to_do(error):
        return error
    kind = _CLASS.search(error)
    place = _PLACE.search(error)
    told = within(place[0], _LONGEST_PLACE) if place and not tells_what_to_do(place[0]) else ""
    name = kind[0] if kind else "an error"
    return f"{name} in {told}" if told else name
