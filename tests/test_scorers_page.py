"""docs/scorers.md: what other people's scorers get wrong, section by section, where the package is installed."""

import re
from pathlib import Path

import pytest

from pages import replay

PAGE = (Path(__file__).parents[1] / "docs" / "scorers.md").read_text(encoding="utf-8")
SECTIONS = re.split(r"^## ", PAGE, flags=re.M)[1:]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("section", SECTIONS, ids=[section.split("\n")[0] for section in SECTIONS])
def test_a_claim_is_shown_by_its_code(section):
    for module in re.findall(r"^>>> (?:from|import) (\w+)", section, re.M):
        pytest.importorskip(module)
    assert replay(section) == section


def test_every_tool_of_the_table_has_a_section():
    named = re.findall(r"^\| \[.*?\]\(#", PAGE, re.M)
    assert len(named) == len(SECTIONS)
