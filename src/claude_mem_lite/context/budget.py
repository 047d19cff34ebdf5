"""How much text fits: tokens by estimate, and the client's own cap on characters."""

import math

# The client replaces anything over 10,000 UTF-16 units by a stub.
MOST_UTF16_UNITS = 9_500


def estimate_tokens(text: str) -> int:
    """A cautious estimate: 3.5 ASCII characters a token, one token for each other character."""
    # By way of bytes: for each candidate the whole context is counted anew.
    ascii_characters = len(text.encode("ascii", "ignore"))
    return math.ceil(ascii_characters / 3.5) + len(text) - ascii_characters


def utf16_units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def fits(text: str, budget_tokens: int) -> bool:
    return estimate_tokens(text) <= budget_tokens and utf16_units(text) <= MOST_UTF16_UNITS
