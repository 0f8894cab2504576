"""Depths, recovery and rock quality of drill core at Halvern Survey Station.

The driller writes the length of the rods on a wooden block at the end of every run. That is not the depth of the rock:
the rods stretch under their own weight, the ground level is not the drill floor, and part of the core may be lost.
This module turns what the driller wrote into the depths that the station publishes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable, Iterator

# Stretch of a string of HQ rods hanging free, in metres for each metre of length squared.
ROD_STRETCH_PER_M2 = 1.9e-6

# Height of the drill floor over the ground, in metres: the rig of 2025 stands on 0.85 m of timber.
DRILL_FLOOR_HEIGHT_M = 0.85

# A piece counts towards RQD from this length, in metres.
RQD_PIECE_M = 0.10


class DepthError(ValueError):
    """Depths that cannot be true, with the block and the value that are wrong."""


@dataclass(frozen=True)
class Run:
    """One run of the core barrel, in driller's metres."""

    top_m: float
    bottom_m: float
    pieces_m: tuple[float, ...]

    @property
    def drilled_m(self) -> float:
        return self.bottom_m - self.top_m

    @property
    def core_m(self) -> float:
        return sum(self.pieces_m)


def rod_stretch(length_m: float) -> float:
    """Elastic stretch of rods of the given length.

    The load grows with the length below each joint, so the stretch grows with its square: 0.17 m at 300 m.
    """
    return ROD_STRETCH_PER_M2 * length_m**2


def ground_depth(driller_depth_m: float) -> float:
    """Published depth: driller's depth plus the stretch, less the height of the drill floor."""
    if driller_depth_m < 0:
        raise DepthError(f"a depth cannot be negative: {driller_depth_m} m")
    return driller_depth_m + rod_stretch(driller_depth_m) - DRILL_FLOOR_HEIGHT_M


def recovery(run: Run) -> float:
    """Core in the box over length drilled. More than 1.05 means that a block is in the wrong place."""
    if run.drilled_m <= 0:
        raise DepthError(f"a run must go down: {run.top_m} m to {run.bottom_m} m")
    ratio = run.core_m / run.drilled_m
    if ratio > 1.05:
        raise DepthError(f"{run.core_m:.2f} m of core from {run.drilled_m:.2f} m drilled: check the block at {run.bottom_m} m")
    return min(ratio, 1.0)


def rqd(run: Run) -> float:
    """Rock quality designation: pieces of 10 cm or longer over length drilled."""
    return sum(piece for piece in run.pieces_m if piece >= RQD_PIECE_M) / run.drilled_m


def rqd_class(value: float) -> str:
    """The word for a quality in a log."""
    for limit, word in ((0.25, "very poor"), (0.50, "poor"), (0.75, "fair"), (0.90, "good")):
        if value < limit:
            return word
    return "excellent"


def lost_core(runs: Iterable[Run], least_recovery: float = 0.95) -> Iterator[tuple[Run, float]]:
    """The runs whose recovery is under the contract's limit, with the metres that are missing."""
    for run in runs:
        if recovery(run) < least_recovery:
            yield run, run.drilled_m - run.core_m


def place_of_piece(run: Run, index: int) -> float:
    """Published depth of the top of a piece.

    Lost core is assumed to be missing from the bottom of its run, where the barrel drops it: this is the convention of
    the station since hole HD-01, and it is why the depths of old logs may be compared with those of new ones.
    """
    if not 0 <= index < len(run.pieces_m):
        raise DepthError(f"the run from {run.top_m} m has {len(run.pieces_m)} pieces, not {index + 1}")
    return ground_depth(run.top_m + sum(run.pieces_m[:index]))


if __name__ == "__main__":
    example = Run(top_m=183.0, bottom_m=186.0, pieces_m=(0.92, 0.07, 1.10, 0.04, 0.71))
    print(f"recovery {recovery(example):.0%}, RQD {rqd(example):.0%} ({rqd_class(rqd(example))})")
    print(f"top of the third piece at {place_of_piece(example, 2):.2f} m")
