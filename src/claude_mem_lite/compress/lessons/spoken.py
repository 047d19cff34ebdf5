"""A prompt -> the sentences that the user says in it: without code, logs, quotations, documents and what clients add.

Called with whatever was typed or pasted; what is read of it is bounded, so a prompt of a megabyte takes a moment."""

import re
from collections.abc import Iterator

from claude_mem_lite.compress.language.clean import clean, clip
from claude_mem_lite.compress.language.prose import passages, sentences

_LONGEST_CLEANED = 1_000_000
_LONGEST_READ = 20_000
LONGEST_SENTENCE = 400
"""What is longer was pasted, or tells a story: nobody gives a rule in a hundred words."""
# What clients and hooks write in the user's place.
_NOT_TYPED = (
    "<local-command", "<command-name>", "<bash-", "<task-notification>", "<user-memory-input>",
    "[Request interrupted", "Caveat: The messages below", "This session is being continued from",
    "Operation stopped by hook", "Stop hook feedback", "Implement the following plan",
)  # fmt: skip
_INJECTED_TAGS = (
    "system-reminder", "user-prompt-submit-hook", "session-start-hook", "hook_context", "command-message",
    "command-name", "ide_opened_file", "ide_selection", "ide_diagnostics", "pasted_text", "file", "document",
)  # fmt: skip
_COMMAND = re.compile(r"/[\w:.-]{1,60}(?:\s|$)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_NOT_PROSE = re.compile(
    r"^\s*(?:at \S+[(:]|File \"|Traceback|\d+\s*[|→:]|[+-]{1,3}(?=\S)|[+]\s|diff --git|@@|[│├└┌╭╰┃>$❯%✓✗⎿⏺•⨯]|\S+:\d+"
    r"|#|//|/\*|\*/|--\s|\"\"\"|(?:import|from|def|class|func|fn|const|let|var|return|if|for) .{0,200}[;:({=]$"
    r"|\[?\d{2,4}[-/:]\d\d[-/:.]|(?:\w+\.)*\w*(?:Error|Exception|Warning)\b\s*:|(?i:(?:error|warn(?:ing)?|info|debug"
    r"|fatal|trace|note)\b\s*[\]:]))"
    r"|[{}\[\]\\|]{3,}|;\s*$|=>|</\w"
)
# "The reviewer wrote: …", "I got this feedback: …": what follows is somebody else's.
_OTHERS = re.compile(
    r"(?i)\b(?:(?:feedback|review(?:er)?s?|comments?|says?|wrote|writes|reads?|messages?|errors?|outputs?|logs?"
    r"|warnings?"
    r"|docs?|documentation|spec|ticket|issue|linter|ci|bot|copilot|colleague|address|look at|check|explain|schreibt"
    r"|sagt|meldet)\b[^:?!.]{0,60}|you (?:also )?(?:wrote|said|say)[^:?!.]{0,30}):(?:\s|$)|(?:写道|报错|提示|评论)[：:]"
)
_OWN_WORDS = re.compile(r"(?i)\b(?:i|my)\b[^:]{0,40}$|\b(?:no|please|remember|note|merk dir)\b[^:]{0,20}$")


def spoken(prompt: str) -> list[str]:
    """The sentences of a prompt that its user says, in order."""
    text = prompt.lstrip()
    if text.startswith(_NOT_TYPED):
        return []
    text = _without_injected(clip(clean(clip(text, _LONGEST_CLEANED)), _LONGEST_READ)).lstrip()
    if command := _COMMAND.match(text):
        text = text[command.end() :]
    return [sentence for sentence in _said("\n".join(_prose(text))) if len(sentence) <= LONGEST_SENTENCE]


def _prose(text: str) -> Iterator[str]:
    """The lines that are prose. A text with several headings is a document; what stands before it may be said."""
    lines = text.split("\n")
    headings = [at for at, line in enumerate(lines) if _HEADING.match(line)]
    is_fenced = False
    for line in lines[: headings[0]] if len(headings) > 1 else lines:
        if line.lstrip().startswith(("```", "~~~")):
            is_fenced = not is_fenced
            yield line
        elif is_fenced or not _NOT_PROSE.search(line[:LONGEST_SENTENCE]):
            yield line
        else:
            yield ""


def _said(text: str) -> Iterator[str]:
    is_others = False
    for passage in passages(text):
        if passage.kind not in ("text", "item"):
            continue
        if is_others:
            is_others = False
            continue
        for sentence in sentences(passage.text):
            found = _OTHERS.search(sentence[:LONGEST_SENTENCE])
            if found and not _OWN_WORDS.search(sentence[: found.start()]):
                # The rest of the passage is theirs; when nothing of it follows here, it is the passage below.
                is_others = found.end() >= len(sentence)
                break
            yield sentence


def _without_injected(text: str) -> str:
    for tag in _INJECTED_TAGS if "<" in text else ():
        begin, end = f"<{tag}", f"</{tag}>"
        pieces: list[str] = []
        at = 0
        while (start := text.find(begin, at)) >= 0 and (stop := text.find(end, start)) >= 0:
            pieces.append(text[at:start])
            at = stop + len(end)
        text = "".join((*pieces, text[at:])) if at else text
    return text
