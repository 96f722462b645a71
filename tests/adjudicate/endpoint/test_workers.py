import threading
import time

import pytest

from jaxkg.adjudicate.endpoint.workers import run_all


@pytest.mark.parametrize("threads", [1, 3, 50])
def test_each_place_once(threads):
    done = []
    run_all(20, done.append, threads=threads, stop=threading.Event())
    assert sorted(done) == list(range(20))


def test_nothing_to_do():
    run_all(0, pytest.fail, threads=4, stop=threading.Event())


def test_one_call_at_a_time_needs_no_thread():
    seen = []
    run_all(3, lambda n: seen.append(threading.current_thread()), threads=1, stop=threading.Event())
    assert set(seen) == {threading.current_thread()}


def test_a_set_stop_starts_nothing_more():
    stop, done = threading.Event(), []

    def work(place):
        done.append(place)
        if place == 4:
            stop.set()

    run_all(100, work, threads=1, stop=stop)
    assert done == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_failure_is_raised_and_ends_the_rest(threads):
    done = []

    def work(place):
        time.sleep(0.005)
        done.append(place)
        if place == 3:
            raise KeyError("three")

    with pytest.raises(KeyError, match="three"):
        run_all(500, work, threads=threads, stop=threading.Event())
    assert len(done) < 20
