"""Folder of the data files that tests read."""

from pathlib import Path

DATA = Path(__file__).parents[1] / "data"
