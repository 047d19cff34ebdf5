"""Judgement of values at the position of a secret: a secret, or a placeholder, a type, a reference or a sentence.

Called by the modules that find such values. Only `is_argument` and `is_setting`, for passwords that are plain words,
use more context than the name: the line."""

import binascii
import re
from itertools import islice

from claude_mem_lite.lazy_regex import lazy

_PLACEHOLDER = lazy(
    r"(?i)(?:\[(?:redacted|private)|\$(?:\{|\(|\d(?!\w)|[a-z_]\w*(?:$|[^\w!#$%^*+~=?]))|%(?:\(|\{|[sd]$|\w+%$)"
    r"|\{\{|\{[^{}]*\}?$|#\{|\[[\w -]*\]$|\[(?:0-9|a-z|\^)"
    r"|<[^<>]*>$|[@&*!:]{1,2}[a-z_.]+$|-{1,2}[a-z_-]+$|\.{3}|…|[*x•_.#-]+$"
    r"|(?:your|my|the|some)(?:[_ -][a-z_ -]+)?$|your[a-z]*$"
    r"|(?:example|sample|dummy|fake|mock|placeholder|change[_-]?me|replace|replaceme|insert|enter|todo|tbd|fixme)"
    r"(?:[_. -][\w. -]*)?$"
    r"|(?:none|null|nil|undefined|true|false|string|str|secretstr|bytes|bool|boolean|int|integer|number|float|any"
    r"|object|optional|required|hidden|password|passwort|passwd|secret|token|text|redacted|empty|missing|varchar)"
    r"(?:$|[\[\]|?<>,;()\\])"
    r"|process\.env|import\.meta|os\.environ|os\.getenv|env\.|env\[|getenv|settings\.|config\.|self\.|this\."
    r"|secrets\.|vars\.|vault:|ref:|file:|arn:|op://|https?://)"
)
_CODE_NAME = lazy(r"[A-Za-z_]+(?:(?:\.|::|->|\?\.)[A-Za-z_]\w*)*[!?]?$")
_CODE_START = lazy(r"[A-Za-z_$@&*!][\w.$:>?!-]*[(\[{]|[(\[{/]|\.{1,2}/|~/|[A-Z]:[\\/]")
_AFTER_BRACKET = lazy(r"[)\]}]\w")
_PATH_LIKE = lazy(r"(?:\.{0,2}|~)/[\w./@+-]+$|[\w.-]+(?:/[\w.-]+)+\.[a-z]{1,5}$|[a-z0-9_-]+(?:/[a-z0-9._-]+){2,}$")
# Words of a path are shorter.
_BASE64 = lazy(r"(?=[A-Za-z0-9+/]*[A-Za-z0-9+]{10})[A-Za-z0-9+/]{30,}={0,2}$")
_CLOSER = lazy(r"[)\]}](?!\w)")
_MAX_BRACKETS = 8
_NEXT_MEMBER = lazy(r"[,;&](?=[A-Za-z_][\w.-]{0,40}[=:])|&&|&amp;|;;")
_SENTENCE_WORD = lazy(
    r"(?i)\b(?:an?|the|your|my|is|are|was|must|be|of|to|for|in|on|at|and|or|not|no|with|from|please|enter|new|old"
    r"|current|password|passwort|passphrase|secret|token|required|invalid|incorrect|wrong|here|if|when|this|that|it"
    r"|least|characters?|field|user|username|cannot|should|will|can|has|have|do|does|use|used|set|type|confirm)\b"
)
_TECHNICAL = lazy(
    r"(?i)(?:sha|md|base|argon|pbkdf|scrypt|bcrypt|utf|aes|rsa|hs|rs|es|ed|oauth|http|v|x)[-_]?\d{1,4}(?:[.-][\w.-]*|[a-z]{0,3})$|\d{1,3}[-–]?[a-z-]+$"
    r"|[a-z]+(?:[-/'’][a-z]+)+$"
)
# Constant or state about secrets: FORCE_CHANGE_PASSWORD, no-password-required.
_ABOUT = lazy(
    r"(?=[A-Za-z_ -]*(?i:pass|secret|token|key|credential))(?:[A-Z]+(?:_[A-Z]+)+|[a-z]+(?:[_ -][a-z]+)+|[A-Z_]+)$"
)
_TEMPLATE = lazy(r"\{[\w.()\[\]]{1,60}\}")
# Capitals, small letters and digits in random order: at most eight small letters in a row.
_RANDOM = lazy(r"[A-Za-z0-9+/_.~-]++={0,2}$")
_NO_RANDOM = lazy(r"[a-z]{9}|([A-Za-z0-9+/_.~-])\1{4}")
_NOT_RANDOM = lazy(r"(?i)sha\d{1,3}[-:]|[\w-]+(?:\.[\w-]+)+\.?$|(?:[\w.-]+/){2,}[\w.-]*$|\d{4}-\d\d-\d\d")
_MAX_OF_RANDOM = 200
_STATE = lazy(
    r"(?i)(?:wrong|incorrect|correct|right|invalid|valid|missing|empty|blank|weak|strong|short|longer|shorter|different"
    r"|secret|secure|unknown|broken|hidden|public|private|below|above|there|always|never|really|getting|forgotten|stolen"
    r"|hash|plaintext|encrypted|plain|\w+(?:ed|ing|able|ible|ly))$"
)
_WORDY = lazy(r"[A-Za-z]*[a-z]{3,}\d{0,2}$|[a-z]+(?:[_-][a-z0-9]+)+$|v?\d[\d.,:%-]*[a-z]{0,3}$")


