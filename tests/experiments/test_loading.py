"""Compiled programs: kept between runs, and forgotten where they fill a process."""

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from jaxkg.experiments.loading import make_room


@pytest.mark.parametrize("first", ["jax", "sys"])
def test_programs_are_kept_whether_jax_is_imported_before_or_after(first, tmp_path):
    code = f"""
import {first}
from jaxkg.experiments.loading import keep_compiled_programs
keep_compiled_programs()
import jax, jax.numpy as jnp
jax.jit(lambda x: x + 41)(jnp.zeros(7)).block_until_ready()
"""
    inherited = {name: value for name, value in os.environ.items() if name[:8] != "JAX_PERS"}
    environment = {**inherited, "JAXKG_CACHE": str(tmp_path)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env=environment)
    assert any(path.is_file() for path in (tmp_path / "programs").rglob("*"))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems set no such limit")
def test_programs_are_forgotten_where_they_fill_the_process_and_only_there(monkeypatch):
    traced = []

    @jax.jit
    def double(x):
        traced.append(x)
        return x + x

    # Those of all other tests are let be.
    monkeypatch.setattr(jax, "clear_caches", lambda: double.clear_cache())
    assert not make_room(share=1.0)
    assert double(jnp.asarray(2)) + double(jnp.asarray(3)) == 10
    assert len(traced) == 1
    assert make_room(share=0.0)
    assert double(jnp.asarray(4)) == 8
    assert len(traced) == 2


def test_relations_that_are_halves_of_names_are_left_out_of_the_pooled_graph_alone(tmp_path):
    from jaxkg.experiments.loading import load_graph

    text = "Ann\tpeople.person.gender\tf\t1\nBob\tJr.,people.person.gender\tm\t1\nD.\tD.C.\tx\t1\n"
    folder = tmp_path / "freebase_webqsp_cwq"
    folder.mkdir()
    for path in (folder / "kg_pooled.tsv", folder / "other.tsv", tmp_path / "kg_pooled.tsv"):
        path.write_text(text, "utf-8")
        kg = load_graph(path)
        if path == folder / "kg_pooled.tsv":
            assert kg.relations == ("people.person.gender",)
            assert list(kg.entity_ids) == ["Ann", "f"]
            assert kg.skipped == ("2 facts of 2 relations that are no names of Freebase",)
        else:
            assert kg.num_relations == 3
            assert not kg.skipped
