"""From text to token ids: tokenizers, normalisation, and the doctor that examines a corpus before training."""