_DIGIT = lazy(r"\d")
_LETTER = lazy(r"[^\W\d_]")
_CAPITALS = lazy(r"[A-Z]+")
_SYMBOL = lazy(r"(?<=\w)[!@#$%^&*+=~](?=\w|$)")
_NO_PASSWORD = lazy(
    r"(?i)(?:sha|md|base|argon|pbkdf|scrypt|bcrypt|utf|aes|rsa|hs|rs|es|ed|oauth|http|ipv|x|h|s|k|p|v|w)[-_]?\d{1,5}(?:[._/-][\w./-]*|[a-z]{0,4})$"
    r"|[#@]\S*$|\d[\d.,:/%x-]*-?[a-z]{0,12}$|v?\d+(?:\.\d+)+\S*$|\d{4}-\d\d\S*$|\S+@[\w-]+\.\w\S*$|\w+://|--?[a-z]"
    r"|[\w./-]+\.(?:[a-z]{1,5}|py3|mp[34]|h5|s3|7z)(?::\d+(?:[-:]\d+)?)?$|[a-z]\w*(?:\.\w+)+(?:\(|$)|\w+[(\[{]|[a-z]+(?:[_-][a-z]+)*[_-]?\d$"
    r"|[0-9a-f]{7,12}$|[0-9a-f]{40}$|[0-9a-f]{8}-[0-9a-f]{4}-|[A-Z]+(?:_[A-Z0-9]+)+$|[a-z]+-\d{1,4}$|[a-z]{1,4}\d{1,4}$"
    r"|(?:[\w-]+/)+[\w.-]*$|\w+=|\w*:\d+$"
)
# A long value is judged by its beginning: otherwise each name inside would read the value again.
MAX_JUDGED = 120
FoundSecret = tuple[int, str] | None
"""Start and text of a secret."""
_WORD = lazy(r"(?![a-z-]*pass)[a-z]{6,40}(?:-[a-z]{2,20}){0,5}$")
_LINE_BEFORE = lazy(r"(?:\s{0,6}\d{1,6}[→:\t] ?|[+-])?(?:export |set |# ?)?[\w.-]{0,60}$")
_MEMBER_BEFORE = lazy(r"(?:\s{0,6}\d{1,6}[→\t])?[+-]?[ \t]{0,40}(?:- )?[\w.-]{0,60}$")
_FLAG_OR_QUERY = lazy(r"(?:(?<![\w-])--?|[?&])[\w.-]{0,40}$")
# Not the arguments of a call.
_CONNECTION = lazy(
    r"(?i)\b(?:host|hostaddr|server|data source|user id|uid|username|user|dbname|database)=[^(,]{0,200}$"
)
_SECTION = lazy(r"(?m)(?:^(?:[+-]|\s{0,6}\d{1,6}[→\t])?|[\"'])\[[\w .:\"-]{1,60}\]\s*$")
# Reach of the search: a text of one line must not be searched again for each of its words.
_NEAR = 400
_FLAG_REACH = 45
_CONNECTION_REACH = 200
_OTHER_FLAG = lazy(r"(?<![\w-])--?[A-Za-z][\w-]{0,40}(?:[ =]|$)")
_FLAG_END = lazy(r"[\"']?[ \t]{0,8}(?:$|[\n|;&\\)]|--?[A-Za-z])")


