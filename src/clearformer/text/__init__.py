"""Text in, numbers out: tokenisers, normalisation, and the doctor that examines a corpus before training."""
