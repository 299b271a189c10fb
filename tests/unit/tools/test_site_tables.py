"""Tables of the site show all columns in a narrow window: long names break between their parts."""

import pytest
from tools.site_tables import breakable


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("`MUDRA_BACKUP_DIR`", "<code>MUDRA_<wbr>BACKUP_<wbr>DIR</code>"),
        ("`rows[].apis[].type`", "<code>rows[].<wbr>apis[].<wbr>type</code>"),
        ("`/metrics/perf/v1`", "<code>/metrics/<wbr>perf/<wbr>v1</code>"),
        (
            "[MaintenanceDetails](#maintenancedetails)",
            "[Maintenance<wbr>Details](#maintenancedetails)",
        ),
        ("https://registry.example.org", "https://registry.<wbr>example.<wbr>org"),
        (
            "`date <YYYY-MM-DD>\\|<some-other-day>`",
            "<code>date &lt;YYYY-<wbr>MM-<wbr>DD&gt;&#124;&lt;some-<wbr>other-<wbr>day&gt;</code>",
        ),
    ],
)
def test_a_long_name_in_a_table_breaks_between_its_parts(cell: str, shown: str) -> None:
    assert breakable(f"| {cell} | what |\n") == f"| {shown} | what |\n"


@pytest.mark.parametrize(
    "text",
    [
        "| `MUDRA_PORT` | a port | 8080 |\n",
        '| <a id="MUDRA_DATABASE_URL"></a> | [here](settings.md#MUDRA_DATABASE_URL) |\n',
        "`MUDRA_DATABASE_URL` in a sentence\n",
        "```text\n| MUDRA_DATABASE_URL | a table that a command prints |\n```\n",
    ],
)
def test_short_names_links_sentences_and_blocks_stay(text: str) -> None:
    assert breakable(text) == text
