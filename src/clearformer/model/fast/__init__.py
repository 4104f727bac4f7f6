"""The same mathematics written out for speed; every file here has a readable twin and a test that they agree."""
