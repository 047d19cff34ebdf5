"""Growth as a picture: lines over two logarithmic axes, written as SVG by hand."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 460, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 40, 44, 46
_ROW = 16
# Colours that can be told apart by those who see no red or green, with enough contrast on both grounds.
_STYLE = """
  svg { font: 12px system-ui, sans-serif; }
  .ground { fill: #ffffff; } text { fill: #1f2328; } .grid { stroke: #d8dee4; } .axis { stroke: #6e7781; }
  .line { fill: none; stroke-width: 2; } .title { font-weight: 600; font-size: 13px; }
  .bar { stroke: #8c959f; stroke-width: 1.5; stroke-dasharray: 2 3; }
  .c0 { stroke: #0969da; fill: #0969da; } .c1 { stroke: #bc4c00; fill: #bc4c00; }
  .c2 { stroke: #1a7f64; fill: #1a7f64; } .c3 { stroke: #8250df; fill: #8250df; }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117; } text { fill: #e6edf3; } .grid { stroke: #30363d; } .axis { stroke: #8b949e; }
    .bar { stroke: #8b949e; }
    .c0 { stroke: #58a6ff; fill: #58a6ff; } .c1 { stroke: #ffa657; fill: #ffa657; }
    .c2 { stroke: #56d4b0; fill: #56d4b0; } .c3 { stroke: #bc8cff; fill: #bc8cff; }
  }
"""


@dataclass(frozen=True, slots=True)
class Line:
    """Points from left to right; all numbers above 0."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int
    """One of four; lines that belong together share it."""
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Lines with one measure in common. `bars` are what may not be passed, each at its place on the x axis."""

    title: str
    across: str
    lines: Sequence[Line]
    bars: Sequence[tuple[float, float]] = ()


def svg(panels: Sequence[Panel]) -> str:
    """The panels side by side."""
    width = WIDTH * len(panels)
    drawn = "\n".join(
        f'<g transform="translate({WIDTH * at} 0)">\n{_panel(one)}\n</g>' for at, one in enumerate(panels)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}"'
        f' role="img">\n<style>{_STYLE}</style>\n'
        f'<rect class="ground" width="{width}" height="{HEIGHT}"/>\n{drawn}\n</svg>\n'
    )


def _panel(panel: Panel) -> str:
    points = [point for line in panel.lines for point in line.points] + list(panel.bars)
    xs, ys = _decades([x for x, _ in points]), _decades([y for _, y in points])

    def place(x: float, y: float) -> tuple[float, float]:
        right, down = _share(x, xs), 1 - _share(y, ys)
        return _LEFT + right * (WIDTH - _LEFT - _RIGHT), _TOP + down * (HEIGHT - _TOP - _BOTTOM)

    (left, bottom), (right, top) = place(xs[0], ys[0]), place(xs[-1], ys[-1])
    parts = [f'<text class="title" x="{left}" y="22">{escape(panel.title)}</text>']
    for y in ys:
        _, at = place(xs[0], y)
        parts.append(f'<line class="grid" x1="{left}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{_told(y)}</text>')
    for x in xs:
        at, _ = place(x, ys[0])
        parts.append(f'<line class="grid" x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{bottom}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{_told(x)}</text>')
    parts.append(f'<path class="axis" fill="none" d="M{left} {top}V{bottom}H{right}"/>')
    middle = (left + right) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 10}" text-anchor="middle">{escape(panel.across)}</text>')
    for x, y in panel.bars:
        at, high = place(x, y)
        parts.append(f'<path class="bar" d="M{at - 34:.1f} {high:.1f}H{min(at + 34, right):.1f}"/>')
        parts.append(f'<text x="{at - 38:.1f}" y="{high + 4:.1f}" text-anchor="end">bar {y:g}</text>')
    for number, line in enumerate(panel.lines):
        parts += _line(line, [place(x, y) for x, y in line.points], (left + 12, top + 14 + _ROW * number))
    return "\n".join(parts)


def _line(line: Line, places: Sequence[tuple[float, float]], key: tuple[float, float]) -> list[str]:
    colour, dashes = f"c{line.colour}", ' stroke-dasharray="6 4"' if line.dashed else ""
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    x, y = key
    return [
        f'<path class="line {colour}" style="fill: none"{dashes} d="{path}"/>',
        *(f'<circle class="{colour}" cx="{at:.1f}" cy="{high:.1f}" r="3"/>' for at, high in places),
        f'<path class="line {colour}" style="fill: none"{dashes} d="M{x} {y - 4}h22"/>',
        f'<text x="{x + 28}" y="{y}">{escape(line.name)}</text>',
    ]


def _decades(values: Sequence[float]) -> list[float]:
    """The powers of ten around all values."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def _share(value: float, marks: Sequence[float]) -> float:
    """How far along the axis a value is, from 0 to 1."""
    return math.log(value / marks[0]) / math.log(marks[-1] / marks[0])


def _told(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
