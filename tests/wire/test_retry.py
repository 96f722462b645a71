import email.utils
import time

import pytest

from jaxkg.wire.retry import Backoff, Fault, from_status, named, retry_after


@pytest.mark.parametrize(
    ("status", "kind", "again"),
    [
        (400, "bad_request", False),
        (401, "authentication", False),
        (403, "permission", False),
        (404, "not_found", False),
        (422, "bad_request", False),
        (408, "timeout", True),
        (409, "server", True),
        (429, "rate_limit", True),
        (500, "server", True),
        (503, "server", True),
        (529, "server", True),
    ],
)
def test_only_named_errors_are_tried_again(status, kind, again):
    fault = from_status(status, "x", code=None, headers={})
    assert (fault.kind, fault.again, named(status)) == (kind, again, kind)


def test_a_used_up_quota_is_not_tried_again():
    assert not from_status(429, "x", code="insufficient_quota", headers={}).again


def test_retry_after_in_every_form():
    soon = email.utils.formatdate(time.time() + 20, usegmt=True)
    assert retry_after({"retry-after": "1.5"}) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    assert retry_after({"retry-after": soon}) == pytest.approx(20, abs=2)
    assert retry_after({}) is None
    assert retry_after({"retry-after": "-3"}) is None
    assert retry_after({"retry-after": "inf"}) is None


def test_waits_double_up_to_the_longest():
    backoff = Backoff(retries=10, first=1.0, longest=8.0)
    fault = Fault("server", "x", again=True)
    for attempt in range(1, 11):
        wait = backoff.wait(attempt, fault)
        most = min(8.0, 2.0 ** (attempt - 1))
        assert wait is not None
        assert most / 2 <= wait <= most
    assert backoff.wait(11, fault) is None


def test_the_endpoints_wish_is_kept_unless_it_is_too_long():
    backoff = Backoff(longest=60)
    assert 7.0 <= backoff.wait(1, Fault("rate_limit", "x", 7.0, True)) <= 7.7
    assert backoff.wait(1, Fault("rate_limit", "x", 3600.0, True)) is None
    assert backoff.wait(1, Fault("bad_request", "x", 1.0, False)) is None


def test_zero_seconds_are_no_wish_to_be_asked_at_once():
    backoff = Backoff(first=1.0)
    waits = [backoff.wait(attempt, Fault("server", "x", 0.0, True)) for attempt in (1, 2, 3)]
    assert all(least <= wait <= 2 * least for wait, least in zip(waits, (0.5, 1.0, 2.0)))
    assert len({backoff.wait(1, Fault("server", "x", 0.0, True)) for _ in range(5)}) > 1
