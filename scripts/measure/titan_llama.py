"""A plain-PyTorch Llama in the style of the torchtitan trainer: fused RMSNorm, complex rotary, SDPA, SwiGLU w1/w2/w3."""

import torch
import torch.nn.functional as F
from torch import nn


def rotary_table(head_dim, seq, theta=500000.0):
    freqs = 1.0 / (theta ** (torch.arange(0, head_dim, 2, device="cuda").float() / head_dim))
    angles = torch.outer(torch.arange(seq, device="cuda").float(), freqs)
    return torch.polar(torch.ones_like(angles), angles)


def rotate(x, table):
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * table.view(1, x.shape[1], 1, -1)).flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self, hidden, heads, kv, head_dim):
        super().__init__()
        self.heads, self.kv, self.head_dim = heads, kv, head_dim
        self.wq = nn.Linear(hidden, heads * head_dim, bias=False)
        self.wk = nn.Linear(hidden, kv * head_dim, bias=False)
        self.wv = nn.Linear(hidden, kv * head_dim, bias=False)
        self.wo = nn.Linear(heads * head_dim, hidden, bias=False)

    def forward(self, x, table):
        b, s, _ = x.shape
        q = rotate(self.wq(x).view(b, s, self.heads, self.head_dim), table)
        k = rotate(self.wk(x).view(b, s, self.kv, self.head_dim), table)
        v = self.wv(x).view(b, s, self.kv, self.head_dim)
        repeat = self.heads // self.kv
        if repeat > 1:  # keys and values are repeated in memory, as the trainer did until late 2025
            k = k[:, :, :, None, :].expand(b, s, self.kv, repeat, self.head_dim).reshape(b, s, self.heads, -1)
            v = v[:, :, :, None, :].expand(b, s, self.kv, repeat, self.head_dim).reshape(b, s, self.heads, -1)
        o = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)
        return self.wo(o.transpose(1, 2).contiguous().view(b, s, -1))


class FeedForward(nn.Module):
    def __init__(self, hidden, ffn):
        super().__init__()
        self.w1 = nn.Linear(hidden, ffn, bias=False)
        self.w2 = nn.Linear(ffn, hidden, bias=False)
        self.w3 = nn.Linear(hidden, ffn, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, hidden, ffn, heads, kv, head_dim):
        super().__init__()
        self.attention_norm = nn.RMSNorm(hidden, eps=1e-5)
        self.attention = Attention(hidden, heads, kv, head_dim)
        self.ffn_norm = nn.RMSNorm(hidden, eps=1e-5)
        self.feed_forward = FeedForward(hidden, ffn)

    def forward(self, x, table):
        h = x + self.attention(self.attention_norm(x), table)
        return h + self.feed_forward(self.ffn_norm(h))


class Llama(nn.Module):
    def __init__(self, layers, hidden, ffn, heads, kv, vocab, seq, head_dim=None):
        super().__init__()
        self.head_dim, self.seq = head_dim or hidden // heads, seq
        self.tok_embeddings = nn.Embedding(vocab, hidden)
        self.layers = nn.ModuleList(Block(hidden, ffn, heads, kv, self.head_dim) for _ in range(layers))
        self.norm = nn.RMSNorm(hidden, eps=1e-5)
        self.output = nn.Linear(hidden, vocab, bias=False)
        self.table = None

    def set_table(self):
        self.table = rotary_table(self.head_dim, self.seq)

    def forward(self, tokens):
        x = self.tok_embeddings(tokens)
        for layer in self.layers:
            x = layer(x, self.table)
        return self.output(self.norm(x))


def loss_of(pred, labels):
    return F.cross_entropy(pred.flatten(0, 1).float(), labels.flatten(0, 1))
