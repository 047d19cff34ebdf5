"""Builtin names of languages. A call of a builtin name is not a call of the project's code."""

import builtins


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


BUILTINS = frozenset(dir(builtins)) | _words(
    """
    console document window process module exports globalThis Object Array String Number Boolean Promise Map Set Date
    JSON Math Symbol RegExp Error Buffer fetch setTimeout setInterval parseInt parseFloat
    make new append len cap copy close panic recover delete print println error string int
    System String Integer Long Double Boolean Math Objects Arrays List Optional Collections Stream
    std Vec Box Some None Ok Err Option Result
    Kernel File Dir Hash Array String Integer Time puts require raise
    """
)
# Common methods of lists, strings, dicts and files: only a known receiver type makes such a call the project's own.
COMMON_METHODS = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("__")
) | _words(
    """
    read readline readlines write writelines close open seek tell flush fileno isatty
    acquire release start run wait set is_set put get_nowait result done submit
    map filter reduce forEach push shift unshift slice splice concat includes indexOf then catch finally has toString
    trim substring charAt charCodeAt match test exec call apply bind on off emit next
    size isEmpty contains containsKey equals hashCode getClass put stream collect iterator hasNext length
    iter into unwrap expect clone to_string as_str as_ref is_some is_none is_ok is_err push_str len
    each select reject inject to_s to_i to_a to_h nil empty first last merge
    begin end push_back emplace_back c_str data at front back insert erase find
    """
)
