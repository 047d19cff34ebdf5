"""A formula as the product prints it -> its value, computed as a reader would by hand."""

import ast
import operator
import re
from collections.abc import Callable

_NOTE = re.compile(r"(?<=\d) \([^()]*\)")
_NAME = re.compile(r"[^\s()+×/=-]\S* (?=\d)")
_OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def by_hand(formula: str) -> float:
    """The value of `(match 1.8 + support 0.4) × 0.5 (learned or decided)`: names and notes are words, not numbers."""
    plain = _NAME.sub("", _NOTE.sub("", formula)).replace("×", "*")
    return _value(ast.parse(plain, mode="eval").body)


def equation(line: str) -> tuple[float, float]:
    """Both sides of `score 2.2 = match 2.2`; of a line without a formula the same value twice."""
    left, _, right = line.partition(" = ")
    return by_hand(left), by_hand(right or left)


def _value(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int() | float() as value):
            return float(value)
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left), _value(right))
    raise AssertionError(f"this is no formula: {ast.unparse(node)}")
