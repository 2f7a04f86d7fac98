"""Code of PyTorch with a formula each, and slips in it that fit all shapes: (what is written, what is written instead)."""

from typing import NamedTuple


class Subject(NamedTuple):
    """Code, what it defines, the shapes of its inputs, the names of axes, the formula, and slips."""

    code: str
    name: str
    shapes: tuple[tuple[int, ...], ...]
    names: dict[str, str]
    formula: str
    slips: tuple[tuple[str, str], ...]


BLOCK = Subject(
    '''
import math
import torch
import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    def __init__(self, d=12, heads=2):
        super().__init__()
        self.q, self.k = nn.Linear(d, d), nn.Linear(d, d)
        self.v, self.o = nn.Linear(d, d), nn.Linear(d, d)
        self.h = heads

    def forward(self, x):
        B, T, C = x.shape
        q = self.q(x).view(B, T, self.h, -1).transpose(1, 2)
        k = self.k(x).view(B, T, self.h, -1).transpose(1, 2)
        v = self.v(x).view(B, T, self.h, -1).transpose(1, 2)
        s = q @ k.transpose(-2, -1)
        s = s / math.sqrt(q.shape[-1])
        mask = torch.triu(torch.ones(T, T), 1)
        s = s.masked_fill(mask == 1, float("-inf"))
        w = torch.softmax(s, -1)
        y = w @ v
        y = y.transpose(1, 2).reshape(B, T, C)
        return self.o(y)


class Block(nn.Module):
    def __init__(self, d=12):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = Attention(d)
        self.up, self.down = nn.Linear(d, 20), nn.Linear(20, d)

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        m = self.n2(x)
        m = self.up(m)
        m = F.gelu(m)
        m = self.down(m)
        x = x + m
        return x
''',
    "Block",
    ((2, 5, 12),),
    {
        "x": "batch seq chans", "attn.q.weight": "(heads[2] key) chans", "attn.k.weight": "(heads key) chans",
        "attn.v.weight": "(heads val[6]) chans", "attn.o.weight": "chans (heads val)", "up.weight": "hidden[20] chans",
        "down.weight": "chans hidden",
    },
    """U + G ⊙_{hidden} W_down + b_down
G = gelu(N ⊙_{chans} W_up + b_up)
N = standardize_{chans}(U) ⊙ W_n2 + b_n2
U = x + Y ⊙_{heads, val} W_attnO + b_attnO
Y = A ⊙_{seq'} V
A = softmax_{seq'}(Q ⊙_{key} K / √|key| + M)
M = { 0 if iota_{seq'} ≤ iota_{seq}; -∞ otherwise }
Q = P ⊙_{chans} W_attnQ + b_attnQ
K = P_{seq→seq'} ⊙_{chans} W_attnK + b_attnK
V = P_{seq→seq'} ⊙_{chans} W_attnV + b_attnV
P = standardize_{chans}(x) ⊙ W_n1 + b_n1""",
    (
        ("softmax(s, -1)", "softmax(s, -2)"), ("math.sqrt(q.shape[-1])", "q.shape[-1]"), ("math.sqrt(q.shape[-1])", "math.sqrt(C)"),
        ("ones(T, T), 1)", "ones(T, T), 0)"), ("ones(T, T), 1)", "ones(T, T), 2)"), ("triu(", "tril("),
        ("y = y.transpose(1, 2).reshape(B, T, C)", "y = y.reshape(B, T, C)"),
        ("x = x + self.attn(self.n1(x))", "x = self.attn(self.n1(x))"), ("x = x + m", "x = m"),
        ("x = x + self.attn(self.n1(x))", "x = self.n1(x + self.attn(x))"),
        ("x = x + self.attn(self.n1(x))", "x = x + self.attn(x)"), ("m = self.n2(x)", "m = self.n1(x)"),
        ("m = F.gelu(m)", "m = F.relu(m)"), ("m = F.gelu(m)", 'm = F.gelu(m, approximate="tanh")'),
        ("k = self.k(x)", "k = self.q(x)"), ("y = w @ v", "y = w.transpose(-2, -1) @ v"),
        ("s = q @ k.transpose(-2, -1)", "s = k @ q.transpose(-2, -1)"), ("s = s / math", "s = s * math"), ("x = x + m", "x = x - m"),
        ("m = self.down(m)", "m = F.linear(m, self.down.weight)"),
        ("m = self.down(m)", "m = F.linear(m, self.down.weight, self.n2.bias)"),
        ("self.v(x).view(B, T, self.h, -1).transpose(1, 2)", "self.v(x).view(B, self.h, T, -1)"),
        ("self.q(x).view(B, T, self.h, -1)", "self.q(x).view(B, T, -1, self.h).transpose(-1, -2)"),
        ("m = self.n2(x)", "m = F.layer_norm(x, (12,), self.n2.weight, self.n2.bias, 1e-3)"),
        ("return self.o(y)", "return self.o(y) * 2"), ("x = x + m", "x = x + F.gelu(m)"), ("mask == 1", "mask == 0"),
    ),
)  # fmt: skip
GATED = Subject(
    '''
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, d=5, n=7):
        super().__init__()
        for name, shape in dict(V=(d, n), U=(n, n), a=(n,), Vz=(d, n), Uz=(n, n), az=(n,), Vr=(d, n), Ur=(n, n), ar=(n,)).items():
            setattr(self, name, nn.Parameter(torch.randn(shape)))

    def forward(self, x, h):
        z = torch.sigmoid(x @ self.Vz + h @ self.Uz + self.az)
        r = torch.sigmoid(x @ self.Vr + h @ self.Ur + self.ar)
        c = torch.tanh(x @ self.V + (r * h) @ self.U + self.a)
        return (1 - z) * h + z * c
''',
    "Cell",
    ((2, 5), (2, 7)),
    {
        "x": "batch in", "h": "batch out", "V": "in out", "U": "out' out", "a": "out", "Vz": "in out", "Uz": "out' out", "az": "out",
        "Vr": "in out", "Ur": "out' out", "ar": "out",
    },
    """(1 − z) ⊙ h + z ⊙ c
z = σ(x ⊙_{in} Vz + h_{out→out'} ⊙_{out'} Uz + az)
r = σ(x ⊙_{in} Vr + h_{out→out'} ⊙_{out'} Ur + ar)
c = tanh(x ⊙_{in} V + [r ⊙ h]_{out→out'} ⊙_{out'} U + a)""",
    (
        ("(1 - z) * h + z * c", "z * h + (1 - z) * c"), ("h @ self.Uz", "h @ self.Uz.T"), ("(r * h) @ self.U", "r * (h @ self.U)"),
        ("+ self.ar", "+ self.az"), ("torch.tanh", "torch.sigmoid"), ("(r * h) @ self.U", "h @ self.U"), (" + self.az", ""),
    ),
)  # fmt: skip
CONTRASTIVE = Subject(
    '''
import torch


def contrastive(x, y):
    a = x / x.norm(dim=-1, keepdim=True)
    b = y / y.norm(dim=-1, keepdim=True)
    s = a @ b.T
    s = s / 0.1
    p = torch.log_softmax(s, dim=-1)
    return -p.diagonal().mean()
''',
    "contrastive",
    ((4, 6), (4, 6)),
    {"x": "batch chans", "y": "batch chans"},
    """(−mean_{batch} ([P]_{batch'(iota_{batch})}))
P = logsoftmax_{batch'}(a ⊙_{chans} b_{batch→batch'} / 0.1)
a = x / norm_{chans}(x)
b = y / norm_{chans}(y)""",
    (
        ("dim=-1)\n    return", "dim=-2)\n    return"), ("s = s / 0.1", "s = s * 0.1"), ("x.norm(dim=-1", "x.norm(dim=-2"),
        ("b = y / y.norm(dim=-1, keepdim=True)", "b = y"), ("s = a @ b.T", "s = a @ a.T"), (".mean()", ".sum()"),
        ("y.norm(dim=-1", "y.norm(p=1, dim=-1"),
    ),
)  # fmt: skip
SUBJECTS = (BLOCK, GATED, CONTRASTIVE)
