from torch import nn


class Autoencoder(nn.Module):
    @classmethod
    def from_config(cls, config):
        raise NotImplementedError
