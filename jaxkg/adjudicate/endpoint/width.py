"""How many requests are under way: fewer where the endpoint cannot keep up."""

from __future__ import annotations

import threading

_PATIENCE = 8  # replies in a row, for each request under way, before one more is tried


class Width:
    """A gate for so many at a time, narrowed by a refusal or a silence, widened again by replies.

    Attributes:
        most: requests under way at most.
        now: the same, at the moment.
    """

    def __init__(self, most: int) -> None:
        self.most = self.now = most
        self._under_way = self._good = 0
        self._changed = threading.Condition()

    def __enter__(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < self.now)
            self._under_way += 1

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._under_way -= 1
            self._changed.notify_all()

    def narrow(self) -> None:
        """Half as many from here on, one at least."""
        with self._changed:
            self.now, self._good = max(1, self.now // 2), 0

    def replied(self) -> None:
        """A reply came: after many in a row there is room for one more."""
        with self._changed:
            self._good += 1
            if self.now < self.most and self._good >= _PATIENCE * self.now:
                self.now, self._good = self.now + 1, 0
                self._changed.notify_all()
