"""Import checkpoints of other libraries into our model folders, and export our models to other programs."""
