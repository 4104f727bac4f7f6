from torch import nn


class ConvolutionalSeq2Seq(nn.Module):
    @classmethod
    def from_config(cls, config):
        raise NotImplementedError
