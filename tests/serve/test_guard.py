import pytest

from jaxkg.errors import JaxkgError
from jaxkg.serve.gather import Busy
from jaxkg.serve.guard import Names, Rate, checked_token, shows


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost"])
def test_loopback_needs_no_token(host):
    assert checked_token(host, None) is None


def test_any_other_address_does():
    with pytest.raises(JaxkgError, match="JAXKG_TOKEN"):
        checked_token("0.0.0.0", None)
    assert checked_token("0.0.0.0", "x" * 16) == "x" * 16


@pytest.mark.parametrize("token", ["short", "schlüsselschlüssel", "with\nnewline-and-more"])
def test_a_token_that_is_no_use_is_refused(token):
    with pytest.raises(JaxkgError, match="16 printable"):
        checked_token("127.0.0.1", token)


def test_only_the_token_opens():
    token = "0123456789abcdef"
    for header in (b"Bearer %s", b"bearer %s", b"BEARER  %s"):
        assert shows(token, header % token.encode())
    for header in ("", "Bearer", token, f"Basic {token}", f"Bearer{token}", f"Bearer {token}0"):
        assert not shows(token, header.encode())
    assert not shows(token, f"Bearer {token[:-1]}".encode())
    assert not shows(token, b"Bearer \xfc")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8137", "127.0.0.1:1", "[::1]:80", "[::1]", "kg.example.org:8"]
)
def test_the_service_has_names(host):
    assert Names(("KG.example.org",)).is_own(host)


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "localhost.evil.example", "evil@localhost", "localhost/x", "127.0.0.1.nip"]
    + ["[::1].evil", "0.0.0.0", "10.0.0.1", "localhost:80:80", "x localhost"],
)
def test_any_other_is_none(host):
    assert not Names(("KG.example.org",)).is_own(host)


def test_a_service_on_every_address_is_asked_under_each_in_figures():
    names = Names(("0.0.0.0",))
    assert names.is_own("10.1.2.3:8137")
    assert names.is_own("[fe80::1]:8137")
    assert not names.is_own("evil.example")
    assert not names.is_own("2130706433")


def test_pages_are_strangers_but_the_own_and_the_named():
    names = Names(origins=("https://kg.example.org",))
    for origin in ("http://localhost:8137", "https://localhost:8137", "https://kg.example.org"):
        assert names.is_welcome(origin, "cross-site", "localhost:8137")
    for origin in ("null", "http://localhost:1", "http://evil.example", "http://kg.example.org"):
        assert not names.is_welcome(origin, "same-origin", "localhost:8137")
    assert names.is_welcome("", "", "x")
    assert names.is_welcome("", "none", "x")
    assert not names.is_welcome("", "same-site", "x")
    assert not names.is_welcome("", "cross-site", "x")


@pytest.mark.parametrize("host", ["kg.example.org:8137", "https://kg.example.org", "*/", ""])
def test_what_is_no_name_is_refused(host):
    with pytest.raises(JaxkgError, match="--allow-host"):
        Names((host,))


@pytest.mark.parametrize("origin", ["kg.example.org", "*", "https://kg.example.org/page"])
def test_what_is_no_origin_is_refused(origin):
    with pytest.raises(JaxkgError, match="--allow-origin"):
        Names((), (origin,))


def test_a_bucket_fills_again():
    now = [0.0]
    rate = Rate(2.0, 1, clock=lambda: now[0])

    def wait():
        with pytest.raises(Busy) as busy:
            rate.take("me")
        return busy.value.seconds

    assert rate.take("me") == 0
    assert wait() == pytest.approx(0.5)
    now[0] = 0.25
    assert wait() == pytest.approx(0.25)
    now[0] = 0.5
    assert rate.take("me") == 0
    rate.put_back("me")
    assert rate.take("me") == 0


def test_what_is_ahead_of_the_bucket_waits_and_no_longer_than_so():
    rate = Rate(2.0, 1, clock=lambda: 0.0)
    assert [rate.take("me", longest=1.0) for _ in range(3)] == [0.0, 0.5, 1.0]
    with pytest.raises(Busy):
        rate.take("me", longest=1.0)
    assert rate.take("you", longest=1.0) == 0
