"""The same mathematics written for speed; every file here has a readable counterpart and a test that they agree."""
