# /// script
# requires-python = ">=3.11"
# dependencies = ["pillow==12.*"]
# ///
"""`uv run --script shrink_pictures.py PNG...`: pictures in 256 colours or fewer, as many as a page has."""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

LIMIT = 150_000


def shrink(file: Path) -> None:
    picture = Image.open(file).convert("RGB")
    for colours in (256, 128, 64, 32):
        small = picture.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        small.save(file, optimize=True)
        if file.stat().st_size <= LIMIT:
            return


if __name__ == "__main__":
    for name in sys.argv[1:]:
        shrink(Path(name))
