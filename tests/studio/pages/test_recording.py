"""Speech in the browser: the model's own text and weights, tokens by mouse and keyboard, both languages."""

import pytest
import torch

from clearformer.inference.sound_frames import frames_of
from clearformer.inference.transcriber import Transcriber
from clearformer.inference.transcript import HeardPiece
from clearformer.model.trace import trace
from clearformer.studio.shown_model import ShownModel
from studio.browsing import BROWSER, choose, passes_axe, serving, settled
from support.spoken import FACTS, RATE, hearing, say, write_wave

pytestmark = BROWSER


@pytest.fixture(scope="module", params=["encoder", "encoder-decoder"])
def speech(request):
    bundle = hearing(request.param)
    with serving(ShownModel(bundle, "speech")) as address:
        yield bundle, address


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return write_wave(tmp_path_factory.mktemp("sound") / "said.wav", say("do re mi", 3))


@pytest.fixture
def shown(page, speech, recording):
    choose(page)
    page.goto(speech[1])  # the first page of a model of speech
    page.locator("[data-text]").wait_for()
    page.locator("input[type=file]").set_input_files(recording)
    page.get_by_text("0.6 s at 8000").wait_for()
    page.locator("[data-token]").wait_for()
    settled(page)
    return page


def heard(bundle) -> tuple[str, HeardPiece, torch.Tensor]:
    """The text, the one piece of it, and the weights of the layer that is shown first: H T S."""
    sound, pieces = (say("do re mi", 3) * 32767).round() / 32768, []  # as sixteen bits have it
    [said] = Transcriber(bundle).transcribe([sound], on_piece=pieces.append)
    [piece] = pieces
    ids = (torch.tensor([[*piece.prompt, *piece.tokens]]),) if piece.prompt else ()
    with trace(bundle.model, only=["*attn.weights"]) as seen, torch.inference_mode():
        bundle.model(frames_of(sound, FACTS)[None], *ids)
    name = "decoder.layers.0.cross_attn" if piece.prompt else "encoder.layers.0.self_attn"
    return said.text, piece, seen[f"{name}.weights"][0]


def test_text_and_weights_are_the_model_s_own(shown, speech):
    text, piece, weights = heard(speech[0])
    assert shown.locator("[data-text]").get_attribute("data-text") == text
    assert shown.locator("[data-part=heard] button.token").count() == len(piece.tokens)
    token = int(shown.locator("[data-token]").get_attribute("data-token"))  # the first that is a word
    row = token if piece.prompt else sum(piece.spans[token]) // 2
    states = weights.size(-1)
    drawn = [float(one.get_attribute("data-weight")) for one in shown.locator("rect[data-weight]").all()]
    begin = round(FACTS.margin * RATE / FACTS.hop)
    inside = [state for state in range(states) if -2 < 2 * state - begin < len(say("do re mi", 3)) / FACTS.hop]
    assert drawn == pytest.approx(weights.mean(dim=0)[row, inside].tolist(), abs=2e-6)
    shown.get_by_label("Heads").select_option("1")
    settled(shown)
    drawn = [float(one.get_attribute("data-weight")) for one in shown.locator("rect[data-weight]").all()]
    assert drawn == pytest.approx(weights[1, row, inside].tolist(), abs=2e-6)


def test_the_keyboard_goes_from_token_to_token(shown):
    tokens = shown.locator("[data-part=heard] button.token")
    tokens.first.focus()
    shown.keyboard.press("Tab")
    shown.keyboard.press("Enter")
    settled(shown)
    assert shown.locator("[data-token]").get_attribute("data-token") == "1"
    assert tokens.nth(1).get_attribute("aria-pressed") == "true"
    assert shown.evaluate("() => document.activeElement.dataset.key") == "token-1"
    shown.locator("[data-part=heard] .matrix [role=application]").focus()  # a row of the map is a token, too
    for key in ("ArrowUp", "Enter"):
        shown.keyboard.press(key)
    settled(shown)
    assert shown.locator("[data-token]").get_attribute("data-token") == "0"


def test_frame_labels_are_shown_where_the_network_says_them(shown, speech):
    labelled = speech[0].config.shape == "encoder"
    assert shown.locator("[data-part=labels] figure").count() == labelled
    assert shown.locator("[data-span=token]").count() == labelled


def test_figures_can_be_taken_along(shown):
    figure = shown.locator("[data-token] .figure-tools").first
    for kind, begins in (("SVG", b"<?xml"), ("CSV", b"seconds,Head 1,Head 2")):
        with shown.expect_download() as saved:
            figure.locator("button", has_text=kind).click()
        content = saved.value.path().read_bytes()
        assert content.startswith(begins)
        if kind == "SVG":
            assert b"data:image/png;base64" in content
    with shown.expect_download() as saved:
        shown.locator("[data-part=sound] .figure-tools button", has_text="CSV").click()
    assert saved.value.path().read_bytes().startswith(b'"from, s"')


def test_bad_files_are_told_in_place(shown):
    bad = {"name": "x.wav", "mimeType": "audio/wav", "buffer": b"RIFF none at all"}
    shown.locator("input[type=file]").set_input_files(bad)
    shown.locator("[data-part=sound] .message").wait_for()
    assert "cannot be read as a recording" in shown.locator(".message").inner_text()
    assert shown.locator("[data-token]").count() == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("speech", ["encoder"], indirect=True)  # it shows all that there is
def test_axe_finds_nothing_in_both_languages_and_themes(browser, speech):
    passes_axe(browser, f"{speech[1]}/#/recording", "[data-token]")