def is_placeholder(value: str) -> bool:
    """Return whether a value is a placeholder: a variable, a type, a mark, a word such as `changeme`."""
    return _PLACEHOLDER.match(value) is not None


def is_password_name(name: str) -> bool:
    """Return whether people choose the values of this name, so that hardly any format rule applies."""
    return "pass" in name.lower() or "pw" in name.lower()


def looks_real(name: str, value: str, *, quoted: bool, tight: bool) -> bool:
    """Return whether the value of a secret's name is a secret; `tight` if nothing separates sign and value."""
    if len(value) > MAX_JUDGED:
        if " " in value:
            return False
        value = value[:MAX_JUDGED]
    if is_placeholder(value) or _ABOUT.match(value) or value.lower() == name.lower():
        return False
    is_pass = name.lower() in ("pass", "pw")
    if not is_pass and _BASE64.match(value) and is_mixed_up(value):
        return True
    if _PATH_LIKE.match(value):
        return False
    if not quoted and _CODE_START.match(value):
        # A call ends with its bracket; passwords have brackets anywhere.
        is_call = value.startswith("function") or value.endswith("(")
        return is_password_name(name) and not is_call and bool(_AFTER_BRACKET.search(value))
    if " " in value.strip():
        return quoted and is_password_name(name) and _is_passphrase(value)
    if is_pass:
        # Tests pass, and so do arguments.
        return len(value) >= 8 and name != "PASS" and has_digit_and_letter(value) and not _WORDY.match(value)
    if is_password_name(name):
        return _is_password(name, value, quoted=quoted, tight=tight)
    return not _TEMPLATE.search(value) and _is_token(name, value, quoted=quoted, tight=tight)


def looks_stated(name: str, value: str, *, mine: bool) -> bool:
    """Return whether the value in "my password is VALUE" is a password, not a word of a sentence; a plain word only at
    the end of a statement about an own password (`mine`)."""
    if len(value) < 6 or is_placeholder(value) or _TECHNICAL.match(value) or _CODE_START.match(value):
        return False
    if not is_password_name(name):
        return len(value) >= 10 and sum(c.isdigit() for c in value) >= 2 and not _WORDY.match(value)
    if any(c.isdigit() for c in value) or any(c in "!@#$%^&*+=~" for c in value):
        return True
    return mine and value.isalpha() and not _STATE.match(value) and not _SENTENCE_WORD.fullmatch(value)


def is_made_up(value: str, *, strict: bool) -> bool:
    """Return whether a word of a sentence or a cell of a table is a password or a token, not a plain word, number, name
    in code, file, address or version; `strict` if nothing announces a password."""
    if len(value) < 6 or is_placeholder(value) or _NO_PASSWORD.match(value) or _CODE_START.match(value):
        return False
    if _PATH_LIKE.match(value) or _ABOUT.match(value) or not _LETTER.search(value):
        return False
    if _DIGIT.search(value):
        return True
    return not strict and _SYMBOL.search(value) is not None


def is_random(value: str, enough: int = 20) -> bool:
    """Return whether a value is random: long enough, mixed, without words, no path, no file hash."""
    if not enough <= len(value) <= _MAX_OF_RANDOM or len(set(value)) * 5 < min(len(value), 32) * 2:
        return False
    return is_mixed_up(value) and _NOT_RANDOM.match(value) is None


def is_mixed_up(value: str) -> bool:
    """Return whether capitals, small letters and digits alternate as in no word."""
    if not _RANDOM.match(value) or value.lower() == value or value.upper() == value or _NO_RANDOM.search(value):
        return False
    return len(_DIGIT.findall(value)) >= 2


