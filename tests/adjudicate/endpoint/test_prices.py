import pytest

from jaxkg.adjudicate.endpoint.prices import PriceTable
from jaxkg.errors import JaxkgError


def test_the_shipped_table_reads_and_keeps_small_and_large_models_apart():
    table = PriceTable.load()
    small, large = table.of("gpt-4o-mini-2024-07-18"), table.of("gpt-4o")
    assert small
    assert small.prompt < large.prompt
    assert table.of("my-own-model") is None


def test_a_table_of_ones_own(tmp_path, monkeypatch):
    file = tmp_path / "prices.toml"
    file.write_text('currency = "EUR"\n[models]\n"local/*" = { prompt = 1, completion = 3.0 }\n')
    monkeypatch.setenv("JAXKG_PRICES", str(file))
    rates = PriceTable.load().of("local/x")
    assert rates.currency == "EUR"
    assert rates.price(2_000_000, 1_000_000) == pytest.approx(5.0)


@pytest.mark.parametrize(
    "content",
    [
        "[models]\nm = 3\n",
        '[models]\nm = { prompt = "cheap", completion = 1 }\n',
        "[models]\nm = { prompt = 1 }\n",
        "[models]\nm = { prompt = -1, completion = 1 }\n",
        "[models]\nm = { prompt = nan, completion = 1 }\n",
        "[models\n",
    ],
)
def test_a_bad_table_is_told(tmp_path, content):
    file = tmp_path / "prices.toml"
    file.write_text(content)
    with pytest.raises(JaxkgError, match=r"prices\.toml"):
        PriceTable.load(file)


def test_a_missing_table_is_told(tmp_path):
    with pytest.raises(JaxkgError, match="cannot read the price table"):
        PriceTable.load(tmp_path / "absent.toml")
