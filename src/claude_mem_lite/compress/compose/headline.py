"""A commit subject or a sentence -> a headline of at most 90 characters that names its subject, or nothing."""

import re

from claude_mem_lite.compress.prose import titles
from claude_mem_lite.compress.prose.verbs import BASES, reported, tells_its_subject, without_lead
from claude_mem_lite.lazy_regex import lazy

MAX_HEADLINE = titles.MAX_HEADLINE
MIN_HEADLINE = 30
"""Fewest characters that a cut leaves."""
MAX_DROPPED = 8
MIN_COMMIT_WEIGHT, MIN_LABEL_WEIGHT = 2.0, 2.0
MIN_WEIGHT = 3.0
"""Smallest `titles.weight` of a headline."""
_PLACE = lazy(r"^[\w./-]+\.\w{1,5}(?::\d[\d-]*)?\s*(?:\([^)]*\)\s*)?[-–—:]\s+")
_TELLING_PLACE = lazy(
    r"(?i)(?:^|[/._-])(?:down|up|rollback|undo|tests?|spec|e2e|fixtures?|mocks?|examples?|legacy|old|dev|staging|prod"
    r"|production)(?=[/._-])"
)
"""A file of another side of the work: what is done there is not what is done elsewhere."""
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
"""A verb at the end of a cut sentence, without what belongs to it."""
_PURPOSE = lazy(r",?\s+(?=(?:that|who|so|to|after|before|until)\s)")
_PHRASE = lazy(r",?\s+(?=(?:with|without|for|from|in|on|at|as|through|during|into|and|across|under|per)\s)|,\s")


def of_commit(subject: str) -> str:
    """Return the headline of a commit, without its conventional prefix; '' when the subject tells nothing."""
    title, _ = titles.from_commit(subject)
    return cut(title) if titles.weight(title) >= MIN_COMMIT_WEIGHT else ""


def of_sentence(text: str) -> str:
    """Return the headline of a sentence; '' when it would not name its subject."""
    text = bare(text)
    title = cut(reported(text) or text)
    if not title or _OPENS_OUTSIDE.match(title) or titles.weight(title) < MIN_WEIGHT:
        return ""
    if _UNFINISHED.search(title) or _VERB_ALONE.match(title) or _POINTS_OUTSIDE.search(title):
        return ""
    is_cut = len(title) < len(text.rstrip(".")) - 2
    return "" if len(title.split()) < 3 or (is_cut and _OPENS_CLAUSE.match(title)) else title


def quality(title: str, text: str) -> float:
    """Return how well a headline tells its sentence: whole, cut at the end of a clause, or in the middle of one."""
    rest = bare(text).rstrip(".")[len(title) :]
    if len(rest) < MAX_DROPPED:
        return 1.0
    return 0.75 if ends_clause(rest) else 0.4


def ends_clause(rest: str) -> bool:
    """Return whether what a headline leaves out of its sentence begins a clause of its own."""
    return _CLAUSE.match(rest) is not None


def bare(text: str) -> str:
    """Return a sentence without its number, label, place and words of politeness."""
    text = " ".join(text.split())
    for pattern in (_COUNTER, _PLACE, _LABEL, _LABEL, _ANSWER):
        found = pattern.match(text)
        if found and len(text[found.end() :].split()) >= 3 and not (pattern is _PLACE and _is_telling(found)):
            text = text[found.end() :]
    label = _EMPTY_LABEL.match(text)
    if label and titles.weight(label["label"]) < MIN_LABEL_WEIGHT and len(text[label.end() :].split()) >= 4:
        text = text if _is_telling(label) else text[label.end() :]
    return without_lead(text)


def _is_telling(place: re.Match[str]) -> bool:
    """Return whether a sentence needs the place before it: as its subject, or to say on which side it holds."""
    return _TELLING_PLACE.search(place[0]) is not None or tells_its_subject(place.string[place.end() :])


def cut(title: str) -> str:
    """Return a headline that fits, without asides, cut before a clause, else before what tells a purpose, else before a
    phrase; '' when there is no such place: cut elsewhere, a headline is torn."""
    title = title.strip().rstrip(".:;, ")
    if len(title) <= MAX_HEADLINE:
        return title
    title = _ASIDE.sub("", title)
    if len(title) <= MAX_HEADLINE:
        return title
    ends = (
        found.start()
        for pattern in (_CLAUSE, _PURPOSE, _PHRASE)
        for found in reversed(list(pattern.finditer(title, MIN_HEADLINE)))
        if found.start() <= MAX_HEADLINE and not _is_torn(title[: found.start()], title[found.end() :])
    )
    return next((whole for at in ends if (whole := _finished(title[:at]))), "")


def _is_torn(title: str, rest: str) -> bool:
    """Return whether a cut parts a verb from what belongs to it: "rejects | that shape", "add a field | to a table"."""
    word, _, behind = rest.partition(" ")
    if word == "to" and behind.split(" ", 1)[0].lower() not in BASES:
        return True
    return _TORN.search(title) is not None or (word == "that" and tells_its_subject(title.rpartition(" ")[2]))


def _finished(title: str) -> str:
    """Return a part of a sentence without what leads on; '' when a quotation or bracket would stay open."""
    title = title.rstrip(" .,;:-–—(+/&→=")
    while (found := _UNFINISHED.search(title)) and found.start():
        title = title[: found.start()].rstrip(" .,;:-–—(+/&→=")
    is_open = title.count("`") % 2 or title.count('"') % 2 or title.count("(") > title.count(")")
    return "" if is_open or len(title) < MIN_HEADLINE else title