def has_digit_and_letter(value: str) -> bool:
    return _DIGIT.search(value) is not None and _LETTER.search(value) is not None


def bare(value: str) -> str:
    """Return an unquoted value without the next member, and without a closing bracket or full stop."""
    if next_member := _NEXT_MEMBER.search(value, 1):
        value = value[: next_member.start()]
    for closer in islice(_CLOSER.finditer(value), _MAX_BRACKETS):
        before = value[: closer.start()]
        if sum(map(before.count, "([{")) <= sum(map(before.count, ")]}")):
            return before
    return value if len(value) >= MAX_JUDGED else value.rstrip(".,;:")


def is_worth_finding(value: str) -> bool:
    """Return whether a secret is so unlike any word that it may be removed everywhere else."""
    if len(value) < 8 or value.isdigit() or re.fullmatch(r"[a-z-]+|[a-z]+(?:_[a-z0-9]+)+", value):
        return False
    if re.fullmatch(r"[A-Za-z_.-]+", value):
        return len(value) >= 16
    return " " not in value or len(value) >= 12


def _is_passphrase(value: str) -> bool:
    words = value.split()
    if len(words) > 12 or value.endswith((".", ":", "?")) or _SENTENCE_WORD.search(value):
        return False
    return all(re.fullmatch(r"[\w!@#$%&*+=~^'-]+", word) for word in words) and (
        len(words) >= 3 or any(c.isdigit() for c in value)
    )


def _is_password(name: str, value: str, *, quoted: bool, tight: bool) -> bool:
    if quoted:
        enough = 4 if has_digit_and_letter(value) else 6
        return len(value) >= enough and not re.fullmatch(r"[A-Z][a-z]+", value)
    # `PASSWORD=hunter` is a setting; `password = user_input` is code.
    return (tight and name.isupper()) or not _CODE_NAME.match(value)


def _is_token(name: str, value: str, *, quoted: bool, tight: bool) -> bool:
    digits = len(_DIGIT.findall(value))
    if name.lower().startswith("cred") and digits and re.fullmatch(r"[\w.@-]{1,60}[:/][^\s:/]{6,}", value):
        return True  # USER:PASSWORD
    if not _LETTER.search(value):
        return False
    if not quoted and not (tight and name.isupper()) and (_CODE_NAME.match(value) or len(value) < 8):
        return False
    if quoted or tight:
        return (digits > 0 and len(value) >= 8) or (len(value) >= 20 and _is_shuffled(value))
    mixed = digits > 0 and value.lower() != value and value.upper() != value
    return (
        (len(value) >= 12 and digits >= 3)
        or (mixed and len(value) >= 16 and not value.replace("$", "_").isidentifier())
        or (is_random(value, 8) and not _TECHNICAL.match(value))
    )


def _is_shuffled(value: str) -> bool:
    """Return whether capitals and small letters alternate more often than in words: a token without a digit is rare."""
    changes = 2 * len(_CAPITALS.findall(value)) - value[0].isupper() - value[-1].isupper()
    return changes * 5 >= len(value) * 2


def is_argument(text: str, start: int, value: str) -> bool:
    """Return whether a plain word behind a password flag is a password: other flags before it, and nothing or a flag
    after it, unlike prose."""
    if not _WORD.match(value) or not _FLAG_END.match(text, start + len(value)):
        return False
    line = text[max(0, start - _NEAR) : start].rpartition("\n")[2]
    return len(_OTHER_FLAG.findall(line)) >= 2


def is_setting(text: str, at: int, start: int, value: str, name: str) -> bool:
    """Return whether a plain word behind a password's name is a password: on a settings line, in an option, a query or
    a connection string. `at` and `start` are the starts of name and value."""
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


def is_user_and_password(value: str) -> bool:
    """Return whether a value is base64 of `user:password`, as in a Basic header or docker's settings."""
    try:
        decoded = binascii.a2b_base64(value + "=" * (-len(value) % 4), strict_mode=True).decode()
    except ValueError:
        return False
    return ":" in decoded and decoded.isprintable()


def is_made_by_machine(value: str) -> bool:
    """Return whether a value is a secret under any variable name."""
    return is_random(value, 24) and sum(map(str.isdigit, value)) >= 3
