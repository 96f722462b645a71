import pytest

from jaxkg.errors import JaxkgError
from jaxkg.serve.guard import Rate, allowed, checked_token


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
    assert allowed(None, None)
    assert allowed(token, f"Bearer {token}")
    for header in (None, "", "Bearer", f"Bearer {token}0", f"Bearer {token[:-1]}", "Bearer \xfc"):
        assert not allowed(token, header)


def test_a_bucket_fills_again():
    now = [0.0]
    rate = Rate(2.0, 1, clock=lambda: now[0])
    assert rate.wait("me") == 0
    assert rate.wait("me") == pytest.approx(0.5)
    now[0] = 0.25
    assert rate.wait("me") == pytest.approx(0.25)
    now[0] = 0.5
    assert rate.wait("me") == 0
