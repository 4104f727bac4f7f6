"""Training speed of a small GPT: `clearformer train` beside a plain PyTorch loop and transformers, in one run.

    python benchmarks/training_gpt.py                    6 layers, 256 wide, context 256, characters of Shakespeare

Every contender trains in a process of its own on the same text with batches of the same size, one after the other,
several turns; what counts is tokens per second after the first steps. The plain loop is what most people write: a GPT
in a hundred lines with PyTorch's fused attention, random crops, AdamW and clipping. Wants an idle machine; transformers
for its row.
"""

import argparse
import json
import math
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.data.catalogue.fetch import get

LAYERS, DIM, HEADS, CONTEXT = 6, 256, 8, 256
WARM_UP = 3  # steps before the clock starts
RATE = 1e-3

RECIPE = """
task = "language-model"
name = "gpt"
[data]
train = "{text}"
context = {context}
[data.vocabulary]
kind = "character"
min_frequency = 1
[model]
family = "gpt2"
dim = {dim}
hidden_dim = {hidden}
layers = {layers}
max_len = {context}
[model.attention]
heads = {heads}
[model.dropout]
embedding = {dropout}
attention = {dropout}
residual = {dropout}
[training]
steps = 1000000
save_every = 1000000
validate_every = 1000000
log_every = 1
batch_tokens = {tokens}
precision = "{precision}"
[training.schedule]
kind = "cosine"
peak = 0.001
warmup = 100
[training.optimiser]
kind = "adam"
clip = 1.0
"""


class Block(nn.Module):
    """Attention and feed-forward, each with its norm before it."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.first, self.second = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.qkv, self.out = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)
        self.up, self.down = nn.Linear(DIM, 4 * DIM), nn.Linear(4 * DIM, DIM)
        self.dropout = dropout

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        parts = self.qkv(self.first(x)).split(DIM, dim=2)
        q, k, v = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in parts)
        y = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, is_causal=True)
        x = x + F.dropout(self.out(y.transpose(1, 2).reshape(batch, length, DIM)), self.dropout, self.training)
        y = self.down(F.gelu(self.up(self.second(x))))
        return x + F.dropout(y, self.dropout, self.training)


class PlainGPT(nn.Module):
    """Tokens to the loss of the next ones."""

    def __init__(self, vocab_size: int, dropout: float) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocab_size, DIM), nn.Embedding(CONTEXT, DIM)
        self.blocks, self.norm = nn.ModuleList(Block(dropout) for _ in range(LAYERS)), nn.LayerNorm(DIM)
        self.dropout = dropout
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02)

    def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
        x = self.tokens(inputs) + self.places(torch.arange(inputs.size(1)))
        x = F.dropout(x, self.dropout, self.training)
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy((self.norm(x) @ self.tokens.weight.T).flatten(0, 1), targets.flatten())


def theirs_model(vocab_size: int, dropout: float) -> nn.Module:
    """GPT-2 as transformers has it, of the same size."""
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(
        vocab_size=vocab_size, n_positions=CONTEXT, n_embd=DIM, n_layer=LAYERS, n_head=HEADS,
        resid_pdrop=dropout, embd_pdrop=dropout, attn_pdrop=dropout, bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    model = GPT2LMHeadModel(config)

    class WithLoss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, inputs: Tensor, targets: Tensor) -> Tensor:
            return F.cross_entropy(self.model(inputs).logits.flatten(0, 1), targets.flatten())

    return WithLoss()


def loop(kind: str, text: Path, rows: int, dropout: float, seconds: float) -> None:
    """A peer's process: train, then print tokens per second, parameters and the last loss as JSON."""
    characters = text.read_text(encoding="utf-8")
    numbers = {character: number for number, character in enumerate(sorted(set(characters)))}
    stream = torch.tensor([numbers[character] for character in characters])
    torch.manual_seed(1)
    model = (theirs_model if kind == "transformers" else PlainGPT)(len(numbers), dropout).train()
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, betas=(0.9, 0.99), fused=True)
    draw = torch.Generator().manual_seed(1)
    done, started, value = 0, 0.0, math.nan
    while not started or time.perf_counter() - started < seconds:
        if done == WARM_UP:
            started = time.perf_counter()
        begins = torch.randint(len(stream) - CONTEXT - 1, (rows,), generator=draw).tolist()
        inputs = torch.stack([stream[at : at + CONTEXT] for at in begins])
        targets = torch.stack([stream[at + 1 : at + CONTEXT + 1] for at in begins])
        with torch.autocast("cpu", torch.bfloat16, kind == "plain-bfloat16"):
            loss = model(inputs, targets)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        done, value = done + 1, loss.item()
    speed = (done - WARM_UP) * rows * CONTEXT / (time.perf_counter() - started)
    print(json.dumps({"speed": speed, "parameters": sum(p.numel() for p in model.parameters()), "loss": value}))


