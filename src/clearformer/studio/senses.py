"""The routes of the pages about pictures and sound: each answers with JSON that the library has computed."""

from typing import Annotated, Any

from fastapi import Body, Depends, FastAPI

from clearformer.inference.segment_settings import SegmentConfig
from clearformer.serving.admission import Turns
from clearformer.serving.app import asker_left
from clearformer.studio import requests as asked
from clearformer.studio.code_numbers import CodeViewer
from clearformer.studio.drawn_masks import MaskViewer
from clearformer.studio.found_boxes import BoxViewer
from clearformer.studio.heard_sound import SoundViewer
from clearformer.studio.next_tokens import Left, waits
from clearformer.studio.painted_steps import PaintViewer
from clearformer.studio.patch_tokens import PatchTokens
from clearformer.studio.seen_picture import PictureViewer
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.trace_cache import TraceCache

# where a whole file may be sent
FILE_PATHS = frozenset({"/api/picture", "/api/boxes", "/api/sound", "/api/code", "/api/masks"})

FileBytes = Annotated[bytes, Body(media_type="application/octet-stream")]
LeftAlready = Annotated[Left, Depends(asker_left)]  # who paints anew does not wait for the older pictures


class Senses:
    """Answers the requests about what one model sees and hears."""

    def __init__(self, shown_model: ShownModel, traces: TraceCache, turns: Turns) -> None:
        self.patches = PatchTokens(shown_model, traces)
        self.pictures = PictureViewer(shown_model, self.patches, turns)
        self.box_viewer = BoxViewer(shown_model, self.patches, turns)
        self.sounds = SoundViewer(shown_model, traces, turns)
        self.paints = PaintViewer(shown_model, turns)
        self.codes = CodeViewer(shown_model, turns)
        self.mask_viewer = MaskViewer(shown_model, self.patches, turns)

    def add_to(self, app: FastAPI) -> None:
        """The addresses of the answers."""
        app.post("/api/picture")(self.picture)
        app.post("/api/picture/token")(self.picture_token)
        app.post("/api/picture/attention")(self.picture_attention)
        app.post("/api/boxes")(self.boxes)
        app.post("/api/boxes/chosen")(self.chosen_boxes)
        app.post("/api/sound")(self.sound)
        app.post("/api/sound/piece")(self.sound_piece)
        app.post("/api/sound/attention")(self.sound_attention)
        app.get("/api/paint")(self.paint_form)
        app.post("/api/paint")(self.paint)
        app.post("/api/code")(self.code)
        app.post("/api/code/decode")(self.decode)
        app.post("/api/masks")(self.masks)
        app.post("/api/masks/mask")(self.mask)
        app.post("/api/masks/channel")(self.mask_channel)
        app.post("/api/masks/tile")(self.mask_tile)

    # --- patches -----------------------------------------------------------------------------------------------------

    def picture(self, content: FileBytes) -> dict[str, Any]:
        """What a picture is taken for."""
        return self.pictures.take(content)

    def picture_token(self, request: asked.TokenRequest) -> dict[str, Any]:
        """How one token of a picture came to be."""
        return self.patches.token(request.picture, request.place, request.feature)

    def picture_attention(self, request: asked.PictureAttentionRequest) -> dict[str, Any]:
        """Where a token of a picture looks."""
        return self.patches.attention(request.picture, request.layer, request.query)

    # --- objects -----------------------------------------------------------------------------------------------------

    def boxes(self, content: FileBytes) -> dict[str, Any]:
        """What every patch of a picture says: a box and a score for each class."""
        return self.box_viewer.take(content)

    def chosen_boxes(self, request: asked.BoxesRequest) -> dict[str, Any]:
        """The objects that are given at a threshold."""
        return self.box_viewer.choose(request.picture, request.threshold, request.duplicates)

    # --- recordings --------------------------------------------------------------------------------------------------

    def sound(self, content: FileBytes) -> dict[str, Any]:
        """What is said in a recording, and when."""
        return self.sounds.take(content)

    def sound_piece(self, request: asked.PieceRequest) -> dict[str, Any]:
        """The spectrogram and the tokens of what was read at once."""
        return self.sounds.piece(request.sound, request.piece)

    def sound_attention(self, request: asked.SoundAttentionRequest) -> dict[str, Any]:
        """Where a token looked."""
        return self.sounds.attention(request.sound, request.piece, request.layer, request.head, request.token)

    # --- painted pictures --------------------------------------------------------------------------------------------

    def paint_form(self) -> dict[str, Any]:
        """What may be chosen when pictures are painted."""
        return self.paints.form()

    def paint(self, request: asked.PaintRequest, left: LeftAlready = waits) -> dict[str, Any]:
        """Pictures of a class, step by step."""
        return self.paints.paint(request.label, request.config(), left)

    # --- codes -------------------------------------------------------------------------------------------------------

    def code(self, content: FileBytes) -> dict[str, Any]:
        """The code of a picture, and what it gives back."""
        return self.codes.take(content)

    def decode(self, request: asked.CodesRequest) -> dict[str, Any]:
        """What codes are drawn as."""
        return self.codes.decode(request.codes)

    # --- masks -------------------------------------------------------------------------------------------------------

    def masks(self, content: FileBytes) -> dict[str, Any]:
        """A picture that is segmented."""
        return self.mask_viewer.take(content)

    def mask(self, request: asked.MaskRequest) -> dict[str, Any]:
        """Its mask at a threshold."""
        config = SegmentConfig(threshold=request.threshold, smallest=request.smallest)
        return self.mask_viewer.mask(request.masks, config)

    def mask_channel(self, request: asked.MaskPartRequest) -> dict[str, Any]:
        """What the network says of every pixel."""
        return self.mask_viewer.channel(request.masks, request.number)

    def mask_tile(self, request: asked.MaskPartRequest) -> dict[str, Any]:
        """A tile and its tokens."""
        return self.mask_viewer.tile(request.masks, request.number)
