"""A small encoder–decoder that was trained here, in use: the text of each piece of a recording, token by token."""

from collections.abc import Sequence

from clearformer.decoding.beam import BeamConfig, beam_search
from clearformer.decoding.greedy import greedy
from clearformer.decoding.hypothesis import Hypothesis
from clearformer.decoding.rules import Rules
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import SoundFacts
from clearformer.inference.sound_frames import Sound, frames_of, stack_frames
from clearformer.inference.steppers import SourceBatch, stepper_for
from clearformer.inference.transcription_settings import TranscriptionConfig
from clearformer.inference.written_piece import WrittenPiece


class SoundTokenWriter:
    """The likeliest text by greedy or beam search, between the vocabulary's own marks of beginning and end."""

    def __init__(self, bundle: Bundle, facts: SoundFacts) -> None:
        self.facts, self.longest = facts, bundle.config.max_len
        self.tokenizer = bundle.preprocessing.sides[1]
        self.start = bundle.preprocessing.framing.start
        self.stepper = stepper_for(bundle.model.eval(), bos=self.start)

    def write(self, sounds: Sequence[Sound], config: TranscriptionConfig) -> list[WrittenPiece]:
        """The text of each piece."""
        source = SourceBatch(*stack_frames([frames_of(sound, self.facts) for sound in sounds]))
        banned = (self.tokenizer.pad_id, self.tokenizer.bos_id, self.tokenizer.unk_id)
        rules = Rules(eos=self.tokenizer.eos_id, banned=banned)
        room = min(config.max_new, self.longest - 2)
        found: list[Hypothesis]
        if config.beam == 1:
            found = greedy(self.stepper, source, rules=rules, max_len=room)
        else:
            beam = BeamConfig(beam=config.beam)
            found = [one[0] for one in beam_search(self.stepper, source, rules=rules, config=beam, max_len=room)]
        return [
            WrittenPiece(
                text=self.tokenizer.decode(one.tokens).strip(),
                log_prob=one.log_prob,
                tokens=tuple(one.tokens),
                prompt=(self.start,),
            )
            for one in found
        ]
