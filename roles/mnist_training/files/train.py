"""The guide's training: two convolutions and two dense layers on MNIST, Adam, cross entropy.

Prints one line per epoch, the accuracy on the test images and a last line that tells success.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import dataset
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

BATCH = 256
MEAN, DEVIATION = 0.1307, 0.3081


class Digits(Dataset[tuple[Tensor, Tensor]]):
    """Images as floats of mean 0 and deviation 1, [1, 28, 28] each, with their labels."""

    def __init__(self, pixels: bytes, labels: bytes) -> None:
        self.images = torch.frombuffer(bytearray(pixels), dtype=torch.uint8).view(-1, 1, 28, 28)
        self.labels = torch.frombuffer(bytearray(labels), dtype=torch.uint8).long()

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return (self.images[index].float() / 255 - MEAN) / DEVIATION, self.labels[index]

    def shuffle_labels(self) -> None:
        """Give each image the label of another one: nothing can be learned from that."""
        self.labels = self.labels[torch.randperm(len(self.labels))]

    def keep(self, count: int) -> None:
        """Forget all but the first `count` images."""
        self.images, self.labels = self.images[:count], self.labels[:count]


class Net(nn.Module):
    """Convolutions 1 → 32 → 64 of 3 × 3, maximum of 2 × 2, dense 9216 → 128 → 10."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 32, 3)
        self.conv2 = nn.Conv2d(32, 64, 3)
        self.fc1 = nn.Linear(9216, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Scores of ten digits, [batch, 10]."""
        seen = torch.relu(self.conv2(torch.relu(self.conv1(images))))
        flat = torch.flatten(torch.max_pool2d(seen, 2), 1)
        scores: Tensor = self.fc2(torch.relu(self.fc1(flat)))
        return scores


def train_epoch(
    model: Net, batches: DataLoader[tuple[Tensor, Tensor]], optimizer: torch.optim.Optimizer, mixed: bool
) -> float:
    """One pass over the training images, products in bfloat16 when mixed; the mean loss of its batches."""
    model.train()
    device = next(model.parameters()).device
    losses = 0.0
    for images, labels in batches:
        optimizer.zero_grad()
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=mixed):
            scores = model(images.to(device))
        loss = nn.functional.cross_entropy(scores.float(), labels.to(device))
        loss.backward()
        optimizer.step()
        losses += loss.item()
    return losses / len(batches)


@torch.no_grad()
def count_correct(model: Net, batches: DataLoader[tuple[Tensor, Tensor]], mixed: bool) -> int:
    """Test images whose digit is recognised."""
    model.eval()
    device = next(model.parameters()).device
    correct = 0
    for images, labels in batches:
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=mixed):
            digits = model(images.to(device)).argmax(dim=1)
        correct += int((digits == labels.to(device)).sum())
    return correct


def choose_device() -> torch.device:
    """A GPU where PyTorch sees one, else the processor; says which."""
    if torch.cuda.is_available():
        print(f"GPU: {torch.cuda.get_device_name(0)}")
        print(f"CUDA version: {torch.version.cuda}")
        return torch.device("cuda")
    print(f"Device: cpu, {torch.get_num_threads()} threads (PyTorch sees no CUDA device)")
    return torch.device("cpu")


def choose_mixed(wanted: str, device: torch.device) -> bool:
    """Products in bfloat16? By itself only on a processor that computes with it, which halves the time."""
    flags = Path("/proc/cpuinfo").read_text() if device.type == "cpu" else ""
    mixed = wanted == "bfloat16" or (wanted == "auto" and " avx512_bf16" in flags)
    print(f"Precision: {'float32, products in bfloat16' if mixed else 'float32'}")
    return mixed


def arguments() -> argparse.Namespace:
    """Options with the guide's values as defaults."""
    parser = dataset.options(argparse.ArgumentParser(description=__doc__))
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--learning-rate", type=float, default=1e-3)
    parser.add_argument("--workers", type=int, default=2, help="processes that load batches")
    parser.add_argument("--threads", type=int, default=0, help="threads of PyTorch on a CPU, 0 = as it likes")
    parser.add_argument("--precision", choices=["auto", "float32", "bfloat16"], default="auto")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--samples", type=int, default=60000, help="training images to use")
    parser.add_argument("--shuffle-labels", action="store_true", help="make the training worthless")
    return parser.parse_args()


def main() -> None:
    """Load, train, evaluate."""
    chosen = arguments()
    torch.manual_seed(chosen.seed)
    if chosen.threads:
        torch.set_num_threads(chosen.threads)
    device = choose_device()
    mixed = choose_mixed(chosen.precision, device)
    print(f"PyTorch version: {torch.__version__}")
    shm = os.statvfs("/dev/shm")  # noqa: S108
    print(f"Shared memory: {shm.f_blocks * shm.f_frsize // 2**20} MiB")

    data = dataset.load(chosen.data, chosen.origin, chosen.origin_timeout)
    images = {name: data.content[f"{name}-images-idx3-ubyte"] for name in ("train", "t10k")}
    labels = {name: data.content[f"{name}-labels-idx1-ubyte"] for name in ("train", "t10k")}
    train, test = Digits(images["train"], labels["train"]), Digits(images["t10k"], labels["t10k"])
    print(f"Data set: {len(train)} + {len(test)} images, served by {data.origin}", flush=True)
    train.keep(chosen.samples)
    if chosen.shuffle_labels:
        train.shuffle_labels()
        print("Data set: labels shuffled on request")

    model = Net().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=chosen.learning_rate)
    batches = DataLoader(train, batch_size=BATCH, shuffle=True, num_workers=chosen.workers)
    for epoch in range(1, chosen.epochs + 1):
        begun = time.monotonic()
        loss = train_epoch(model, batches, optimizer, mixed)
        took = time.monotonic() - begun
        print(f"Epoch {epoch}/{chosen.epochs} loss={loss:.4f} time={took:.1f}s", flush=True)

    correct = count_correct(model, DataLoader(test, batch_size=1000, num_workers=chosen.workers), mixed)
    print(f"Test accuracy: {correct}/{len(test)} ({100 * correct / len(test):.1f}%)")
    print("MNIST training completed successfully")


if __name__ == "__main__":
    try:
        main()
    except dataset.DatasetError as error:
        # The log's last word: two streams may change places on their way into it.
        print(f"error: {error}", flush=True)
        sys.exit(1)
