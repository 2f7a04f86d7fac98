"""Multi-head attention as it is often written, with a mistake in one line, and the corrected version."""

import math

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, chans=16, heads=2):
        super().__init__()
        self.heads = heads
        self.q = nn.Linear(chans, chans, bias=False)
        self.k = nn.Linear(chans, chans, bias=False)
        self.v = nn.Linear(chans, chans, bias=False)
        self.o = nn.Linear(chans, chans, bias=False)

    def forward(self, x):
        B, L, D = x.shape
        q = self.q(x).view(B, L, self.heads, -1).transpose(1, 2)
        k = self.k(x).view(B, L, self.heads, -1).transpose(1, 2)
        v = self.v(x).view(B, L, self.heads, -1).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        y = weights @ v
        y = y.reshape(B, L, D)
        return self.o(y)


class Corrected(Attention):
    def forward(self, x):
        B, L, D = x.shape
        q = self.q(x).view(B, L, self.heads, -1).transpose(1, 2)
        k = self.k(x).view(B, L, self.heads, -1).transpose(1, 2)
        v = self.v(x).view(B, L, self.heads, -1).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        weights = torch.softmax(scores, dim=-1)
        y = weights @ v
        y = y.transpose(1, 2).reshape(B, L, D)
        return self.o(y)
