"""From a recipe to a trained model folder, for any task."""
