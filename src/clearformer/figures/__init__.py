"""Charts and drawings as SVG, in one palette, for the studio, the bench, the docs and the command line."""
