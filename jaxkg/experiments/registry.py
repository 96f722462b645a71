"""The systems that `--system NAME` can mean.

A method is one file, with a function `from_parts`, and one line here. Help, the folders that
`jaxkg compare --parts` looks for, the robustness study and the table of `docs/methods` are made
from these lines, which import nothing: the command starts without its heavy parts.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any, Literal, Protocol

from jaxkg.answer import Answer
from jaxkg.errors import JaxkgError
from jaxkg.records import Question, TraceNode
from jaxkg.systems.parts import OF_ALL_PARTS, Built, Devices, Parts

if TYPE_CHECKING:
    from jaxkg.kg import KnowledgeGraph


class System(Protocol):
    """What every system can do."""

    def answer(self, questions: Sequence[Question], *, use_given: bool = True) -> list[Answer]:
        """An answer, or an abstention with its reason, for each question in order."""
        ...

    def traced(self, question: Question) -> tuple[Answer, tuple[TraceNode, ...]]:
        """An answer, and what its stages considered."""
        ...


@dataclasses.dataclass(frozen=True)
class Entry:
    """A system by name.

    Attributes:
        name: what the user calls it.
        build: makes it, or `Built` with what decides its answers; or the module of
            `jaxkg.systems` whose `from_parts` does, or whose function behind a colon.
        model: what it does with a language model: it is asked "inside" the search, it judges what
            was found "after" it, or there is no search without it ("needed").
        trained: what `jaxkg train` must have made, if anything; None needs nothing.
        about: what it does, in a line.
        needs: what a user must bring.
        divided: it takes a graph whose tensors are divided over devices.
        baseline: it is there to be compared with.
    """

    name: str
    build: str | Callable[[Parts], Any]
    model: Literal["after", "inside", "needed"] = "after"
    trained: str | None = None
    about: str = ""
    needs: str = "nothing"
    divided: bool = False
    baseline: bool = False

    @property
    def offers(self) -> bool:
        """Whether it has readings that a model can choose among."""
        return not self.baseline and self.name != "proh"

    def built(self, parts: Parts) -> Built:
        """The system, its module imported now."""
        build: Any = self.build
        if isinstance(build, str):
            module, _, function = build.partition(":")
            room = importlib.import_module(f"jaxkg.systems.{module}")
            build = getattr(room, function or "from_parts")
        built = build(parts)
        if isinstance(built, Built):
            return built
        return Built(built, {"wishes": repr(dict(parts.wishes))})


ENTRIES = (
    Entry("planner", "planned", trained="planner",
          about="a learned planner emits relation paths, which are executed exactly",
          needs="nothing; better with `train planner`", divided=True),
    Entry("reader", "reader.build",
          about="default: reads any question over any graph, with shipped weights"),
    Entry("pathhd", "pathhd.fit", trained="planner",
          about="relation paths as hypervectors (GHRR), retrieved by similarity; "
          "`--set query=text` is zero-shot",
          needs="nothing; `query=text` requires an encoder"),
    Entry("reknos", "reknos.system", model="inside", trained="planner",
          about="beam search along super-relations; `--set scorer=planner`, `labels` or `llm`"),
    Entry("pathmind", "pathmind.build", trained="pathmind",
          about="entities ranked by path priority, a sum over all paths by message passing",
          needs="`train pathmind`"),
    Entry("ranked", "ranked", trained="ranked",
          about="relation paths ranked by their texts, for schemas of thousands of relations",
          needs="`train ranked`; `--by steps` for several topics and more hops"),
    Entry("guided", "guided", trained="guided",
          about="a hybrid edge scorer steers a beam",
          needs="`train guided`"),
    Entry("proh", "proh.build", model="inside",
          about="planning and retrieval over a knowledge hypergraph, or over a graph's facts",
          needs="`--llm` for plans; `hypergraph build` for texts"),
    Entry("llm-planned", "llm_planned.build", model="needed",
          about="a language model plans, the plan is checked and executed; `--set ask=sql` plans "
          "SELECTs over the graph's tables, `ask=steps` a step a call",
          needs="`--llm`"),
    Entry("alone", "baselines:alone", model="needed", baseline=True,
          about="baseline: the language model answers from memory", needs="`--llm`"),
    Entry("cot", "baselines:cot", model="needed", baseline=True,
          about="baseline: the language model reasons step by step, from memory",
          needs="`--llm`"),
    Entry("sc", "baselines:sc", model="needed", baseline=True,
          about="baseline: the majority of several replies of `cot` answers; `--set samples=5`",
          needs="`--llm`"),
    Entry("triples", "baselines:triples", baseline=True,
          about="baseline: the triples most similar to the question answer; `--set count=20`",
          needs="an encoder"),
    Entry("passages", "baselines:passages", model="needed", baseline=True,
          about="baseline: the language model reads the passages most similar to the question; "
          "`--set count=5`",
          needs="`--llm`, an encoder, questions with passages"),
    Entry("agent", "baselines:agent", model="needed", baseline=True,
          about="baseline: the language model searches entity by entity, relation by relation",
          needs="`--llm`"),
)  # fmt: skip
GROUP = "jaxkg.systems"
"""Entry points by which packages add systems."""
SYSTEMS: dict[str, Entry] = {entry.name: entry for entry in ENTRIES}

_OVER_PASSAGES = ("proh", "alone", "cot", "sc", "passages")
DIVIDED = ", ".join(entry.name for entry in ENTRIES if entry.divided)
"""Systems that take a graph divided over devices."""
TRAINED = tuple(dict.fromkeys(entry.trained for entry in ENTRIES if entry.trained))
"""What `jaxkg train` makes for them."""

HELP = f"System that answers: {', '.join(SYSTEMS)}"


def find_entry(name: str) -> Entry:
    """The entry of a system; one that is not known is looked for in what packages add.

    Raises:
        JaxkgError: no such system, or an entry point that is no `Entry`.
    """
    if name not in SYSTEMS:
        for point in metadata.entry_points(group=GROUP):
            entry = point.load()
            if not isinstance(entry, Entry):
                raise JaxkgError(f"entry point {point.name!r} of {GROUP}: not an Entry")
            SYSTEMS.setdefault(entry.name, entry)
    if name not in SYSTEMS:
        raise JaxkgError(f"no system is called {name!r}; there are {', '.join(SYSTEMS)}")
    return SYSTEMS[name]


def default_system(parts: Parts) -> str:
    """What answers where no system is named: nothing is trained before a first answer.

    The planner where one is given, else the reader, which knows more words than a planner made of
    labels or templates; a language model judges either's findings.
    """
    return "reader" if parts.planner_folder is None else "planner"


def build_system(name: str, parts: Parts) -> System:
    """The system of `build`."""
    return build(name, parts).system


def build(name: str, parts: Parts) -> Built:
    """Build a system by name, with what decides its answers and the graph that is asked.

    With a language model it is offered the best readings of every question, see `OfferSettings`.

    Raises:
        JaxkgError: no such system, or it lacks what it needs.
    """
    entry = find_entry(name)
    _check_devices(entry, parts)
    if parts.store is not None:
        return _stored(entry, parts)
    if entry.model == "needed" and parts.backend is None:
        raise JaxkgError(f"--system {name} needs a language model: --llm MODEL")
    if name != "proh" and parts.hypergraph is not None:
        raise JaxkgError(f"--hypergraph requires --system proh, not {name!r}")
    if name == "passages" and not parts.passages:
        raise JaxkgError("--system passages requires questions with passages")
    if name not in _OVER_PASSAGES and parts.passages:
        raise JaxkgError(
            f"--system {name} asks a graph, and these questions bring passages instead: "
            "--system proh, or --kg GRAPH"
        )
    built = entry.built(parts) if parts.devices.questions == 1 else _replicated(entry, parts)
    marks = {**built.marks, "system": name}
    graph = parts.kg if built.graph is None else built.graph
    if parts.backend is None:
        return Built(built.system, marks, graph)
    marks |= {"model": parts.backend.model, "repair": parts.repair}
    from jaxkg.adjudicate.backend import Manner

    if parts.backend.manner != Manner():
        marks["manner"] = repr(parts.backend.manner)
    system, more = _with_model(entry, parts, built.system)
    return Built(system, marks | more, graph)


def _with_model(entry: Entry, parts: Parts, built: Any) -> tuple[Any, dict[str, Any]]:
    """A system with the model that chooses among its readings or judges its paths, and marks."""
    single, offers = getattr(built, "single_paths", None), parts.offers
    prompt: Any = getattr(built, "prompt", "ours")
    assert parts.backend is not None
    # A published prompt is one of paths.
    by_paths = offers.judge == "paths" or entry.baseline or single or prompt != "ours"
    if entry.model == "after" and by_paths:
        from jaxkg.systems.adjudicated import AdjudicatedQA

        marks = {"top_k": single or parts.top_k}
        if offers.ask == "never":
            return built, marks
        judged = AdjudicatedQA(
            built,
            parts.backend,
            top_k=single or parts.top_k,
            single=single is not None,
            prompt=prompt,
            repair=parts.repair,
            keep_on_failure=parts.keep_on_failure,
        )
        return judged, marks
    if entry.offers and offers.judge == "readings":
        marks = {"offers": repr(offers)}
        if offers.ask == "never":
            return built, marks
        from jaxkg.systems.offered import OfferedQA

        asked = functools.partial(OfferedQA, built, parts.kg, parts.backend, repair=parts.repair)
        if not offers.write or entry.name != "reader":
            return asked(offers), marks
        from jaxkg.systems.exam import trust_of
        from jaxkg.systems.selecting import SelectedQA, SelectWriter

        writer = SelectWriter(
            built.sets,
            parts.backend,
            built.encoder,
            repair=parts.repair,
            trust=functools.partial(trust_of, parts.backend, offers.trust),
        )
        if not writer.selects.able:
            return asked(offers), marks
        # Of 475 questions the choice alone made seven right and eight wrong.
        inner = asked(dataclasses.replace(offers, certain=0.0))
        alone = asked(dataclasses.replace(offers, certain=0.0, ask="unsure"))
        every = offers.ask == "always"
        return SelectedQA(inner, writer, offers.likely, alone, every=every), marks
    return built, {}


def _check_devices(entry: Entry, parts: Parts) -> None:
    """Refuse devices that a system has no use for.

    Raises:
        JaxkgError: it lies in a store, cannot be divided, or asks a model as it searches.
    """
    name, devices = entry.name, parts.devices
    if devices == Devices():
        return
    if parts.store is not None:
        raise JaxkgError("--devices requires a graph that is read whole, not a store")
    if parts.passages and parts.hypergraph is None:
        raise JaxkgError(
            "--devices does not work with questions over their own passages; leave it out"
        )
    if devices.graph > 1 and not entry.divided:
        raise JaxkgError(
            f"--devices {devices.questions}x{devices.graph}: --system {name} takes a graph whole, "
            f"--devices {devices.questions * devices.graph}; divided: {DIVIDED}"
        )
    if devices.questions > 1 and parts.backend is not None and entry.model != "after":
        raise _asks_within(name)


def _asks_within(name: str) -> JaxkgError:
    return JaxkgError(
        f"--devices: --system {name} asks the language model as it searches, about one batch of "
        "questions at a time; leave --devices out"
    )


def _replicated(entry: Entry, parts: Parts) -> Built:
    """A system on every group of devices, which share the questions."""
    import jax

    from jaxkg.systems.replicated import ReplicatedQA

    groups, first = parts.devices.groups(), list[Built]()

    def on_group(group: int) -> Any:
        mine = _on_group(parts, group)
        built = entry.built(mine)
        if group > 0:
            return built.system
        if getattr(built.system, "refiner", None) is not None:
            raise _asks_within(entry.name)
        first.append(built)
        own = ("tensors", "planner", "linker")
        parts.shared.update({name: mine.shared[name] for name in own if name in mine.shared})
        return built.system

    # Devices that a CPU pretends to have: see `Parts.tensors`.
    at_once = parts.devices.graph == 1 or jax.default_backend() != "cpu"
    system = ReplicatedQA(on_group, [group[0] for group in groups], at_once=at_once)
    # No mark tells how many devices there are: answers are the same, a run goes on with others.
    return first[0]._replace(system=system)


def _on_group(parts: Parts, group: int) -> Parts:
    """Parts for the same system on a group of devices, with copies of their own of what lies there.

    What the host alone holds is shared. A planner and tensors that are there already are copied: an
    array that two systems share would lie on one device, and the other would fetch it each time.
    """
    there = parts.shared
    shared = {name: there[name] for name in ("linker", "encoder") if name in there}
    if there.keys() & {"planner", "tensors"}:
        import jax

        if planner := there.get("planner"):
            params = jax.device_get(planner.params)
            shared["planner"] = dataclasses.replace(planner, params=params)
        if tensors := there.get("tensors"):
            if group == 0:
                shared["tensors"] = tensors
            elif parts.devices.graph == 1:
                [device] = parts.devices.groups()[group]
                graph = jax.device_put(tensors.graph, device)
                shared["tensors"] = dataclasses.replace(tensors, graph=graph)
    # The first tells its progress.
    show = parts.show if group == 0 else lambda stage, done, total: None
    return dataclasses.replace(parts, group=group, shared=shared, show=show)


def _stored(entry: Entry, parts: Parts) -> Built:
    """A system over a store: built anew of what lies around the topics of questions."""
    from jaxkg.kg.stores.around import Reach
    from jaxkg.systems.stored import StoredQA

    name, store = entry.name, parts.store
    if entry.trained == "planner" and parts.planner_folder is None:
        raise JaxkgError(
            f"--system {name} over a store needs a planner of the same relations: --planner FOLDER"
        )
    # PRoH compares a question with every fact and every name of its graph.
    near = Reach(hops=2, facts=5_000, together=20_000)
    reach = parts.reach or (near if name == "proh" else Reach())

    def build_around(kg: KnowledgeGraph) -> Any:
        part = parts.around(kg)
        system = build_system(name, part)
        parts.shared.update({k: part.shared[k] for k in OF_ALL_PARTS if k in part.shared})
        return system

    assert store is not None
    system = StoredQA(
        store,
        build_around,
        name=name,
        reach=reach,
        whole_schema=entry.trained is not None,
        sampled=name == "reader",
    )
    marks = {"system": name, "reach": repr(reach), "wishes": repr(dict(parts.wishes))}
    return Built(system, marks, parts.kg)


def faults(system: System, parts: Parts, answer: Answer) -> tuple[str, ...]:
    """What does not hold of an answer's citations; the graph is read again."""
    check = getattr(system, "check", None)
    if check is not None:
        return check(answer)
    from jaxkg.cite import check as check_graph

    return check_graph(parts.kg, answer)
