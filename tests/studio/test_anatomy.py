"""What a model is made of."""

from clearformer.model.cost import count_cost
from clearformer.studio.anatomy import anatomy, describe, operations_by_part


def test_parts_add_up_to_the_whole(handlers):
    shown_model = handlers.shown_model
    parts = anatomy(shown_model, 16)["parts"]
    expected = count_cost(shown_model.config, length=16)
    assert sum(part["parameters"] for part in parts) == expected.total
    operations = sum(part["operations"] for part in parts)
    assert operations // 16 == expected.flops_per_token


def test_attention_grows_with_the_square_of_the_length(all_handlers):
    config = all_handlers["transformer"].shown_model.config
    short, long = (operations_by_part(config, length)["encoder.layers.self_attn"] for length in (8, 16))
    assert long > 2 * short
    ffn = [operations_by_part(config, length)["encoder.layers.ffn"] for length in (8, 16)]
    assert ffn[1] == 2 * ffn[0]


def test_a_description_says_what_the_pages_need(all_handlers):
    told = describe(all_handlers["transformer"].shown_model, "translate")
    assert told["layers"] == {"encoder": 2, "decoder": 2}
    assert told["embedding_scale"]["encoder"] == 24**0.5
    assert [layer["kind"] for layer in told["attention_layers"]].count("cross") == 2
    assert describe(all_handlers["bert"].shown_model, "read")["layers"] == {"encoder": 2}
