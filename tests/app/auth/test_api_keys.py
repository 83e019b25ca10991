"""API keys: made, kept as hashes, given by a setting, found in constant time, and needed at public addresses."""

import hashlib
import hmac
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.auth.api_keys import ApiKeys, InvalidKeys, KeyFile, check_address
from ism_jobs.settings import Settings

KEY = "a" * 30
HASH = hashlib.sha256(b"b" * 30).hexdigest()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "api-keys"


def keys(path: Path, given: str | None = None) -> ApiKeys:
    return ApiKeys(Settings(api_keys_file=path, api_keys=given))


def test_a_key_is_random_and_its_hash_alone_is_kept(path: Path) -> None:
    made = [KeyFile(path).make(name) for name in ("alice", "bob")]
    assert len(set(made)) == 2
    assert all(len(key) == len("ism_") + 43 for key in made), "256 bits"
    kept = path.read_text()
    for key in made:
        assert key not in kept
        assert hashlib.sha256(key.encode()).hexdigest() in kept
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [keys(path).owner(key) for key in made] == ["alice", "bob"]
    assert keys(path).owner("ism_") is None


def test_keys_and_hashes_are_given_by_a_setting_with_or_without_names(path: Path) -> None:
    given = keys(path, f"alice:{KEY}, bob:{HASH}\n{'c' * 30}")
    assert (given.owner(KEY), given.owner("b" * 30)) == ("alice", "bob")
    assert given.owner("c" * 30) == f"key-{hashlib.sha256(b'c' * 30).hexdigest()[:12]}"
    assert given.owner(HASH) is None
    assert KEY not in repr(Settings(api_keys=KEY))


def test_all_keys_are_compared_in_constant_time_whichever_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = [KeyFile(path).make(name) for name in ("alice", "bob", "carol")]
    found = keys(path)
    compared: list[bytes] = []
    plain = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda one, other: compared.append(one) or plain(one, other))
    for key in (*made, "wrong"):
        compared.clear()
        found.owner(key)
        assert len(compared) == 3


def test_keys_made_at_once_are_all_kept(path: Path) -> None:
    names = [f"key{place}" for place in range(20)]
    with ThreadPoolExecutor(5) as pool:
        made = list(pool.map(KeyFile(path).make, names))
    assert [keys(path).owner(key) for key in made] == names


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("alice:secret", "6 characters.*ism keys make"),
        (f"al/ice:{KEY}", "name in ISM_API_KEYS"),
        (f"alice:{KEY},alice:{HASH}", "Two API keys have the name alice"),
    ],
)
def test_keys_that_cannot_be_used_are_refused_without_showing_them(path: Path, given: str, sentence: str) -> None:
    with pytest.raises(InvalidKeys, match=sentence) as refused:
        keys(path, given)
    assert "secret" not in str(refused.value)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize("name", ["", "a b", "a:b", "../x", "é", "x" * 65, "-x", "a\nb"])
def test_a_name_that_could_be_something_else_is_refused(path: Path, name: str) -> None:
    with pytest.raises(InvalidKeys, match="letters, digits"):
        KeyFile(path).make(name)
    assert not path.exists()


def test_a_file_that_is_none_of_ours_is_refused_at_the_start_and_ignored_later(path: Path) -> None:
    key = KeyFile(path).make("alice")
    running = keys(path)
    path.write_text("what is this\n")
    assert running.owner(key) == "alice"
    with pytest.raises(InvalidKeys, match="Line 1"):
        keys(path)


def test_no_keys_are_no_file_and_an_empty_file_is_closed(path: Path) -> None:
    assert not keys(path).enabled
    KeyFile(path).make("alice")
    KeyFile(path).revoke("alice")
    assert keys(path).enabled
    assert keys(path, KEY).enabled


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.53"])
def test_without_keys_loopback_will_do(path: Path, host: str) -> None:
    settings = Settings(host=host, api_keys_file=path)
    check_address(settings, ApiKeys(settings))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "", "no.such.host.invalid"])
def test_a_public_address_needs_keys(path: Path, host: str) -> None:
    settings = Settings(host=host, api_keys_file=path)
    with pytest.raises(InvalidKeys, match=r"no API keys\. Make a key with `ism keys make NAME`, or listen on 127"):
        check_address(settings, ApiKeys(settings))
    KeyFile(path).make("alice")
    check_address(settings, ApiKeys(settings))
