import dataclasses
import math

import pytest

from jaxkg.errors import JaxkgError
from jaxkg.search.hyperedges import BeamSettings
from jaxkg.settings import SettingError
from jaxkg.systems.guided import GuidedSettings
from jaxkg.systems.llm_planned.system import LLMPlannedSettings
from jaxkg.systems.pathhd import PathHDSettings
from jaxkg.systems.pathmind.system import PathMindSettings
from jaxkg.systems.planned import PlannedSettings
from jaxkg.systems.proh.retrieval import RetrievalSettings
from jaxkg.systems.proh.settings import ProhSettings
from jaxkg.systems.ranked import RankedSettings
from jaxkg.systems.reknos import ReKnoSSettings

ALL = [
    *(BeamSettings, GuidedSettings, LLMPlannedSettings, PathHDSettings, PathMindSettings),
    *(PlannedSettings, ProhSettings, RankedSettings, ReKnoSSettings, RetrievalSettings),
]


@pytest.mark.parametrize("kind", ALL)
def test_no_number_of_any_system_may_be_nonsense(kind):
    numbers = [f for f in dataclasses.fields(kind) if type(getattr(kind(), f.name)) in (int, float)]
    assert numbers
    for field in numbers:
        whole = isinstance(getattr(kind(), field.name), int)
        for value in (-(10**9), 0.5, True, "3") if whole else (math.nan, math.inf, "3", True):
            with pytest.raises(JaxkgError, match=field.name):
                kind(**{field.name: value})


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: PlannedSettings(width=0), "width is a whole number of at least 1, not 0"),
        (lambda: PlannedSettings(batch_size=-1), "batch_size is a whole number of at least 1"),
        (
            lambda: PlannedSettings(share=1.5),
            "share is a finite number of at least 0 and at most 1",
        ),
        (lambda: RankedSettings(temperature=-1), "temperature is a finite number above 0, not -1"),
        (lambda: PathHDSettings(block=0), "block is a whole number of at least 1, not 0"),
        (lambda: GuidedSettings(sample=0), "sample is a whole number of at least 1, not 0"),
    ],
)
def test_what_would_do_is_told(make, told):
    with pytest.raises(SettingError, match=told):
        make()
    assert GuidedSettings(sample=None).sample is None
