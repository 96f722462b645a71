"""PathHD's calibration fitted to questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from jaxkg.kg import Topics, find_topics
from jaxkg.learn.supervision import answer_rows
from jaxkg.records import Question
from jaxkg.systems.pathhd.answers import right_shares
from jaxkg.systems.pathhd.calibration import Calibration
from jaxkg.systems.pathhd.records import Retrieved
from jaxkg.systems.pathhd.system import PathHD


def fit_calibration(
    qa: PathHD,
    training: Sequence[Question],
    validation: Sequence[Question],
    *,
    scaled: bool = False,
    candidates: int = 8,
) -> Calibration:
    """Schema frequencies from training questions, weights from validation (PathHD, App. I.4).

    Args:
        qa: the system; its own calibration is not used.
        training: questions, whose answers are not looked at.
        validation: questions with answers; their best candidates are executed.
        scaled: see `hdc.idf`.
        candidates: how many of them.
    """
    plain = dataclasses.replace(qa, calibration=None)
    codes = 2 * qa.kg.num_relations

    def candidates_of(questions: Sequence[Question]) -> tuple[Retrieved, list[Topics]]:
        topics = find_topics(qa.linker, questions)
        return plain.retrieve(plain.read(questions, topics), topics), topics

    counted = Calibration.counted(
        candidates_of(training)[0].relations, num_codes=codes, scaled=scaled
    )
    found, topics = candidates_of(validation)
    found = dataclasses.replace(
        found,
        relations=found.relations[:, :candidates],
        similarity=found.similarity[:, :candidates],
        score=found.score[:, :candidates],
    )
    grounded = qa.ground(found, topics, count=candidates)
    gold = [set(answer_rows(qa.kg, question)) for question in validation]
    hit = right_shares(grounded, gold, qa.named)
    # Candidates that reach nothing are passed over when questions are answered.
    similarity = np.where(grounded.used, found.similarity, -np.inf)
    return counted.fitted(similarity, found.relations, hit, num_codes=codes)
