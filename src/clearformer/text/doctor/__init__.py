"""What is wrong with a corpus of text, by file and line."""
