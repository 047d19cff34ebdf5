"""Whether a memory's title says anything: not a tool's name, not a path alone, not an empty phrase."""

import re

_TOOLS = frozenset(
    """agent askuserquestion bash bashoutput edit exitplanmode glob grep killshell killbash ls lsp multiedit
    notebookedit notebookread read skill slashcommand task taskoutput todoread todowrite toolsearch webfetch
    websearch write""".split()  # noqa: SIM905
)
_PATH = re.compile(r"[~.]?/?[\w@.+~-]+(?:/[\w@.+~-]*)+|/|[\w@+~-]*\.[A-Za-z]\w{0,7}")
_WORD = re.compile(r"[\w'/.@+~-]*\w[\w'/]*")
# Words that say nothing of what was done to what.
_EMPTY = frozenset(
    """a about add added adjust again all an and any apply as at be bit bug bugs call called change changed changes
    clean cleanup code command commands commit complete completed continue continued do does doing done edit edited
    edits everything failed failure few file files finish finished fix fixed fixes follow for from function functions
    further get go good great handle he her here hello hey hi him his how i if implement implemented implementation
    improve improved in into is issue issues it its job just let lets look looks made make me mine misc more my
    new next no none nothing now of off ok okay on one ones or other our out output over perfect please problem
    problems proceed project question read refactor refactored refine remaining remove request requested result
    results run session several she should some something start step stop stuff sure task tasks test tests than thank
    thanks that the their them there these they thing things this those to todo tool tools tweak tweaked up update
    updated updates us use used user various very want was way we what when which with work worked working write
    wrote yeah yep yes you your""".split()  # noqa: SIM905
)


def why_worthless(title: str) -> str:
    """What a title is instead of a title; "" when it says something."""
    bare = title.strip().strip("`'\"*_.!?:;,…()[] \t")
    words = [word.lower().strip("'.-") for word in _WORD.findall(bare)]
    if not any(character.isalpha() for character in bare):
        return "no words"
    if bare.lower().startswith("mcp__") and " " not in bare:
        return "a tool's name"
    if all(word in _TOOLS or word in ("tool", "ran", "run", "used", "use", "call", "called", "the") for word in words):
        return "a tool's name"
    pieces = [piece.strip("`'\"()[],") for piece in bare.split()]
    if all(_PATH.fullmatch(piece) for piece in pieces):
        return "a path alone"
    if all(word in _EMPTY for word in words):
        return "an empty phrase"
    return ""


def is_verb_and_path(title: str) -> bool:
    """Whether a title says no more than that something was done to files: told, not judged."""
    pieces = [piece.strip("`'\"()[],.") for piece in title.split()]
    paths = [piece for piece in pieces if _PATH.fullmatch(piece)]
    rest = [piece for piece in pieces if not _PATH.fullmatch(piece)]
    return bool(paths) and all(piece.lower() in _EMPTY for piece in rest)
