"""What a Vision Transformer takes a picture for.

The picture is read, cut and scaled by the object behind `clearformer classify`; what its patches became and where they
looked is answered by `patch_tokens`.
"""

from functools import cached_property
from typing import Any

from clearformer.inference.picture_classifier import PictureClassifier, as_tensor, fit
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.patch_tokens import PatchTokens, PictureLook, read_upload
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.uploads import fingerprint

LIKELIEST = 10  # classes that are shown


class PictureViewer:
    """Classifies pictures. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, tokens: PatchTokens, turns: Turns) -> None:
        self.shown_model, self._tokens, self._turns = shown_model, tokens, turns

    @cached_property
    def classifier(self) -> PictureClassifier:
        """The object behind `clearformer classify`."""
        config = self.shown_model.config
        if config.front.kind != "patches" or config.head.kind != "class":
            raise Refused("nopictures", "this model does not classify pictures")
        return PictureClassifier(self.shown_model.bundle)

    def take(self, content: bytes) -> dict[str, Any]:
        """Read a picture file, and say what it is taken for."""
        facts = self.classifier.facts
        whole = read_upload(content)
        pixels = fit(whole, facts)
        look = PictureLook(
            fingerprint(content), pixels, as_tensor([pixels], facts), width=whole.shape[1], height=whole.shape[0]
        )
        with self._turns.mine():
            [found] = self.classifier.classify([pixels])
        likeliest = sorted(found.scores.items(), key=lambda one: -one[1])
        return {
            **self._tokens.keep(look),
            "classes": [{"label": label, "probability": share} for label, share in likeliest[:LIKELIEST]],
            "count": len(likeliest),
        }
