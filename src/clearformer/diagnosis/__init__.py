"""What is wrong with a model? Findings from its run, its text and its output, each with numbers and a remedy."""
