"""What the Transformer replaced, on the same interfaces: recurrent, convolutional, autoencoder."""
