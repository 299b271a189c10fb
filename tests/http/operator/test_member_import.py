"""Members are imported from a file: shown first, then each row for itself, and again unchanged."""

import csv
import html
import io
import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import pytest
from tests.support.mailbox import latest_link
from tests.support.people.console import Reader, reader
from tests.support.people.operators import Operator, new_operator
from tests.support.registry.registry_payloads import fiu
from tests.support.service import PASSWORD, Service

from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.memberships.in_bulk.import_members import RowOutcome, RowResult, import_members
from mudra.identity.memberships.in_bulk.member_file import COLUMNS, FileRefused, read_member_file
from mudra.identity.operators.person_rule import owner

REQUEST_S = 20.0

HEAD = ",".join(COLUMNS)


@pytest.fixture(scope="module")
def staff(service: Service) -> Operator:
    return new_operator(service, "members", "audit")


def new_ids(count: int) -> list[str]:
    return sorted(f"FILE-{uuid.uuid4().hex[:10]}-FIP" for _ in range(count))


def line(entity_id: str, name: str = "Tapi Bank", phone: str = "+91 80 4000 1234") -> str:
    email = f"ila@{entity_id.lower().strip('@')}.example"
    return f"{entity_id},FIP,{name},{email},Ila Rao,contact@{entity_id.lower().strip('@')}.example,{phone}"


def send(staff: Operator, *lines: str, dry_run: bool = False) -> dict[str, list[dict[str, object]]]:
    answer = staff.post("/members/import", csv="\r\n".join([HEAD, *lines]), dryRun=dry_run)
    assert answer.status_code == 200, answer.text
    return answer.json()


def results(sent: dict[str, list[dict[str, object]]]) -> list[object]:
    return [row["result"] for row in sent["rows"]]


def exported(staff: Operator, entity_id: str) -> list[dict[str, str]]:
    text = staff.get("/members/export", words=entity_id).text
    return list(csv.DictReader(io.StringIO(text)))


def test_a_dry_run_shows_what_the_import_then_does_and_again_changes_nothing(
    service: Service, staff: Operator
) -> None:
    one, other = new_ids(2)
    lines = (line(one), line(other, name=""), line(one))

    before = send(staff, *lines, dry_run=True)
    unknown = exported(staff, one)
    done = send(staff, *lines)

    assert results(before) == results(done) == ["new", "refused", "refused"]
    assert before["rows"] == done["rows"]
    assert unknown == []
    assert [(row["line"], row["column"]) for row in done["rows"][1:]] == [
        (3, "name"),
        (4, "entityId"),
    ]
    assert done["rows"][2]["problem"] == "entityId is on line 2, too"
    # One who has no account is invited by email, as with a single onboarding.
    assert "/activate" in latest_link(service, f"ila@{one.lower()}.example")
    again = send(staff, *lines)
    assert results(again) == ["unchanged", "refused", "refused"]
    entries = staff.get("/audit", entityId=one).json()["events"]
    acts = [entry["event"] for entry in entries]
    assert acts.count("entity:member:onboard") == 1


@pytest.mark.parametrize(
    ("changed", "column"),
    [
        ({"type": "AA"}, "type"),
        ({"name": "Narmada Bank"}, "name"),
        ({"adminEmail": "new@member.example"}, "adminEmail"),
        ({"contactEmail": "new@member.example"}, "contactEmail"),
        ({"contactPhone": "+91 80 4000 9999"}, "contactPhone"),
    ],
)
def test_a_member_with_another_content_is_refused_with_its_column(
    staff: Operator, changed: dict[str, str], column: str
) -> None:
    (entity_id,) = new_ids(1)
    send(staff, line(entity_id))
    (known,) = exported(staff, entity_id)

    sent = send(staff, ",".join({**known, **changed}.values()))

    assert results(sent) == ["refused"]
    assert sent["rows"][0]["column"] == column
    assert "exists with another" in str(sent["rows"][0]["problem"])
    assert exported(staff, entity_id) == [known]


def test_what_is_exported_is_harmless_in_a_spreadsheet_and_imports_unchanged(
    staff: Operator,
) -> None:
    (entity_id,) = new_ids(1)
    send(staff, line(f"@{entity_id}", name="=Bank"))

    answer = staff.get("/members/export", words=entity_id)
    _, row = csv.reader(io.StringIO(answer.text))

    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert row[:3] == [f"'@{entity_id}", "FIP", "'=Bank"]
    assert row[6] == "'+91 80 4000 1234"
    assert results(send(staff, answer.text.splitlines()[1])) == ["unchanged"]


def test_a_member_has_the_type_of_its_entry(
    service: Service, staff: Operator, tmp_path: Path
) -> None:
    (entity_id,) = new_ids(1)
    file = tmp_path / "entry.json"
    file.write_text(json.dumps(fiu(52_001, id=entity_id)))
    service.cli("registry", "import", str(file))
    new = {"entityId": entity_id, "type": "FIP", "name": "B", "adminEmail": "b@member.example"}

    before = send(staff, line(entity_id), dry_run=True)
    done = send(staff, line(entity_id))
    alone = staff.post("/members", **new)

    problem = "type must be FIU, as its entry in the registry is, not FIP"
    assert before["rows"] == done["rows"]
    assert (done["rows"][0]["column"], done["rows"][0]["problem"]) == ("type", problem)
    assert (alone.status_code, problem in alone.text) == (400, True)
    assert staff.post("/members", **new | {"type": "FIU"}).is_success


