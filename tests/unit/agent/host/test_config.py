"""agent.toml: every error names its key, with what is allowed."""

from pathlib import Path

import pytest

from mudra.agent.host.config import ConfigError, read_config

GOOD = """
aa_id = "AA-1"
directory = "/var/lib/mudra-agent"
[operator]
token_url = "https://operator.example/iam"
push_url = "https://operator.example/metrics/perf/v1/push"
[credentials]
id.value = "AA-1"
secret.file = "/etc/mudra/secret"
[http]
listen = ["127.0.0.1:4044"]
[[log]]
path = "/var/log/nginx/fips.json"
format = "nginx"
direction = "to-fips"
fields.time = "ts"
[fips]
"fip.example" = "FIP-1"
"""


def _read(text: str, tmp_path: Path):
    path = tmp_path / "agent.toml"
    path.write_text(text)
    return read_config(path)


def test_a_good_file_is_read_with_its_defaults(tmp_path: Path) -> None:
    config = _read(GOOD, tmp_path)

    assert config.log[0].names.time == "ts"
    assert config.log[0].start == "end"
    assert config.http.acknowledge == "on-disk"
    assert config.sessions.keep_hours == 24


def test_the_sample_file_is_good() -> None:
    config = read_config(Path(__file__).parents[4] / "deploy" / "agent.toml")

    assert config.log
    assert config.fips


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('aa_id = "AA-1"', "", "aa_id is missing"),
        ('aa_id = "AA-1"', 'aa_id = "A A"', "aa_id"),
        ('aa_id = "AA-1"', 'aaid = "AA-1"\naa_id = "AA-1"', "did you mean aa_id?"),
        ("[operator]", '[operator]\npush_ulr = "x"', "operator.push_ulr is not a key"),
        ("[http]", "[htp]\n[http]", "did you mean http?"),
        ("[http]", "[http]\nacknowlege = 1", "did you mean acknowledge?"),
        ('format = "nginx"', 'format = "apache"', "log[0].format must be nginx, envoy, haproxy, kong or apigee"),
        ('direction = "to-fips"', 'direction = "in"', "log[0].direction must be to-fips"),
        ('direction = "to-fips"', "", "log[0].direction is missing"),
        ("fields.time", "fields.tiem", "did you mean time?"),
        ('secret.file = "/etc/mudra/secret"', 'secret.value = "hush-hush"', "must come from file, env or command"),
        ('secret.file = "/etc/mudra/secret"', "secret = {}", "credentials.secret must have exactly one"),
        ('id.value = "AA-1"', 'id.value = "A"\nid.env = "B"', "credentials.id must have exactly one"),
        ('id.value = "AA-1"', 'id.flie = "A"', "did you mean file?"),
        ('id.value = "AA-1"', 'id.value = "A"\ndpop_key = "key.pem"', "credentials.dpop_key must be an absolute path"),
        ('secret.file = "/etc/mudra/secret"', 'registered = true\ndpop_key = "/k"', "credentials.dpop_key is not for"),
        ('id.value = "AA-1"', 'id.value = "A"\ndpop_kye = "/k"', "did you mean dpop_key?"),
        ('directory = "/var/lib/mudra-agent"', 'directory = "here"', "directory must be an absolute path"),
        ('path = "/var/log/nginx/fips.json"', 'path = "x"', "log[0].path must be an absolute path"),
        ('listen = ["127.0.0.1:4044"]', 'listen = ["127.0.0.1"]', "http.listen"),
        ('listen = ["127.0.0.1:4044"]', "listen = []", "http.listen must be one address or more"),
        ('listen = ["127.0.0.1:4044"]', 'listen = ["127.0.0.1:70000"]', "must end in a port"),
        ("https://operator.example/iam", "operator.example", "operator.token_url"),
        ("https://operator.example/iam", "https://user:pw@operator.example", "operator.token_url"),
        ("https://operator.example/iam", "https://operator.example/iam?a=1", "operator.token_url"),
        ('"fip.example" = "FIP-1"', '"fip.example" = "F 1"', "fips"),
        ("[http]", "[sessions]\nkeep_hours = 0\n[http]", "sessions.keep_hours"),
        ("[http]", "[sessions]\nmost = true\n[http]", "sessions.most"),
        ("[http]", "[http", "is not TOML"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_the_key_and_the_way_out(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in GOOD

    with pytest.raises(ConfigError) as error:
        _read(GOOD.replace(old, new, 1), tmp_path)

    assert message in str(error.value)
    assert "hush-hush" not in str(error.value)


def test_a_missing_file_is_said_with_the_option_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--config"):
        read_config(tmp_path / "none.toml")


def test_a_path_twice_is_refused(tmp_path: Path) -> None:
    log = GOOD[GOOD.index("[[log]]") : GOOD.index("[fips]")]

    with pytest.raises(ConfigError, match="has a path twice"):
        _read(GOOD.replace("[fips]", f"{log}\n[fips]"), tmp_path)
