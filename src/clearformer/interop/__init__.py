"""Other people's checkpoints: brought over into our model folders, and our models handed to other programs."""
