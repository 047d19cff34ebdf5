"""A commit subject or a sentence -> a headline of at most 90 characters that names a subject, or nothing. Names of
tools that a turn writes in lower case stay so at the beginning of a headline."""

import re
from collections.abc import Iterable, Sequence

from claude_mem_lite.compress.prose import titles
from claude_mem_lite.compress.prose.verbs import BASES, lacks_subject, reported, without_lead
from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.steps import Ran, Step
from claude_mem_lite.lazy_regex import lazy

_CALLED = lazy(r"`([a-z][a-z0-9-]*) [^`\n]+`")
_FIRST_WORD = lazy(r"(?:^|(?<=[.!?] ))[A-Z][a-z0-9-]*(?=[\s:,])")
_WORD = lazy(r"[a-z][a-z0-9-]*")
_CAPITALISED = lazy(r"\b[A-Z][a-z0-9-]*\b")
MAX_HEADLINE = titles.MAX_HEADLINE
MIN_HEADLINE = 30
"""Minimum of characters after a cut."""
MAX_DROPPED = 8
MIN_COMMIT_WEIGHT, MIN_LABEL_WEIGHT = 2.0, 2.0
MIN_WEIGHT = 3.0
"""Minimum `titles.weight` of a headline."""
_PLACE = lazy(r"^[\w./-]+\.\w{1,5}(?::\d[\d-]*)?\s*(?:\([^)]*\)\s*)?[-–—:]\s+")
_SIDE_FILE = lazy(
    r"(?i)(?:^|[/._-])(?:down|up|rollback|undo|tests?|spec|e2e|fixtures?|mocks?|examples?|legacy|old|dev|staging|prod"
    r"|production)(?=[/._-])"
)
"""A file such as a rollback, a test or a mock: a headline about the file needs the name."""
_LABEL = lazy(
    r"(?i)^(?:(?:the )?(?:root )?(?:cause|issue|problem|bug|fix|finding|key finding|reason|result|summary|changes?"
    r"|solution|decision|note|important|caveat|confirmed|verdict|answer|short answer|bottom line|tl;?dr|why|what)"
    r"(?: (?:was|is|found|applied|confirmed|#?\d+))?|\W*(?:fixed|done|correct|yes|no))\s*(?:[:.!]|\s[–—-])\s+(?=\S)"
)
_EMPTY_LABEL = lazy(r"^(?P<label>[^\s:`][^:`]{1,40}?):\s+(?=\S)")
_UNFINISHED = lazy(
    r"(?i)\b(?:is|are|was|were|be|has|have|the|a|an|to|of|in|on|at|for|with|from|into|by|as|and|or|but|that|which|when"
    r"|its|their|your|not|than|via|using|per|following|both|will|can|should|would|no|so|if|it|this|uses?|like"
    r"|by \w+ing|includes?|shows?|between|every|each|all|any|one|even|because|where|while|only|also|now"
    r"|new|old|same|first)$"
)
_ANSWER = lazy(
    r"(?i)^(?:(?:no|yes|yep|yeah|correct|right|exactly|confirmed|but|so|however|actually|also|indeed|unfortunately|overall"
    r"|in short|in other words|bottom line|basically|essentially|importantly|notably|crucially)\s*[,.:;–—-]+\s+"
    r"|(?:but|so|and) (?=(?:the|`|[A-Z_]))"
    r"|(?:(?:I|we) (?:found|discovered|confirmed|verified|see|noticed|realized)|it turns out|turns out|this means"
    r"|that means|note)(?: that|,)\s+"
    r"|the (?:real |actual |underlying |main |key |core |root )*(?:problem|issue|cause|reason|bug|catch|insight|point"
    r"|takeaway|finding)s?(?: here)? (?:is|was)(?: that|:)?\s+)"
)
_COUNTER = lazy(r"^\W*(?:#?\d{1,2}|[A-Z])[.):]\s+")
_OPENS_OUTSIDE = lazy(
    r"(?i)^(?:its?|their|this|that|these|those|they|he|she|both|all|also|and|but|or|so|then|there|here|which|however"
    r"|where|whether|how|what|why|instead|same|such|another|otherwise|because|since|when|if|once|after|before|while|you|your|i|we|let|let's|yes|no|not"
    r"|now|only|just|each|either|neither|one|two|three|four|five|none)\b"
)
_OPENS_CLAUSE = lazy(r"(?i)^(?:given|for|in|on|as|to|with|by|at|during|under|from|unlike|without|although|though)\b")
_POINTS_OUTSIDE = lazy(r"(?i)\b(?:these|those|above|below|following|i|we|you|your|our|my|the (?:latter|former))\b")
_VERB_ALONE = lazy(r"^\w+ (?:\(|by\b|via\b|using\b|with\b)")
_CLAUSE = lazy(
    r"\s+[–—]\s+|\s+-\s+|;\s+|:\s+|,\s+(?=(?:which|so|and|but|since|because|where|making|allowing|as|if|with|while|not)\b)"
    r"|\s+(?=(?:because|since|so that|which|where|while|but|even (?:when|if|though|after|before)"
    r"|instead of|rather than|when|unless|by|using|via|to avoid"
    r"|to prevent)\s)|\s+\("
)
_ASIDE = lazy(r"\s+\([^()]*\)")
_TORN = lazy(r"(?i)\b(?:\w+ing(?: (?:it|them|the \w+))?|needs?|to \w+|(?:is|are|was|were|be|been) \w+ed)$")
"""A verb at the end of a cut sentence, without the object."""
_PURPOSE = lazy(r",?\s+(?=(?:that|who|so|to|after|before|until)\s)")
_PHRASE = lazy(r",?\s+(?=(?:with|without|for|from|in|on|at|as|through|during|into|and|across|under|per)\s)|,\s")


