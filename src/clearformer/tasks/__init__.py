"""Every use of the Transformer as a record of functions, found through one closed table."""
