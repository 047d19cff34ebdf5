"""Whether TOML is such that reading it takes time in proportion to its length.

`tomllib` notes every beginning of a dotted key: of one key with twenty thousand parts it makes gigabytes. So a text is
looked over first, once from its beginning to its end, for what no manifest has."""

import re

_MOST_DOTS = 8
_MOST_TABLES = 300
_MOST_SIGNS = 4_000
_MOST_DEPTH = 20
# Strings and comments as `tomllib` sees them. One that does not end is taken as well, or each beginning of one would be
# followed to the end of the text; behind it nothing is read.
_STRING_OR_COMMENT = re.compile(
    r'"""(?:[^"\\]++|\\[\s\S]|"(?!""))*(?:"{3,5}+)?'
    r"|'''(?:[^']++|'(?!''))*(?:'{3,5}+)?"
    r'|"(?:[^"\\\n]++|\\.)*"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+"
)
_LONG_KEY = re.compile(rf"(?:\.[^.,=\[\]{{}}\n]*+){{{_MOST_DOTS + 1}}}")
_BRACKET = re.compile(r"[\[\]{}]")


def is_modest(text: str) -> bool:
    """Whether the parts of keys, the tables, the values and their depth are as many as people write."""
    bare = _STRING_OR_COMMENT.sub(lambda found: "" if found[0][0] == "#" else "s", text)
    tables = sum(line.lstrip().startswith("[") for line in bare.split("\n"))
    if tables > _MOST_TABLES or sum(map(bare.count, "=,.")) > _MOST_SIGNS or _LONG_KEY.search(bare):
        return False
    depth = 0
    for found in _BRACKET.finditer(bare):
        depth += 1 if found[0] in "[{" else -1
        if depth > _MOST_DEPTH:
            return False
    return True
