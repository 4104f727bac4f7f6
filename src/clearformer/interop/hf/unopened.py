"""Families of pictures and sound that are known and not opened, by the `model_type` of config.json, with the reason."""

_TWO = "it is two encoders, one of texts and one of pictures, and a model folder here holds one network"
_WINDOWS = "its attention is within windows and its layers merge patches, which no model here does"

UNOPENED: dict[str, str] = {
    "clip": _TWO,
    "siglip": _TWO,
    "siglip2": _TWO,
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
}
