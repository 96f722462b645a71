import pytest
from hyper_world import encoder, world

from jaxkg.systems.proh.index import hyper_index
from jaxkg.systems.proh.settings import PROH_L, ProhSettings
from jaxkg.systems.proh.system import ProhQA


@pytest.fixture(scope="module")
def index():
    return hyper_index(world(), encoder())


@pytest.fixture(scope="module")
def ask_of(index):
    def build(backend=None, settings: ProhSettings = PROH_L):
        return ProhQA.build(
            index.graph, index.encode, backend=backend, settings=settings, index=index
        )

    return build
