"""What a backup leaves behind that is killed, or cannot write its files: nothing for long."""

import resource
import signal
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.support.database.backup_under_way import backup_under_way
from tests.support.database.template_database import prepare
from tests.support.forked_command import run_mudra
from tests.support.until import PATIENCE_S, until

from mudra.storage.backup.archive import name_of
from mudra.storage.backup.encryption import new_identity
from mudra.storage.database.embedded.server import embedded_server


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("service") / "data"
    prepare(folder)
    with embedded_server(folder):
        yield folder


def names(folder: Path) -> list[str]:
    return sorted(one.name.partition(".")[2] for one in folder.iterdir())


def is_next_second(folder: Path) -> bool:
    """Whether the next backup has another name than those that are there."""
    return not list(folder.glob(f"{name_of(datetime.now(UTC))}*"))


def test_what_a_killed_backup_left_the_next_one_deletes(data_dir: Path, tmp_path: Path) -> None:
    with backup_under_way(data_dir, tmp_path) as backup:
        backup.kill()
        backup.wait(PATIENCE_S)
    left = names(tmp_path)
    until(lambda: is_next_second(tmp_path))
    (tmp_path / "other.part").touch()
    done = backed_up(data_dir, tmp_path)

    assert left == ["dump.age.part"]
    assert done == (0, "")
    assert names(tmp_path) == ["dump.age", "json", "part"]


def test_backups_over_age_go_once_a_new_one_is_whole(data_dir: Path, tmp_path: Path) -> None:
    """By the time in their names, whatever the file system says; nothing else goes."""
    now = datetime.now(UTC)
    for days in (13, 15):
        name = name_of(now - timedelta(days=days))
        for ending in ("dump.age", "json", "txt"):
            (tmp_path / f"{name}.{ending}").touch()
    (tmp_path / "mudra-notes.json").touch()
    refused = run_mudra("backup", "create", "--to", str(tmp_path), "--keep-days", "14")
    kept = names(tmp_path)
    done = backed_up(data_dir, tmp_path, "--keep-days", "14")

    assert refused.returncode != 0
    assert len(kept) == 7
    assert done == (0, "")
    assert not [one for one in tmp_path.iterdir() if name in one.name and one.suffix != ".txt"]
    assert len(list(tmp_path.iterdir())) == 7  # of these two are new


def test_a_backup_leaves_the_file_that_another_service_is_writing(
    data_dir: Path, tmp_path: Path
) -> None:
    prepare(tmp_path / "other")
    folder = tmp_path / "kept"
    with backup_under_way(tmp_path / "other", folder) as backup:
        until(lambda: is_next_second(folder))
        done = backed_up(data_dir, folder)
        during = names(folder)
        backup.send_signal(signal.SIGCONT)
        assert backup.wait(PATIENCE_S) == 0

    assert done == (0, "")
    assert during == ["dump.age", "dump.age.part", "json"]
    assert names(folder) == ["dump.age"] * 2 + ["json"] * 2


def test_a_full_disk_leaves_nothing_and_is_said_with_the_folder(
    data_dir: Path, tmp_path: Path
) -> None:
    """RLIMIT_FSIZE as the full disk: each write beyond it fails."""
    with backup_under_way(data_dir, tmp_path) as backup:
        resource.prlimit(backup.pid, resource.RLIMIT_FSIZE, (4_096, -1))
        backup.send_signal(signal.SIGCONT)
        said = " ".join(backup.stdout.read().split())
        code = backup.wait(PATIENCE_S)

    assert f"the backup cannot be written to {tmp_path}: File too large" in said
    assert "Traceback" not in said
    assert (code, names(tmp_path)) == (1, [])


def test_a_dump_whose_description_cannot_be_written_is_not_kept(
    data_dir: Path, tmp_path: Path
) -> None:
    """A directory is in the place of the description, whatever the second is."""
    now = datetime.now(UTC)
    for second in range(120):
        (tmp_path / f"{name_of(now + timedelta(seconds=second))}.json.part").mkdir()
    code, said = backed_up(data_dir, tmp_path)

    assert code == 1
    assert f"the backup cannot be written to {tmp_path}: " in said
    assert set(names(tmp_path)) == {"json.part"}


def test_a_folder_that_cannot_be_made_is_named(data_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    code, said = backed_up(data_dir, tmp_path / "file" / "kept")

    assert code == 1
    assert f"the backup cannot be written to {tmp_path}/file/kept: Not a directory" in said


def backed_up(data_dir: Path, folder: Path, *options: str) -> tuple[int, str]:
    """Make a backup; gives the exit code, and what it said of a failure."""
    words = ("backup", "create", "--to", str(folder), "--recipient", new_identity()[1], *options)
    done = run_mudra(*words, MUDRA_DATA_DIR=str(data_dir))
    return done.returncode, " ".join(done.stderr.split()) if done.returncode else ""
