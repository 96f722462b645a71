"""Every pure core function with two sets of inputs of one bucket, for `test_conformance.py`.

A case is `function(*inputs(seed))`: arrays and trees of arrays go in, everything static is closed
over. The sizes are the same wherever possible, so that single operations compile once.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import hdc_cases
import hyper_cases
import jax
import jax.numpy as jnp
import lm_cases
import numpy as np
import reknos_cases
import scorer_cases
from drawn import floats, graph, ints, mask, path, rng
from programs import frontier_of, random_plan, random_topics

from jaxkg import candidates, ops, select
from jaxkg.candidates import Targets
from jaxkg.candidates.subgraph import question_subgraphs
from jaxkg.learn.planner import train as planner_training
from jaxkg.learn.priority import train as priority_training
from jaxkg.ops.unique import sieve
from jaxkg.score import message_passing, planner, priority, priority_params
from jaxkg.search import relation_beam as search
from jaxkg.systems.pathmind.walks import heaviest_walks

ROWS, STARTS, SLOTS, HOPS, CODES = 4, 16, 64, 2, 6
WIDTH, DIM, BUCKETS, WORDS = 3, 8, 16, 5


class Case(NamedTuple):
    function: Callable[..., Any]
    inputs: Callable[[int], tuple]


def starts(seed, rows=ROWS):
    return frontier_of(random_topics(rng(seed), rows), size=STARTS, last=rows - 1)


def frontier(seed, size=SLOTS):
    row = np.sort(ints(seed, ROWS, size))
    node, edge, parent = (ints(seed + i, 14, size) for i in (1, 2, 3))
    return starts(seed)._replace(row=row, node=node, edge=edge, parent=parent, valid=mask(4, size))


def trail(seed):
    return starts(seed), frontier(seed), frontier(seed + 10)


def plan(seed):
    return random_plan(rng(seed), CODES, rows=ROWS, hops=HOPS, width=2)


def targets(seed):
    pairs = sorted(divmod(int(code), 14) for code in rng(seed).choice(14 * ROWS, 20, replace=False))
    table = np.full((SLOTS, 2), -1, np.int32)
    table[:20] = pairs
    count = np.bincount([row for row, _ in pairs], minlength=ROWS).astype(np.int32)
    return Targets(table[:, 0], table[:, 1], count)


def weights(seed):
    return planner.init_planner(
        CODES // 2, hops=HOPS, width=DIM, buckets=BUCKETS, key=jax.random.key(seed)
    )


def reading(seed):
    return planner.Reading(floats(seed, DIM), floats(seed + 1, HOPS + 1, DIM))


def words(seed, *shape):
    return ints(seed, BUCKETS, *shape, WORDS, low=-1)


def beam(seed):
    return search.init(starts(seed, 2), num_questions=2, width=WIDTH, hops=HOPS)


def options(seed):
    return mask(seed, 2, WIDTH, CODES)


def carried(table):
    """A scorer whose memo counts the hops of a path."""

    def score(beam, options):
        hops = jnp.zeros(beam.score.shape) if beam.memo is None else beam.memo + 1.0
        return search.Scored(table[:, None, beam.hop] + hops[:, :, None] * 0.5, hops)

    return score


def table_search(tensors, begin, table, run=search.search):
    return run(
        tensors,
        begin,
        carried(table),
        num_questions=2,
        width=WIDTH,
        hops=HOPS,
        capacities=(SLOTS, SLOTS, SLOTS) * HOPS,
        margin=3.0,
    )


def init_beam(begin):
    return search.init(begin, num_questions=2, width=WIDTH, hops=HOPS)


def priorities(seed):
    sizes = priority_params.PrioritySizes(
        hops=HOPS,
        buckets=BUCKETS,
        width=DIM,
        state=4,
        features=5,
        bases=2,
        heads=2,
        hidden=4,
        text=5,
    )
    params = priority_params.init_priority(CODES // 2, sizes, key=jax.random.key(seed))
    return params._replace(
        readout=params.readout._replace(out=floats(seed, 4)),
        future=params.future._replace(out=floats(seed, 4, 4)),
    )


def read(seed):
    weight, length = np.abs(floats(seed, ROWS, HOPS, CODES)), np.abs(floats(seed, ROWS, HOPS))
    return priority.Question(weight, length, floats(seed, ROWS, 4), floats(seed + 1, ROWS, 4))


def sums(seed, size=SLOTS):
    return priority.PathSums(np.abs(floats(seed, size)), floats(seed, size, 2))


def unrolled(tensors, begin, weight):
    return question_subgraphs(
        tensors, begin, weight, capacities=(SLOTS, SLOTS) * HOPS, fan_out=4, floor=0.05
    )


def path_sums(params, question, states, tensors, begin):
    sub = unrolled(tensors, begin, question.weight)
    code = tuple(level.edge % CODES for level in sub.trail[1:])
    return priority.sum_over_paths(params, question, states, sub.trail, sub.place, code)


def walks_of(question, tensors, begin):
    sub = unrolled(tensors, begin, question.weight)
    return heaviest_walks(sub, question, tensors.relation % CODES)


CASES: dict[str, Case] = {
    "ops.put_in": Case(
        lambda key, valid: ops.put_in(sieve(8), (key,), valid),
        lambda s: (ints(s, 99, 8), mask(s, 8)),
    ),
    "ops.may_hold": Case(
        lambda held, key: ops.may_hold(held > 5, (key,)),
        lambda s: (ints(s, 9, SLOTS), ints(s + 1, 99, SLOTS)),
    ),
    "ops.running_sum": Case(ops.running_sum, lambda s: (ints(s, 9, 2 * SLOTS),)),
    "ops.stretches": Case(
        lambda *args: ops.stretches(*args, num_rows=ROWS),
        lambda s: (np.sort(ints(s, ROWS, SLOTS)), mask(s, SLOTS)),
    ),
    "ops.expand_ragged": Case(
        lambda lengths: ops.expand_ragged(lengths, capacity=SLOTS), lambda s: (ints(s, 9, 16),)
    ),
    "ops.first_of_each": Case(
        lambda *args: ops.first_of_each(args[:2], args[2]),
        lambda s: (ints(s, 4, SLOTS), ints(s + 1, 4, SLOTS), mask(s, SLOTS)),
    ),
    "ops.top_in_group": Case(
        lambda *args: ops.top_in_group(*args, num_groups=ROWS, k=3),
        lambda s: (ints(s, ROWS, SLOTS), floats(s, SLOTS), mask(s, SLOTS)),
    ),
    "ops.low_rank_sum": Case(
        lambda kernel, *pair: ops.low_rank_sum(kernel, ops.LowRank(*pair), alpha=3.0),
        lambda s: (floats(s, 5, 7), floats(s + 1, 5, 2), floats(s + 2, 2, 7)),
    ),
    "ops.edges_to": Case(
        ops.edges_to,
        lambda s: (trail(s), ints(s, HOPS + 1, STARTS), ints(s, STARTS, STARTS, low=-1)),
    ),
    "candidates.start": Case(
        candidates.start, lambda s: (np.sort(ints(s, ROWS, STARTS)), ints(s, 14, STARTS, low=-1))
    ),
    "candidates.find_run": Case(
        candidates.find_run, lambda s: (graph(s), ints(s, 14, SLOTS), ints(s, CODES, SLOTS, low=-1))
    ),
    "candidates.walk": Case(
        lambda *args: candidates.walk(*args, capacity=SLOTS),
        lambda s: (
            graph(s),
            starts(s),
            np.sort(ints(s, STARTS, STARTS)),
            ints(s, 40, STARTS),
            ints(s, 9, STARTS),
        ),
    ),
    "candidates.expand": Case(
        lambda *args: candidates.expand(*args, capacity=SLOTS), lambda s: (graph(s), starts(s))
    ),
    "candidates.barred": Case(
        lambda *args: candidates.barred(*args, num_questions=ROWS),
        lambda s: (ints(s, ROWS, SLOTS), ints(s, 14, SLOTS), mask(s, SLOTS), starts(s)),
    ),
    "candidates.prune": Case(
        lambda now, *earlier: candidates.prune(now, earlier, "none"),
        lambda s: (frontier(s), starts(s), frontier(s + 5)),
    ),
    "candidates.available": Case(
        lambda *args: candidates.available(*args, num_rows=ROWS, capacity=SLOTS),
        lambda s: (graph(s), starts(s)),
    ),
    "candidates.advance": Case(
        lambda *args: candidates.advance(*args, rows_per_question=2, capacities=(SLOTS, SLOTS)),
        lambda s: (
            graph(s),
            starts(s),
            starts(s + 1, rows=2),
            np.asarray([0, 1, 1, 3], np.int32),
            ints(s, CODES, ROWS, low=-1),
        ),
    ),
    "candidates.follow": Case(
        lambda *args: candidates.follow(*args, capacities=(SLOTS, SLOTS), revisit="none"),
        lambda s: (graph(s), starts(s), plan(s)),
    ),
    "candidates.fit": Case(
        lambda trail: candidates.fit(trail[-1].node, trail), lambda s: (trail(s),)
    ),
    "candidates.path_length": Case(candidates.path_length, lambda s: (plan(s),)),
    "candidates.answers": Case(candidates.answers, lambda s: (trail(s), plan(s))),
    "candidates.visits": Case(
        lambda frontier: candidates.visits(frontier, num_rows=ROWS),
        lambda s: (frontier(s)._replace(needed=np.asarray(SLOTS - s, np.int32)),),
    ),
    "candidates.relation_paths": Case(
        lambda *args: candidates.relation_paths(
            *args, capacities=(SLOTS, SLOTS), keep=3, fan_out=4
        ),
        lambda s: (graph(s), starts(s), targets(s)),
    ),
    "candidates.is_target": Case(
        candidates.is_target, lambda s: (ints(s, ROWS, SLOTS), ints(s, 14, SLOTS), targets(s))
    ),
    "select.choose": Case(
        lambda scores: select.choose(scores, width=WIDTH, margin=1.0),
        lambda s: (floats(s, 2, WIDTH, CODES),),
    ),
    "select.best_in_rows": Case(
        lambda row, valid, values: select.best_in_rows(
            row, valid, lambda slot: values[slot], num_rows=ROWS, most=2
        ),
        lambda s: (ints(s, ROWS, SLOTS), mask(s, SLOTS), floats(s, SLOTS)),
    ),
    "select.witness_paths": Case(
        select.witness_paths,
        lambda s: (trail(s), (mask(1, STARTS), mask(2, SLOTS), mask(3, SLOTS))),
    ),
    "score.planner.init_planner": Case(
        lambda key: planner.init_planner(3, hops=HOPS, width=DIM, buckets=BUCKETS, key=key),
        lambda s: (jax.random.key(s),),
    ),
    "score.planner.bag": Case(planner.bag, lambda s: (weights(s).ngram, words(s, 3))),
    "score.planner.label_vectors": Case(
        planner.label_vectors, lambda s: (weights(s), words(s, CODES // 2))
    ),
    "score.planner.read_question": Case(planner.read_question, lambda s: (weights(s), words(s))),
    "score.planner.next_relation_logits": Case(
        planner.next_relation_logits,
        lambda s: (weights(s), floats(s, CODES, DIM), reading(s), path(s)),
    ),
    "score.planner.path_state": Case(
        planner.path_state, lambda s: (weights(s), floats(s, DIM), np.int32(s % CODES))
    ),
    "score.planner.relation_logits": Case(
        planner.relation_logits,
        lambda s: (weights(s), floats(s, CODES), floats(s + 1, DIM), floats(s + 2, DIM)),
    ),
    "score.planner.path_log_probability": Case(
        planner.path_log_probability,
        lambda s: (weights(s), floats(s, CODES, DIM), reading(s), path(s)),
    ),
    "learn.planner_training.mined_log_probabilities": Case(
        planner_training.mined_log_probabilities,
        lambda s: (weights(s), words(s, CODES // 2), words(s, 2), path(s, 2, 3)),
    ),
    "learn.planner_training.marginal_log_likelihood": Case(
        lambda *args: planner_training.marginal_log_likelihood(*args, temperature=0.05),
        lambda s: (-abs(floats(s, 4, 3)), np.maximum(floats(s + 1, 4, 3), 0)),
    ),
    "learn.planner_training.expected_f1": Case(
        planner_training.expected_f1,
        lambda s: (-abs(floats(s, 4, 3)), np.maximum(floats(s + 1, 4, 3), 0)),
    ),
    "search.relation_beam.init": Case(init_beam, lambda s: (starts(s, 2),)),
    "search.relation_beam.ask": Case(
        lambda *args: search.ask(*args, capacity=SLOTS), lambda s: (graph(s), beam(s))
    ),
    "search.relation_beam.tell": Case(
        lambda *args: search.tell(*args, capacities=(SLOTS, SLOTS), margin=3.0),
        lambda s: (graph(s), beam(s), options(s), floats(s, 2, WIDTH, CODES + 1)),
    ),
    "search.relation_beam.search": Case(
        table_search, lambda s: (graph(s), starts(s, 2), floats(s, 2, HOPS, CODES + 1))
    ),
    "search.relation_beam.search_layers": Case(
        lambda *args: table_search(*args, run=search.search_layers),
        lambda s: (graph(s), starts(s, 2), floats(s, 2, HOPS, CODES + 1)),
    ),
    "candidates.subgraph.question_subgraphs": Case(
        unrolled, lambda s: (graph(s), starts(s), read(s).weight)
    ),
    "score.message_passing.inflow": Case(message_passing.inflow, lambda s: (graph(s),)),
    "score.message_passing.pass_messages": Case(
        lambda params, tensors, states: message_passing.pass_messages(
            params, message_passing.inflow(tensors), states
        ),
        lambda s: (priorities(s).entities.rounds[0], graph(s), floats(s, 16, 4)),
    ),
    "score.message_passing.mean_messages": Case(
        lambda coefficient, basis, tensors, states: message_passing.mean_messages(
            coefficient, basis, message_passing.inflow(tensors), states
        ),
        lambda s: (floats(s, CODES, 2), floats(s, 2, 4, 4), graph(s), floats(s, 16, 4)),
    ),
    "score.message_passing.init_messages": Case(
        lambda key: message_passing.init_messages(CODES, width=4, bases=2, key=key),
        lambda s: (jax.random.key(s),),
    ),
    "score.priority.bag": Case(priority.bag, lambda s: (floats(s, BUCKETS, 5), words(s, 3))),
    "score.priority.entity_states": Case(
        lambda params, tensors, features: priority.entity_states(
            params, message_passing.inflow(tensors), features
        ),
        lambda s: (priorities(s), graph(s), floats(s, 16, 5)),
    ),
    "score.priority.triple_cost": Case(
        lambda *args: priority.triple_cost(*args, heads=2),
        lambda s: tuple(floats(s + i, SLOTS, 4) for i in range(4)),
    ),
    "score.priority.extend_sums": Case(
        priority.extend_sums,
        lambda s: (
            sums(s),
            ints(s, SLOTS, SLOTS),
            ints(s + 1, SLOTS, SLOTS, low=-1),
            np.abs(floats(s, SLOTS)),
            floats(s + 1, SLOTS, 2),
        ),
    ),
    "score.priority.read_questions": Case(
        priority.read_questions,
        lambda s: (
            priorities(s),
            words(s, ROWS),
            floats(s, ROWS, 5),
            words(s + 1, CODES // 2),
            floats(s + 1, CODES // 2, 5),
        ),
    ),
    "score.priority.sum_over_paths": Case(
        path_sums, lambda s: (priorities(s), read(s), floats(s, 16, 4), graph(s), starts(s))
    ),
    "score.priority.entity_sums": Case(
        lambda one, two, entity: priority.entity_sums((one, two), entity),
        lambda s: (sums(s), sums(s + 1), ints(s, 2 * SLOTS, 2 * SLOTS, low=-1)),
    ),
    "score.priority.priority_logits": Case(
        priority.priority_logits,
        lambda s: (priorities(s), read(s), sums(s), ints(s, ROWS, SLOTS)),
    ),
    "learn.priority_training.priority_loss": Case(
        lambda logit, row, right, wrong: priority_training.priority_loss(
            logit, row, right, wrong & ~right, num_questions=ROWS, sharpness=1.0
        ),
        lambda s: (floats(s, SLOTS), ints(s, ROWS, SLOTS), mask(s, SLOTS), mask(s + 1, SLOTS)),
    ),
    "systems.pathmind_paths.heaviest_walks": Case(
        walks_of, lambda s: (read(s), graph(s), starts(s))
    ),
}
CASES |= {name: Case(*pair) for name, pair in hdc_cases.CASES.items()}
CASES |= {name: Case(*pair) for name, pair in hyper_cases.CASES.items()}
CASES |= {name: Case(*pair) for name, pair in lm_cases.CASES.items()}
CASES |= {name: Case(*pair) for name, pair in reknos_cases.CASES.items()}
CASES |= {name: Case(*pair) for name, pair in scorer_cases.CASES.items()}
