from tools.size_gate import main, offences


def write(root, name, lines):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def function(lines):
    return ["def f():", *["    x = 1"] * (lines - 1)]


def test_a_file_of_400_lines_passes_and_one_more_does_not(tmp_path):
    write(tmp_path, "tests/edge.py", ["x = 1"] * 400)
    assert not list(offences(tmp_path))

    write(tmp_path, "tests/edge.py", ["x = 1"] * 401)
    assert list(offences(tmp_path)) == [
        "tests/edge.py: 401 lines, allowed are 400; split it by what changes together"
    ]


def test_a_function_of_60_lines_passes_and_one_more_does_not(tmp_path):
    write(tmp_path, "src/edge.py", function(60))
    assert not list(offences(tmp_path))

    write(tmp_path, "src/edge.py", function(61))
    assert list(offences(tmp_path)) == [
        "src/edge.py:1: f has 61 lines, allowed are 60; name its steps"
    ]


def test_the_median_of_src_stays_below_120(tmp_path):
    write(tmp_path, "src/a.py", ["x = 1"] * 120)
    assert "median" in next(iter(offences(tmp_path)))

    write(tmp_path, "src/b.py", ["x = 1"])
    assert not list(offences(tmp_path))


def test_the_command_fails_when_something_is_too_long(tmp_path, capsys):
    write(tmp_path, "src/a.py", function(61))

    assert main([str(tmp_path)]) == 1
    assert "f has 61 lines" in capsys.readouterr().out


def of_files(root, number):
    for n in range(number):
        write(root, f"src/area/part_{n}.py", ["x = 1"])


def test_a_folder_of_15_files_passes_and_one_more_does_not(tmp_path):
    of_files(tmp_path, 15)
    write(tmp_path, "src/area/__init__.py", ['"""Holds parts. Never others."""'])
    assert not list(offences(tmp_path))

    of_files(tmp_path, 16)
    (fault,) = offences(tmp_path)
    assert fault.startswith("src/area: 16 files, allowed are 15; join small files")


def test_a_limit_of_a_large_folder_only_falls(tmp_path, monkeypatch):
    write(tmp_path, "tools/size_limits.toml", ["[folders]", '"src/area" = 18', "[flows]"])
    of_files(tmp_path, 19)
    assert [one.partition(";")[0] for one in offences(tmp_path)] == [
        "src/area: 19 files, allowed are 18"
    ]

    (tmp_path / "src/area/part_18.py").unlink()
    (tmp_path / "src/area/part_17.py").unlink()
    assert list(offences(tmp_path)) == [
        "src/area: 17 files, tools/size_limits.toml has 18: size_gate.py --lower"
    ]
    monkeypatch.chdir(tmp_path)
    assert main(["--lower"]) == 0
    assert '"src/area" = 17' in (tmp_path / "tools/size_limits.toml").read_text()
    assert not list(offences(tmp_path))


def test_a_flow_of_30_files_passes_and_one_more_does_not(tmp_path):
    def flow(number):
        files = [f"`area/part_{chr(97 + n // 26)}{chr(97 + n % 26)}.py`" for n in range(number)]
        return ["## Flows", "### Sign-in", *files, "## Where to read on", "`other/file.py`"]

    write(tmp_path, "ARCHITECTURE.md", flow(30))
    assert not list(offences(tmp_path))

    write(tmp_path, "ARCHITECTURE.md", flow(31))
    assert list(offences(tmp_path)) == [
        "Sign-in: 31 files, allowed are 30; let the request pass fewer files"
    ]
