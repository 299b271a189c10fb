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
