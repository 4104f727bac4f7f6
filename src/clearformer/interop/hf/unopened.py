"""Families that are known and not opened, by the `model_type` of config.json, with the reason."""

_BANDS = (
    "its attention is within windows, with some tokens that see all or are seen by all, and no model here has such a "
    "pattern; `summarize` and the readers read long texts in windows"
)
_RECURRENT = "it has a recurrent state instead of attention, and every model here attends"
_HALVED = "its layers mix or shorten a text by other means than attention, which no model here does"
_WINDOWS = "its attention is within windows and its layers merge patches, which no model here does"

UNOPENED: dict[str, str] = {
    "siglip2": "it reads pictures of any shape as rows of patches with a mask, and models here read squares of one "
    "size; the checkpoints of SigLIP 2 for one size, such as google/siglip2-base-patch16-224, say siglip",
    "wavlm": "its attention bends its position biases by gates that look at the states, which no model here does",
    "wav2vec2-conformer": "its layers have convolutions between attention and feed-forward, which no model here does",
    "wav2vec2-bert": "it reads spectra through layers with convolutions between attention and feed-forward, which no "
    "model here does",
    "data2vec-audio": "it shows places by several convolutions one after the other, and models of sound here have one",
    "unispeech": "it is a wav2vec 2.0 of other names, of which hardly any model was published",
    "unispeech-sat": "it is a wav2vec 2.0 of other names, of which hardly any model was published",
    "sew": "it shortens its states before the layers and lengthens them behind, which no model here does",
    "vision-encoder-decoder": "its two stacks differ, as in TrOCR, in width, heads, activation and the place of their "
    "norms, and a configuration here has one of each for both",
    "donut-swin": _WINDOWS,
    "detr": "it reads the features of a ResNet and adds positions and queries again in every layer; the detector here "
    "reads patches (`clearformer train --data BOXES.json` makes one)",
    "deformable_detr": "its attention looks at a few points of several maps, which no model here does",
    "segformer": "its layers halve the picture again and again and shorten the keys by convolutions, which no model "
    "here does; `clearformer train --data FOLDER` of pictures beside masks makes one that segments",
    "mask2former": "its queries attend within the masks that they predicted, over maps of several sizes, which no "
    "model here does; `clearformer train --data FOLDER` of pictures beside masks makes one that segments",
    "maskformer": "it segments by queries over the maps of another network, which no model here does",
    "swin": _WINDOWS,
    "swinv2": _WINDOWS,
    "convnext": "it is a convolutional network",
    "resnet": "it is a convolutional network",
    "longformer": _BANDS,
    "led": _BANDS,
    "big_bird": _BANDS,
    "bigbird_pegasus": _BANDS,
    "pegasus_x": _BANDS,
    "longt5": _BANDS,
    "reformer": "its attention looks among tokens of one hash, and its layers are reversible, which no model here has",
    "funnel": "its layers halve the text again and again, which no model here does",
    "xlnet": "its attention has two streams, of which one does not see its own token, which no model here has",
    "mamba": _RECURRENT,
    "mamba2": _RECURRENT,
    "falcon_mamba": _RECURRENT,
    "rwkv": _RECURRENT,
    "jamba": _RECURRENT,
    "recurrent_gemma": _RECURRENT,
    "qwen2_moe": "one of its experts serves every token through a gate of its own, which no model here has; Mixtral "
    "and Qwen 3 with experts are opened",
    "fnet": _HALVED,
    "convbert": _HALVED,
    "canine": "it reads characters by their hashes and shortens the text between its layers, which no model here does",
    "nystromformer": "it computes attention by a few landmarks, which is another result than attention's",
    "deberta": "its attention joins queries, keys and values head by head with biases of its own; DeBERTa 2 and 3 are "
    "opened, so look for a deberta-v3 of the same kind",
    "xlm-roberta-xl": "it is pre-norm under other names than XLM-R's, and has no reader here; the base and large XLM-R "
    "are opened",
    "mpnet": "its biases of distance stand beside learned positions, and a configuration here has one of them; "
    "sentence encoders on BERT, such as all-MiniLM-L6-v2, are opened",
    "prophetnet": "it predicts several next tokens by streams of their own, which no model here does",
}
