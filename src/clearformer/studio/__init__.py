"""The studio: pages that show what a model really computes, fed with the model's own numbers."""