def lower_case_names(steps: Sequence[Step], texts: Iterable[str]) -> frozenset[str]:
    """Return the programs that a turn ran or quotes with arguments, except verbs and names written with a capital."""
    text = "\n".join(texts)
    ran = {shell.tool(step.command).partition(" ")[0] for step in steps if isinstance(step, Ran)}
    names = {name for name in ran | set(_CALLED.findall(text)) if _WORD.fullmatch(name)} - BASES
    return frozenset(names - {word.lower() for word in _CAPITALISED.findall(text)})


def keep_case(text: str, names: frozenset[str]) -> str:
    """Return a text with names at the beginning of sentences in lower case."""

    def spelled(match: re.Match[str]) -> str:
        word = match[0].lower()
        return word if word in names else match[0]

    return _FIRST_WORD.sub(spelled, text)


def of_commit(subject: str) -> str:
    """Return the headline of a commit, without the conventional prefix; '' for a subject without content."""
    title, _ = titles.from_commit(subject)
    return cut(title) if titles.weight(title) >= MIN_COMMIT_WEIGHT else ""


def of_sentence(text: str) -> str:
    """Return the headline of a sentence; '' for a headline that would not name a subject."""
    text = bare(text)
    title = cut(reported(text) or text)
    if not title or _OPENS_OUTSIDE.match(title) or titles.weight(title) < MIN_WEIGHT:
        return ""
    if _UNFINISHED.search(title) or _VERB_ALONE.match(title) or _POINTS_OUTSIDE.search(title):
        return ""
    is_cut = len(title) < len(text.rstrip(".")) - 2
    return "" if len(title.split()) < 3 or (is_cut and _OPENS_CLAUSE.match(title)) else title


def of_report(text: str) -> str:
    """Return the headline of a sentence that reports work: "Added a flag" -> "Add a flag"; '' for any other."""
    return of_sentence(text) if reported(bare(text)) else ""


def quality(title: str, text: str) -> float:
    """Return the quality of a headline: high for a whole sentence, lower for a cut at the end or inside of a clause."""
    rest = bare(text).rstrip(".")[len(title) :]
    if len(rest) < MAX_DROPPED:
        return 1.0
    return 0.75 if ends_clause(rest) else 0.4


def ends_clause(rest: str) -> bool:
    """Return whether the rest of a sentence behind a headline begins a clause."""
    return _CLAUSE.match(rest) is not None


def bare(text: str) -> str:
    """Return a sentence without number, label, place and words of politeness at the beginning."""
    text = " ".join(text.split())
    for pattern in (_COUNTER, _PLACE, _LABEL, _LABEL, _ANSWER):
        match = pattern.match(text)
        if match and len(text[match.end() :].split()) >= 3 and not (pattern is _PLACE and _is_needed(match)):
            text = text[match.end() :]
    label = _EMPTY_LABEL.match(text)
    if label and titles.weight(label["label"]) < MIN_LABEL_WEIGHT and len(text[label.end() :].split()) >= 4:
        text = text if _is_needed(label) else text[label.end() :]
    return without_lead(text)


def _is_needed(place: re.Match[str]) -> bool:
    """Return whether a sentence needs the place at the beginning: as the subject, or as a file of another side."""
    return _SIDE_FILE.search(place[0]) is not None or lacks_subject(place.string[place.end() :])


def cut(title: str) -> str:
    """Return a headline that fits, without asides, cut before a clause, else before a purpose, else before a phrase; ''
    for a headline that cannot be cut."""
    title = title.strip().rstrip(".:;, ")
    if len(title) <= MAX_HEADLINE:
        return title
    title = _ASIDE.sub("", title)
    if len(title) <= MAX_HEADLINE:
        return title
    ends = (
        match.start()
        for pattern in (_CLAUSE, _PURPOSE, _PHRASE)
        for match in reversed(list(pattern.finditer(title, MIN_HEADLINE)))
        if match.start() <= MAX_HEADLINE and not _is_torn(title[: match.start()], title[match.end() :])
    )
    return next((whole for at in ends if (whole := _finished(title[:at]))), "")


def _is_torn(title: str, rest: str) -> bool:
    """Return whether a cut parts a verb from the object: "rejects | that shape", "add a field | to a table"."""
    word, _, behind = rest.partition(" ")
    if word == "to" and behind.split(" ", 1)[0].lower() not in BASES:
        return True
    return _TORN.search(title) is not None or (word == "that" and lacks_subject(title.rpartition(" ")[2]))


def _finished(title: str) -> str:
    """Return a part of a sentence without an unfinished end; '' when a quotation or bracket would stay open."""
    title = title.rstrip(" .,;:-–—(+/&→=")
    while (match := _UNFINISHED.search(title)) and match.start():
        title = title[: match.start()].rstrip(" .,;:-–—(+/&→=")
    is_open = title.count("`") % 2 or title.count('"') % 2 or title.count("(") > title.count(")")
    return "" if is_open or len(title) < MIN_HEADLINE else title
