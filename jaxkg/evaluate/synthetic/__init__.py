"""Synthetic graphs and questions, for scale, noise and incompleteness.

Everything comes from a seed, on the host, without a loop over facts: ten million take seconds.

    >>> world = make_world(WorldConfig(edges=3000), seed=1)
    >>> train, test = make_questions(world, QuestionConfig(train=60, test=12, paths=3), seed=1)
    >>> len(train), len(test), len(test[0].paths[0]), len(test[-1].paths[0])
    (60, 12, 1, 3)

The wordings are templates: what is learnt from some of them says little about what people ask.
"""

from jaxkg.evaluate.synthetic.files import write_nary, write_triples
from jaxkg.evaluate.synthetic.questions import QuestionConfig, make_questions
from jaxkg.evaluate.synthetic.world import World, WorldConfig, make_hypergraph, make_world

__all__ = [
    "QuestionConfig",
    "World",
    "WorldConfig",
    "make_hypergraph",
    "make_questions",
    "make_world",
    "write_nary",
    "write_triples",
]
