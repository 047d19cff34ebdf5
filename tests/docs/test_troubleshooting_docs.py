"""docs/troubleshooting.md tells of every check of doctor what it means and what to do."""

import re
from typing import get_args

from claude_mem_lite.install.doctor.check import Name
from tests.docs.pages import page

PART = page("docs/troubleshooting.md").text.partition("## What doctor checks")[2].partition("\n## ")[0]
ROWS = re.findall(r"^\| (?P<names>`.+?`) \| (?P<means>.+?) \| (?P<step>.+?) \|$", PART, re.M)


def test_every_check_is_told_and_no_other() -> None:
    told = [name for names, _, _ in ROWS for name in re.findall(r"`([^`]+)`", names)]
    assert sorted(told) == sorted(get_args(Name))
