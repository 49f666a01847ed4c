"""What the explorer opens with: gradients that show something, and a sentence on what to look at."""

import math
from dataclasses import dataclass

from incenter.study import examples


@dataclass(frozen=True)
class Preset:
    """Three gradients of three parameters, and what they show; presets of one family are seen from the same side."""

    name: str
    title: str
    look: str
    gradients: tuple[tuple[float, ...], ...]
    family: str = ""


_EDGE = math.radians(0.5)  # on either side of a right angle, where HARMONIC jumps


def _example(source: examples.Gradients) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in source.gradients.tolist())


def _at_the_jump(angle: float) -> tuple[tuple[float, ...], ...]:
    return (math.cos(angle), math.sin(angle), 0.0), (0.0, 1.0, 0.0), (-0.004, 0.6, 0.8)


PRESETS = (
    Preset(
        "toy",
        "Toy example",
        "The paper's comparison: g3 has room, so the ball rests on the facets of g1 and g2 alone. MGDA follows the "
        "shortest gradient, g3, and IMTL-G climbs on all three.",
        _example(examples.toy()),
    ),
    Preset(
        "worked",
        "(2, 2, 1)/3",
        "The paper's second example: ConFIG makes the three cosines equal, and each of them is smaller than the least "
        "cosine of the Chebyshev direction.",
        _example(examples.worked()),
    ),
    Preset(
        "imtl_g",
        "IMTL-G turns round",
        "The same directions with a short g3: IMTL-G's common cosine is negative, so its step increases every loss; "
        "once g3 is longer than 0.5 it points into the cone again.",
        ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.8 / 3, 0.8 / 3, 0.4 / 3)),
    ),
    Preset(
        "config",
        "ConFIG near its end",
        "The gradients nearly lie in one plane: equal cosines are still possible, but only along the edge of the cone, "
        "while the ball keeps its size.",
        ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.05)),
    ),
    Preset(
        "harmonic_before",
        "HARMONIC before",
        "Half a degree before a jump: g1 is nearly at right angles to g2 and g3. Remember where HARMONIC points, then "
        "choose the next preset, or push g1 away from g2.",
        _at_the_jump(_EDGE),
        family="jump",
    ),
    Preset(
        "harmonic_after",
        "HARMONIC after",
        "After the jump: g1 has moved by one degree, the Chebyshev direction by half a degree, HARMONIC by thirty.",
        _at_the_jump(-_EDGE),
        family="jump",
    ),
    Preset(
        "stationary",
        "Stationary",
        "A weighted sum of the gradients is zero: the cone has no inside, r* is 0, and the rules that still have a "
        "direction make some loss worse.",
        ((2.0, 0.0, 0.0), (-0.5, 0.75, 0.2), (-0.5, -0.75, -0.2)),
    ),
)
