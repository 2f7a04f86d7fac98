"""Multi-head attention with one matrix for queries, keys and values."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, chans=16, heads=2):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(chans, 3 * chans, bias=False)
        self.out = nn.Linear(chans, chans, bias=False)

    def forward(self, x):
        B, L, D = x.shape
        q, k, v = self.qkv(x).split(D, dim=2)
        q, k, v = (t.view(B, L, self.heads, D // self.heads).transpose(1, 2) for t in (q, k, v))
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(k.shape[-1]), dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(B, L, D))
