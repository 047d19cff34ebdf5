"""Passwords that are plain words: told from names of code by the line they stand in. Called by `names`."""

import re

from claude_mem_lite.safety.secret_values import is_password_name, is_placeholder

_WORD = re.compile(r"(?![a-z-]*pass)[a-z]{6,40}(?:-[a-z]{2,20}){0,5}$")
_LINE_BEFORE = re.compile(r"(?:\s{0,6}\d{1,6}[→:\t] ?|[+-])?(?:export |set |# ?)?[\w.-]{0,60}$")
_MEMBER_BEFORE = re.compile(r"(?:\s{0,6}\d{1,6}[→\t])?[+-]?[ \t]{0,40}(?:- )?[\w.-]{0,60}$")
_FLAG_OR_QUERY = re.compile(r"(?:(?<![\w-])--?|[?&])[\w.-]{0,40}$")
# Not the arguments of a call.
_CONNECTION = re.compile(
    r"(?i)\b(?:host|hostaddr|server|data source|user id|uid|username|user|dbname|database)=[^(,]{0,200}$"
)
_SECTION = re.compile(r"(?m)(?:^(?:[+-]|\s{0,6}\d{1,6}[→\t])?|[\"'])\[[\w .:\"-]{1,60}\]\s*$")
# How far to look around: a text of one line must not be gone over for each of its words.
_NEAR = 400
_FLAG_REACH = 45
_CONNECTION_REACH = 200
_OTHER_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]{0,40}(?:[ =]|$)")
_FLAG_END = re.compile(r"[\"']?[ \t]{0,8}(?:$|[\n|;&\\)]|--?[A-Za-z])")


def is_argument(text: str, start: int, value: str) -> bool:
    """Whether a plain word behind the flag of a password is one: other flags stand before, and nothing or a flag
    behind, as on no line of prose."""
    if not _WORD.match(value) or not _FLAG_END.match(text, start + len(value)):
        return False
    line = text[max(0, start - _NEAR) : start].rpartition("\n")[2]
    return len(_OTHER_FLAG.findall(line)) >= 2


def is_setting(text: str, at: int, start: int, value: str, name: str) -> bool:
    """Whether a plain word behind a password's name is one: on a line of settings, in an option, a query or a
    connection string. `at` and `start` are where name and value begin."""
    if not is_password_name(name) or not _WORD.match(value) or is_placeholder(value) or value == name.lower():
        return False
    above, _, before = text[max(0, at - _NEAR) : at].rpartition("\n")
    sign = text[at:start].lower().removeprefix(name.lower().lstrip("_")).strip("\"'\\")
    if sign == "=" and (
        _FLAG_OR_QUERY.search(before, max(0, len(before) - _FLAG_REACH))
        or ("=" in before and _CONNECTION.search(before, max(0, len(before) - _CONNECTION_REACH)))
    ):
        return True
    after, _, below = text[start + len(value) : start + _NEAR].partition("\n")
    if after.strip(' \t"]}') and not after.lstrip().startswith("#"):
        return False
    if sign.strip() == "=":
        return _LINE_BEFORE.fullmatch(before) is not None and (sign == "=" or _SECTION.search(above) is not None)
    # Members of code end with commas and brackets.
    is_code = above.rstrip().endswith((",", "{", "(", "[", ";")) or below.lstrip().startswith((")", "}", "]"))
    return sign.strip() == ":" and _MEMBER_BEFORE.fullmatch(before) is not None and not is_code
