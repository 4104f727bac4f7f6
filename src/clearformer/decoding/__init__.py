"""From a model that predicts one token to whole sentences: greedy, sampling and beam search over any `Stepper`.

Reading order: `protocol` (what a model has to offer), `hypothesis` (what comes out), `rules` and `limits` (what no
decoder may say), `stream`, `greedy` and `sampling` (one path), `penalty`, `stop`, `beam` and `presets` (many paths),
`tree` (what the beam threw away, and why).
"""
