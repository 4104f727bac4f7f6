"""From a model that predicts one token to whole sentences: greedy, sampling and beam search over any `Stepper`.

Reading order: `protocol` (what a model has to offer), `hypothesis` (what comes out), `rules` and `length_limits`
(what no decoder may write), `stream`, `greedy` and `sampling` (one path), `penalty`, `stop`, `beam` and `dialects`
(many paths), `tree` (what the beam discarded, and why).
"""
