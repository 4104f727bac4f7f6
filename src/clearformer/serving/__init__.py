"""A small HTTP server that is closed by default: this computer only, known hosts, limits on everything."""
