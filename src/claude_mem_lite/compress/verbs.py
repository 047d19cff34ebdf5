"""The verbs of software work, between "Added a flag" and "Add a flag": what titles are made with."""

import re

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
rework rotate route sanitize save scope secure separate serialize serve share shorten show silence simplify skip
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


def _past(verb: str) -> str:
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + "ed"


BASES = frozenset((*_REGULAR.split(), *_IRREGULAR, "do", "investigate", "look", "analyze", "figure"))
_FROM_PAST = {
    **{_past(verb): verb for verb in _REGULAR.split() if verb not in _IRREGULAR},
    **{past: verb for verb, past in _IRREGULAR.items() if " " not in past},
    **_PARTICIPLES,
}

_LEAD = re.compile(
    r"(?i)^(?:(?:(?:all )?(?:done|fixed|set)|perfect|excellent|great|good|yes|ok(?:ay)?|sure|right|you(?:'|’)re right|summary"
    r"|completed?|success)\b\s*[,.!:;–—-]+\s+"
    r"|(?:also|now|then|finally|next|first|second|so|and|in addition|additionally|as requested|successfully)\b,?\s+)+(?=\S)"
)
_SUBJECT = re.compile(r"(?i)^(?:I(?:['’]ve| have)?|we(?:['’]ve| have)?|this (?:commit|change|pr))\s+(?:(?:have|has|had)\s+)?")
_ADVERB = r"(?:(?:now|also|successfully|fully|completely|properly|correctly|already|just|then|simply)\s+)*"
_ADVERBS = re.compile(rf"(?i)^{_ADVERB}")
_PASSIVE = re.compile(
    rf"^(?P<what>(?:(?:The|A|An|All|Both|Every|Each|These|Those|Two|Three|Four)\s)?[^.;:]{{3,90}}?)"
    rf"\s(?:has|have|had|is|are|was|were)\s(?:been\s)?{_ADVERB}(?P<verb>[a-z]+)\b(?P<rest>.*)$"
)
_WORD = re.compile(r"[A-Za-z]+")


def base_of(past: str) -> str:
    """The base form of a past tense or participle, empty when it is no verb known here."""
    return _FROM_PAST.get(past.lower(), "")


def reported(sentence: str) -> str:
    """A sentence that reports finished work ("I've added …", "… has been removed") as an instruction, else ''."""
    text = _strip_lead(sentence)
    body = _ADVERBS.sub("", _SUBJECT.sub("", text))
    word = _WORD.match(body)
    if word and (base := base_of(word[0])):
        return base.capitalize() + body[word.end() :]
    passive = _PASSIVE.match(text)
    if passive and passive["verb"].endswith(("ed", "en", "t", "n")) and (base := base_of(passive["verb"])):
        what = passive["what"]
        if what.split(" ", 1)[0].lower() in ("it", "this", "that", "they", "i", "we", "there", "which", "what", "if"):
            return ""
        if " " in what and what.split(" ", 1)[0] in ("The", "A", "An", "All", "Both", "Every", "Each", "These", "Those"):
            what = what[0].lower() + what[1:]
        return f"{base.capitalize()} {what}{passive['rest']}"
    return ""


def instruction(text: str) -> str:
    """The text when it begins with a verb in its base form ("Add a flag"), else ''."""
    word = _WORD.match(text)
    return text[:1].upper() + text[1:] if word and word[0].lower() in BASES else ""


def _strip_lead(sentence: str) -> str:
    stripped = _LEAD.sub("", sentence)
    return stripped if len(stripped.split()) >= 2 else sentence
