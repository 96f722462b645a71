"""BERT against its twin in NumPy float64."""

import numpy as np
import pytest
from bert_twin import CONFIG, checkpoint, twin

from jaxkg.errors import JaxkgError
from jaxkg.text.bert import mean_pool, states_of
from jaxkg.text.bert_weights import BertConfig, load_bert


def test_bert_equals_its_twin_and_padding_takes_no_part():
    tensors = checkpoint(CONFIG)
    weights = load_bert(CONFIG, tensors)
    texts = [[3, 9, 1, 22, 5], [7], [31, 2, 2, 30, 11, 8, 0, 39]]
    lengths = np.asarray([len(text) for text in texts], np.int32)
    expected = np.stack([twin(CONFIG, tensors, text) for text in texts])
    for filler in (0, 17):
        ids = np.full((3, 8), filler, np.int32)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = text
        found = mean_pool(states_of(weights, ids, lengths, config=CONFIG), lengths)
        np.testing.assert_allclose(found, expected, atol=2e-6)


@pytest.mark.slow
def test_bfloat16_products_stay_near():
    tensors = checkpoint(CONFIG)
    weights = load_bert(CONFIG, tensors, dtype="bfloat16")
    ids, lengths = np.asarray([[3, 9, 1, 22]], np.int32), np.asarray([4], np.int32)
    found = mean_pool(states_of(weights, ids, lengths, config=CONFIG), lengths)
    cosine = float(np.asarray(found[0]) @ twin(CONFIG, tensors, [3, 9, 1, 22]))
    assert 0.995 < cosine < 0.9999999


def test_checkpoints_that_do_not_fit_are_refused():
    tensors = checkpoint(CONFIG)
    name = "encoder.layer.1.output.dense.weight"
    with pytest.raises(JaxkgError, match=r"no tensor 'encoder.layer.1.output.dense.weight'"):
        load_bert(CONFIG, {k: v for k, v in tensors.items() if k != name})
    with pytest.raises(JaxkgError, match="has shape"):
        load_bert(CONFIG, {**tensors, name: tensors[name][:, 1:]})
    with pytest.raises(JaxkgError, match=r"'encoder.layer.2.x'"):
        load_bert(CONFIG, {**tensors, "encoder.layer.2.x": np.zeros(1, np.float32)})
    with pytest.raises(JaxkgError, match="hidden_act is 'relu'"):
        BertConfig.from_dict({"hidden_act": "relu"})
    with pytest.raises(JaxkgError, match="vocab_size"):
        BertConfig.from_dict({"hidden_size": 2})