def peer(kind: str, text: Path, rows: int, dropout: float, seconds: float) -> float:
    words = [sys.executable, __file__, "--as", kind, "--text", str(text), "--rows", str(rows)]
    words += ["--dropout", str(dropout), "--seconds", str(seconds)]
    return float(json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["speed"])


def ours(precision: str, text: Path, rows: int, dropout: float, seconds: float) -> float:
    """`clearformer train` until its log covers the time."""
    with tempfile.TemporaryDirectory() as aside:
        recipe, out = Path(aside) / "gpt.toml", Path(aside) / "run"
        recipe.write_text(
            RECIPE.format(
                text=text,
                context=CONTEXT,
                dim=DIM,
                hidden=4 * DIM,
                layers=LAYERS,
                heads=HEADS,
                dropout=dropout,
                tokens=rows * CONTEXT,
                precision=precision,
            )
        )
        words = [sys.executable, "-m", "clearformer", "train", str(recipe), "--out", str(out)]
        with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
            try:
                return _watch(process, out / "metrics.jsonl", seconds)
            finally:
                process.send_signal(signal.SIGKILL)


def _watch(process: "subprocess.Popen[bytes]", log: Path, seconds: float) -> float:
    while process.poll() is None:
        time.sleep(0.2)
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        records = [json.loads(line) for line in lines if line.endswith("}")]
        records = [record for record in records if "loss" in record and "count" in record]
        if len(records) > WARM_UP and records[-1]["time"] - records[WARM_UP - 1]["time"] >= seconds:
            first, last = records[WARM_UP - 1], records[-1]
            return float((last["count"] - first["count"]) / (last["time"] - first["time"]))
    raise RuntimeError(process.stderr.read().decode(errors="replace")[-300:] if process.stderr else "it ended")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=16, help="texts in a batch (16)")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=15.0, help="of a turn (15)")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--as", dest="kind", help=argparse.SUPPRESS)
    parser.add_argument("--text", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.kind:
        loop(asked.kind, asked.text, asked.rows, asked.dropout, asked.seconds)
        return
    text = get("tiny-shakespeare") / "input.txt"
    given = (text, asked.rows, asked.dropout, asked.seconds)
    contenders = {
        "plain PyTorch loop": lambda: peer("plain", *given),
        "plain PyTorch loop, bfloat16": lambda: peer("plain-bfloat16", *given),
        "transformers": lambda: peer("transformers", *given),
        "clearformer, float32": lambda: ours("float32", *given),
        "clearformer, bfloat16": lambda: ours("bfloat16", *given),
    }
    speeds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(asked.turns):
        for name, run in contenders.items():
            speeds[name].append(run())
    plain = statistics.median(speeds["plain PyTorch loop"])
    print(f"\nbatches of {asked.rows} x {CONTEXT} tokens, dropout {asked.dropout:g}, median of {asked.turns} turns\n")
    print("| | tokens/s | times the plain loop | by turn |\n|---|---:|---:|---:|")
    for name, found in speeds.items():
        ratios = [one / other for one, other in zip(found, speeds["plain PyTorch loop"], strict=True)]
        usual = statistics.median(found)
        print(f"| {name} | {usual:,.0f} | {usual / plain:.2f} | {min(ratios):.2f}-{max(ratios):.2f} |")


if __name__ == "__main__":
    main()
