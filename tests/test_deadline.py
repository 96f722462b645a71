"""A question's time ends its work, whoever set the limit."""

import threading
import time

import pytest

from jaxkg.deadline import OutOfTime, TimeLimit, check, left
from jaxkg.errors import JaxkgError


def test_without_a_limit_work_goes_on():
    check()
    assert left() == float("inf")
    with TimeLimit():
        check()
        assert left() == float("inf")


def test_the_first_of_two_limits_to_end_counts():
    with TimeLimit(1000), TimeLimit(10), TimeLimit(100):
        assert 9 < left() <= 10
    check()


def test_a_limit_ends_with_its_block_and_leaves_the_one_around_it():
    with TimeLimit(1000):
        with TimeLimit(0.001):
            time.sleep(0.005)
            with pytest.raises(OutOfTime, match=r"longer than 0\.001 s"):
                check()
        assert left() > 900


def test_another_thread_stops_the_work():
    with TimeLimit() as limit:
        threading.Timer(0.01, limit.stop, ["the service is stopping"]).start()
        with pytest.raises(OutOfTime, match="the service is stopping"):
            _work()


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_without_time_is_refused(seconds):
    with pytest.raises(JaxkgError, match="above 0 seconds"):
        TimeLimit(seconds)


def _work():
    while True:
        check()
        time.sleep(0.001)
