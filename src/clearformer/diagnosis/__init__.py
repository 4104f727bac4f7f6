"""Why is a model bad? What its run, its text and its own output say, each finding with its numbers and a remedy."""
