"""Search settings that score and stop as other programs do, so that their results can be reproduced and compared.

What each program does, read in its source:

fairseq (`fairseq/sequence_generator.py`, `fairseq/search.py`)
    Takes the 2 K best continuations; only an end among the first K counts. Score: total / (step + 1) ** lenpen, where
    `step + 1` counts the end token (`finalize_hypos`). A sentence is over when K hypotheses have finished
    (`is_finished`), and the first K to finish are kept, not the best (`finalize_hypos`). At the maximum length the end
    token is forced and its log-probability counted. Its `min_len` is 1 by default: give `Rules(min_len=1)`. Its maximum
    is a * (padded source length of the batch) + b and so depends on the batch; ours is given per sentence. Forced
    prefix tokens are scored, as here.

Hugging Face transformers (`generation/utils.py`, `_beam_search`)
    Takes the 2 K best continuations; only an end among the first K counts (`top_num_beam_mask`). Score: total /
    generated_length ** length_penalty; the length counts the end token and leaves out the decoder prompt. At
    `max_new_tokens` (end token included) the K best candidates are taken as they are, without an end token. Stops,
    per sentence: `early_stopping=True` when K have finished; `False`, the default, when K have finished and the best
    running total / present_length ** length_penalty is no better than the worst of them; `"never"` the same with the
    maximum length when the exponent is positive, which is the provable bound. `num_beams=1` is greedy search.

CTranslate2 (`src/decoding.cc`, and version 4.8 run beside this search)
    Takes the 2 K best continuations; only an end among the first K counts. Score: total / length ** length_penalty; the
    length counts the end token, also where `return_end_token` leaves it out of the answer. Stops when K hypotheses
    (times `patience`, here 1) have finished; with exponent 0 as soon as `num_hypotheses` have and the best candidate of
    some step was one of them. At `max_decoding_length` the K best candidates are taken as they are. Its
    `min_decoding_length` is 1: give `Rules(min_len=1)`. Two differences cannot be set here: bans are applied before its
    softmax (so what is left is renormalised), and forced prefix tokens score 0.
"""

from typing import Literal

from clearformer.decoding.beam import BeamConfig
from clearformer.decoding.penalty import Average
from clearformer.decoding.stop import FullBeam, PresentLength, Proved, StopRule, TopEnded


def fairseq(*, beam: int = 5, alpha: float = 1.0, nbest: int = 1) -> BeamConfig:
    """As `fairseq-generate --beam --lenpen --nbest`; `--unnormalized` is alpha = 0."""
    return BeamConfig(beam=beam, nbest=nbest, penalty=Average(alpha), stop=FullBeam(), force_eos=True, first_come=True)


def hugging_face(
    *, beam: int, alpha: float = 1.0, nbest: int = 1, early_stopping: bool | Literal["never"] = False
) -> BeamConfig:
    """As `generate(num_beams, length_penalty, num_return_sequences, early_stopping)`; max_len is its max_new_tokens."""
    stop: StopRule = Proved() if early_stopping == "never" else FullBeam() if early_stopping else PresentLength()
    return BeamConfig(beam=beam, nbest=nbest, penalty=Average(alpha), stop=stop, force_eos=False)


def ctranslate2(*, beam: int = 2, alpha: float = 1.0, nbest: int = 1) -> BeamConfig:
    """As `translate_batch(beam_size, length_penalty, num_hypotheses)`; max_len is its max_decoding_length."""
    stop: StopRule = TopEnded() if alpha == 0 else FullBeam()
    return BeamConfig(beam=beam, nbest=nbest, penalty=Average(alpha), stop=stop, force_eos=False)
