"""Families of pictures and sound that are known and not opened, by the `model_type` of config.json, with the reason."""

_SAMPLES = "it reads samples through convolutions, and models of sound here read spectra"
_WINDOWS = "its attention is within windows and its layers merge patches, which no model here does"

UNOPENED: dict[str, str] = {
    "siglip2": "it reads pictures of any shape as rows of patches with a mask, and models here read squares of one "
    "size; the checkpoints of SigLIP 2 for one size, such as google/siglip2-base-patch16-224, say siglip",
    "wav2vec2": _SAMPLES,
    "hubert": _SAMPLES,
    "wavlm": _SAMPLES,
    "vision-encoder-decoder": "its encoder and its decoder are of different kinds and widths, as in TrOCR, and a "
    "configuration here has one of each",
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
