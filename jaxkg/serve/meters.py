"""What the service counts, as Prometheus reads it (text format 0.0.4)."""

from __future__ import annotations

from collections import Counter

from jaxkg.serve.gather import Load

_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Meters:
    """Requests by route and status, and how long answers took."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, int]] = Counter()
        self._within: Counter[float] = Counter()
        self._seconds = 0.0
        self._answers = 0
        self._withheld = 0

    def request(self, route: str, status: int) -> None:
        """A request was answered with this status."""
        self._requests[route, status] += 1

    def answer(self, seconds: float, *, withheld: bool) -> None:
        """A question was answered, or not, after this long in the service."""
        self._answers += 1
        self._withheld += withheld
        self._seconds += seconds
        self._within.update(bound for bound in _BOUNDS if seconds <= bound)

    def text(self, load: Load, waiting: int) -> str:
        """All of it, with what the gatherer did and how many questions wait.

        >>> import re
        >>> meters = Meters(); meters.request("/ask", 200); meters.answer(0.02, withheld=False)
        >>> re.findall("jaxkg_requests_total{.*", meters.text(Load(), 0))
        ['jaxkg_requests_total{route="/ask",status="200"} 1']
        """
        lines = ["# TYPE jaxkg_requests_total counter"]
        for (route, status), count in sorted(self._requests.items()):
            lines.append(f'jaxkg_requests_total{{route="{route}",status="{status}"}} {count}')
        lines.append("# TYPE jaxkg_answer_seconds histogram")
        for bound in _BOUNDS:
            lines.append(f'jaxkg_answer_seconds_bucket{{le="{bound}"}} {self._within[bound]}')
        lines += [
            f'jaxkg_answer_seconds_bucket{{le="+Inf"}} {self._answers}',
            f"jaxkg_answer_seconds_sum {self._seconds:.6f}",
            f"jaxkg_answer_seconds_count {self._answers}",
        ]
        for name, kind, value in (
            ("withheld_total", "counter", self._withheld),
            ("batches_total", "counter", load.batches),
            ("batched_questions_total", "counter", load.questions),
            ("failures_total", "counter", load.failures),
            ("busy_seconds_total", "counter", f"{load.seconds:.6f}"),
            ("largest_batch", "gauge", load.largest),
            ("waiting", "gauge", waiting),
        ):
            lines += [f"# TYPE jaxkg_{name} {kind}", f"jaxkg_{name} {value}"]
        return "\n".join(lines) + "\n"