def test_two_who_onboard_the_same_member_at_once_both_succeed(staff: Operator) -> None:
    (entity_id,) = new_ids(1)
    email = f"b@{entity_id.lower()}.example"
    new = {"entityId": entity_id, "type": "FIP", "name": "B", "adminEmail": email}

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: staff.post("/members", **new), range(8)))

    assert {answer.is_success for answer in answers} == {True}
    assert [answer.json()["created"] for answer in answers].count(True) == 1


def test_an_operators_address_is_no_members_admin(service: Service, staff: Operator) -> None:
    (entity_id,) = new_ids(1)
    row = f"{entity_id},FIP,Tapi Bank,{staff.email},,,"
    new = {"entityId": entity_id, "type": "FIP", "name": "Tapi Bank", "adminEmail": staff.email}
    browser: Reader = reader(service)
    browser.sign_in(staff.email)
    page = "/console/operator/onboard"

    answer = staff.post("/members", **new)
    shown = browser.act(page, page, **new, password=PASSWORD)
    command = ("member", "onboard", entity_id, "--type", "FIP", "--name", "Tapi Bank")
    ran = service.cli(*command, "--admin", staff.email, check=False)
    rows = [send(staff, row, dry_run=dry)["rows"][0] for dry in (True, False)]

    assert (answer.status_code, shown.status_code, ran.exit_code) == (409, 409, 1)
    for text in (answer.json()["errorMsg"], shown.text, ran.stderr):
        assert "accounts of their own" in text
    assert rows[0] == rows[1]
    assert (rows[0]["result"], rows[0]["column"]) == ("refused", "adminEmail")
    assert exported(staff, entity_id) == []


def test_a_file_that_is_none_is_refused_with_its_line(staff: Operator) -> None:
    answer = staff.post("/members/import", csv=f"{HEAD},status\n")
    assert answer.status_code == 400
    assert "the file, line 1, column 8 must be one of" in answer.json()["errorMsg"]


def test_rows_that_were_not_begun_in_time_are_left_and_the_same_file_goes_on(
    service: Service,
) -> None:
    rows = read_member_file("\n".join([HEAD, *map(line, new_ids(2))]))
    assert not isinstance(rows, FileRefused)
    seen: list[list[RowResult]] = []

    async def twice(dependencies: Dependencies) -> None:
        for times in ([0.0, 0.0, REQUEST_S], [0.0, 0.0, 0.0]):
            clock = iter(times).__next__
            done: list[RowOutcome] = list(
                await import_members(
                    dependencies.transaction, rows, owner(Caller("operator:tests")), clock
                )
            )
            seen.append([one.result for one in done])

    service.in_store(twice)
    new, left, unchanged = RowResult.NEW, RowResult.LEFT, RowResult.UNCHANGED
    assert seen == [[new, left], [unchanged, new]]


def test_a_file_is_imported_on_the_page(service: Service, staff: Operator) -> None:
    one, other = new_ids(2)
    text = "\r\n".join([HEAD, line(one, name="<b>Tapi</b>"), line(other, phone="x")])
    browser: Reader = reader(service)
    browser.sign_in(staff.email)
    page = "/console/operator/import"

    checked = browser.act(page, f"{page}/check", csv=text)
    unknown = exported(staff, one)
    done = browser.act(page, page, csv=text, password=PASSWORD)

    assert "Onboard and invite 1" in checked.text
    assert html.escape("<b>Tapi</b>") in checked.text
    assert "Nothing was changed yet" in checked.text
    assert unknown == []
    assert done.status_code == 200
    assert "The import is done: 1 onboarded" in done.text
    assert one in done.text
    assert len(exported(staff, one)) == 1
    file = browser.get("/console/operator/members?export=file&type=FIP")
    assert file.text.startswith(f"\ufeff{HEAD}")
    assert one in file.text


def test_a_file_is_imported_by_command(service: Service, tmp_path: Path) -> None:
    one, other = new_ids(2)
    file = tmp_path / "members.csv"
    file.write_bytes("\r\n".join([HEAD, line(one), line(other, phone="x")]).encode("utf-8-sig"))
    found = []
    for flags in (("--dry-run", "--json"), ("--json",), ("--json",)):
        ran = service.cli("member", "import", str(file), *flags, check=False)
        assert ran.exit_code == 1
        found.append(json.loads(ran.stdout))
    shown = service.cli("member", "export").stdout

    assert [results(one) for one in found] == [
        ["new", "refused"],
        ["new", "refused"],
        ["unchanged", "refused"],
    ]
    assert found[0]["rows"][1]["column"] == "contactPhone"
    assert one in shown
    assert other not in shown
    file.write_bytes(b"entityId\n")
    assert service.cli("member", "import", str(file), check=False).exit_code == 2


def test_who_may_not_is_refused_before_the_file_is_read(service: Service) -> None:
    other: httpx2.Response = new_operator(service, "health").post("/members/import", csv="no file")
    assert other.status_code == 401
    assert "scope" in other.json()["errorMsg"]
