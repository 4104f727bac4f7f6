"""Pictures as SVG files that need nothing else: charts, matrices, trees, drawings. They know numbers and words only."""
