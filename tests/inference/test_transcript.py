"""Transcripts are plain data."""

import json
from dataclasses import asdict

import numpy as np

from clearformer.inference.transcript import Segment, SpokenWord, Transcript, moment


def test_it_is_plain_data_for_programs():
    word = SpokenWord(start=0.0, end=moment(np.float64(1 / 3)), text="do")
    made = Transcript(text="do", log_prob=-1.0, segments=(Segment(start=0.0, end=0.5, text="do", words=(word,)),))
    told = json.loads(json.dumps(asdict(made)))
    assert told["segments"][0]["words"] == [{"start": 0.0, "end": 0.333, "text": "do"}]
    assert isinstance(word.end, float)
