"""Models in use: a predictor per kind of task, and the engines that run them."""
