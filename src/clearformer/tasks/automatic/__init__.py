"""From data to a recipe: every choice that a run needs, each with its reason."""
