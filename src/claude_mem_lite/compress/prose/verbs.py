"""Verbs of software work, with conversions between "Added a flag" and "Add a flag" for titles."""

from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.lazy_regex import lazy

_REGULAR = """
add address adjust align allow annotate apply archive attach automate avoid backport bump bundle bypass cache
change check clarify clean cleanup clear close collapse combine comment compare complete configure connect
consolidate convert copy correct cover create debug declare decouple dedupe deduplicate default define delete
deploy deprecate detect disable display document downgrade download eliminate embed enable encode enforce
enhance ensure expand explain export expose extend extract fetch filter finish fix flatten format generate
group guard handle harden implement import improve include increase inline insert install instrument integrate
introduce isolate limit link list load localize lock log lower maintain mark measure merge migrate mock
modernize modify move narrow normalize optimize order organize override pack parallelize parse patch persist
pin polish populate port prefix prepare preserve prevent print propagate protect prune publish pull push
raise reduce refactor refine refresh register reject release relocate remove rename render reorder reorganize
repair replace report request require reset resolve restore restrict restructure retry return reuse review revert
rework rotate round route sanitize save scope secure separate serialize serve share shorten show silence simplify skip
solve sort split squash stabilize standardize start stop store streamline strip support suppress surface swap
switch sync synchronize test tighten track transform translate treat trigger trim tune tweak type unify update
upgrade use validate vendor verify version wire wrap write
"""
_IRREGULAR = {
    "build": "built", "rebuild": "rebuilt", "bring": "brought", "catch": "caught", "choose": "chose", "cut": "cut",
    "drop": "dropped", "find": "found", "get": "got", "give": "gave", "hide": "hid", "keep": "kept", "leave": "left",
    "make": "made", "map": "mapped", "plug": "plugged", "put": "put", "rerun": "reran", "rewrite": "rewrote",
    "run": "ran", "send": "sent", "set": "set", "shrink": "shrank", "split": "split", "stop": "stopped",
    "strip": "stripped", "swap": "swapped", "take": "took", "teach": "taught", "undo": "undid", "write": "wrote",
    "wrap": "wrapped", "trim": "trimmed", "skip": "skipped", "ship": "shipped", "pin": "pinned", "log": "logged",
    "debug": "debugged", "reset": "reset", "cleanup": "cleaned up", "submit": "submitted", "set up": "set up",
    "permit": "permitted", "refer": "referred", "scrub": "scrubbed", "stub": "stubbed", "tag": "tagged",
    "embed": "embedded", "unwrap": "unwrapped",
}  # fmt: skip
_PARTICIPLES = {
    "chosen": "choose", "given": "give", "hidden": "hide", "rewritten": "rewrite", "taken": "take", "undone": "undo",
    "written": "write", "shrunk": "shrink", "rerun": "rerun",
}  # fmt: skip


_THIRD_PERSON = (("ies", "y"), ("es", ""), ("s", ""))


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


_INQUIRIES = """
analyze ask check compare describe determine evaluate explain explore figure find give investigate list look print
read report request research review run search show summarize tell test think understand verify
"""
INQUIRIES = frozenset(_INQUIRIES.split())
BASES = frozenset((*_REGULAR.split(), *_IRREGULAR)) | INQUIRIES


_FROM_PAST = {
    **{_past(verb): verb for verb in _REGULAR.split() if verb not in _IRREGULAR},
    **{past: verb for verb, past in _IRREGULAR.items() if " " not in past},
    **_PARTICIPLES,
}

_LEAD = lazy(
    r"(?i)^(?:(?:(?:all )?(?:done|fixed|set)|perfect|excellent|great|good|yes|ok(?:ay)?|sure|right|you're right|summary"
    r"|understood|noted|got it|will do"
    r"|completed?|success)\b\s*[,.!:;–—-]+\s+"
    r"|(?:also|now|then|finally|next|first|second|so|and|in addition|additionally|as requested"
    r"|successfully)\b,?\s+)+(?=[^\s:=+*/<>|&-])"
)
_SUBJECT = lazy(r"(?i)^(?:I(?:'ve| have)?|we(?:'ve| have)?|this (?:commit|change|pr))\s+(?:(?:have|has|had)\s+)?")
_ADVERB = r"(?:(?:now|also|successfully|fully|completely|properly|correctly|already|just|then|simply)\s+)*"
_ADVERBS = lazy(rf"(?i)^{_ADVERB}")
_NOT_LEADING = frozenset(
    """given left got found put set cut reset used required ran split typed
    combined shared rendered cached stored scoped mocked pinned limited generated""".split()  # noqa: SIM905
)
_CHOSEN = frozenset(("decided", "opted", "agreed", "picked", "went", "settled", "chose"))
# A whole word: `run_ray_cluster()` and `added_at` are names.
_WORD = lazy(r"[A-Za-z]+(?![\w(\[./:-]*[\w(\[])")


def lacks_subject(text: str) -> bool:
    """Return whether a text needs a subject before the verb: "drops the column" needs "down.sql:"."""
    word = text.split(" ", 1)[0].lower()
    return any(word.endswith(end) and f"{word[: -len(end)]}{base}" in BASES for end, base in _THIRD_PERSON)


def base_of(past: str) -> str:
    """Return the base form of a past tense or participle, '' for an unknown verb."""
    return _FROM_PAST.get(past.lower(), "")


def reported(sentence: str) -> str:
    """Return a report of finished work ("I've added …") as an instruction, else ''."""
    text = without_lead(sentence)
    body = _ADVERBS.sub("", _SUBJECT.sub("", text))
    word = _WORD.match(body)
    base = base_of(word[0]) if word else ""
    if not word or not base or (word[0].lower() in _NOT_LEADING and body == _ADVERBS.sub("", text)):
        return ""
    return base.capitalize() + body[word.end() :]


def impersonal(sentence: str) -> str:
    """Return a sentence without a person as subject: "I added a flag" -> "Added a flag"."""
    text = without_lead(sentence)
    bare = _ADVERBS.sub("", _SUBJECT.sub("", text))
    word = _WORD.match(bare)
    report = bare if word and (base_of(word[0]) or word[0].lower() in _CHOSEN) else text
    return capital(report)


def past(title: str) -> str:
    """Return an instruction as a report: "Add a flag" -> "Added a flag"; any other title unchanged."""
    word, space, rest = title.partition(" ")
    base = word.lower()
    if not space or base not in BASES or base in INQUIRIES or not word.isalpha():
        return title
    return f"{_IRREGULAR.get(base, _past(base)).capitalize()} {rest}"


def without_lead(sentence: str) -> str:
    """Return a sentence without "Done." or "Perfect!" at the beginning."""
    stripped = _LEAD.sub("", sentence)
    return stripped if len(stripped.split()) >= 2 else sentence
