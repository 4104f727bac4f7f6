"""From files to examples, one reader per kind of data."""
