"""`jaxkg kg describe` and `jaxkg kg check`."""

import json
import tomllib


def test_a_description_lies_beside_the_data(jaxkg, tmp_path):
    file = tmp_path / "boats.csv"
    file.write_text("id,name,owner\n1,Gull,Ada\n2,Tern,Bo\n")
    code, out, err = jaxkg("kg", "describe", file)
    assert code == 0
    assert tomllib.loads(out)["relations"]["owner"]["says"] == "owner"
    assert "jaxkg: things: boats (2)" in err
    edited = out.replace('says = "owner"', 'says = "is owned by"')
    (tmp_path / "boats.graph.toml").write_text(edited)
    _, out, _ = jaxkg("kg", "describe", file)
    assert tomllib.loads(out)["relations"]["owner"]["says"] == "is owned by"
    code, _, err = jaxkg("kg", "describe", file, "--mapping", tmp_path / "none.toml")
    assert (code, "no such file" in err) == (2, True)


def test_a_check_ends_by_what_it_finds(jaxkg, tmp_path):
    file = tmp_path / "parts.tsv"
    file.write_text("a\tpart of\tb\nb\tpart of\ta\n")
    code, out, _ = jaxkg("kg", "check", file)
    assert code == 1
    assert out.startswith("cycles: 1 ")
    code, out, _ = jaxkg("kg", "check", file, "--json")
    assert code == 1
    assert json.loads(out)[0]["kind"] == "cycles"
    assert "nothing odd in 2 facts" in jaxkg.done("kg", "check", file, "--only", "homonyms")
    assert "there are dangling" in jaxkg.refused("kg", "check", file, "--only", "homonym")
