from torch import nn


class RecurrentSeq2Seq(nn.Module):
    @classmethod
    def from_config(cls, config):
        raise NotImplementedError
