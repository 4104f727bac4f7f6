"""How good is it: metrics from the field's own libraries, with their signatures and confidence intervals."""
