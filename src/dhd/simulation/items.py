"""What stand-in problems ask: texts, options and answers, each made from a few random numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from string import ascii_uppercase
from types import MappingProxyType
from typing import Final

Uniforms = Sequence[float]


@dataclass(frozen=True, slots=True)
class Item:
    """What one item asks.

    Attributes
    ----------
    text
        The question, without its code.
    right
        The reference.
    wrong
        Three different wrong answers, the most frequent first.
    options
        Option texts, or None.
    unit
        Unit of a number, or None.
    other_form
        The right answer written in another way, or None.
    """

    text: str
    right: str
    wrong: tuple[str, str, str]
    options: tuple[str, ...] | None = None
    unit: str | None = None
    other_form: str | None = None


def _between(uniform: float, low: int, high: int) -> int:
    """Return a whole number from ``low`` to ``high``."""
    return low + int(uniform * (high - low + 1))


def _picked(uniform: float, values: Sequence[str]) -> str:
    return values[int(uniform * len(values))]


_TOWNS: Final = ("Aldmoor", "Brenton", "Carrick", "Dunvale", "Eastwick", "Farleigh", "Glenrow")
_METALS: Final = ("copper", "nickel", "tin", "zinc", "iron", "silver", "cobalt")


def _taps(u: Uniforms) -> Item:
    first, second = _between(u[1], 2, 40), _between(u[2], 2, 40)
    town = _picked(u[3], _TOWNS)
    time = Fraction(first * second, first + second)
    text = (
        f"The water tower of {town} has two inlets. Alone, the first fills the empty tower in "
        f"{first} hours and the second in {second} hours; the outlet stays shut. Both inlets are "
        "opened at the same moment and run at their usual rates until the tower is full. How many "
        "hours does that take? Give the exact value."
    )
    wrong = (Fraction(first + second, 2), time + 1, Fraction(first + second + 1, first))
    return Item(text, _latex(time), _distinct(time, wrong), other_form=str(time))


def _latex(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    return rf"\frac{{{value.numerator}}}{{{value.denominator}}}"


def _distinct(right: Fraction, wrong: Sequence[Fraction]) -> tuple[str, str, str]:
    """Return the wrong values as LaTeX, moved on where two of them, or the right one, agree."""
    seen, texts = {right}, []
    for value in wrong:
        while value in seen:
            value += Fraction(1, 2)
        seen.add(value)
        texts.append(_latex(value))
    return texts[0], texts[1], texts[2]


_DIAGONALS: Final = ((1, 1, 2), (1, 2, 5), (1, 3, 10), (2, 3, 13), (1, 4, 17), (2, 5, 29))


def _diagonal(u: Uniforms) -> Item:
    across, along, root = _DIAGONALS[int(u[1] * len(_DIAGONALS))]
    scale = _between(u[2], 2, 60)
    text = (
        f"A rectangular courtyard in {_picked(u[3], _TOWNS)} is {scale * across} paces wide and "
        f"{scale * along} paces long. A gardener stretches a string over the paving from one "
        "corner to the opposite one. Exactly how many paces long is the string, in simplest form?"
    )
    wrong = (rf"{scale + 1}\sqrt{{{root}}}", str(scale * (across + along)), rf"\sqrt{{{scale}}}")
    other = rf"\sqrt{{{scale * scale * root}}}"
    return Item(text, rf"{scale}\sqrt{{{root}}}", wrong, other_form=other)


def _paths(u: Uniforms) -> Item:
    east, north = _between(u[1], 2, 9), _between(u[2], 2, 9)
    ways = comb(east + north, east)
    text = (
        f"The streets of {_picked(u[3], _TOWNS)} form a grid. A courier starts at the south-west "
        f"corner and must reach the corner {east} blocks east and {north} blocks north, always "
        "walking east or north along the streets. In how many different ways can she walk?"
    )
    wrong = (str(2 * ways), str(ways + east), str(comb(east + north, east) * north + 1))
    return Item(text, str(ways), wrong)


def _math(u: Uniforms) -> Item:
    makers = (_taps, _diagonal, _paths)
    return makers[int(u[0] * len(makers))](u)


def _integer(u: Uniforms) -> Item:
    factor, other, extra = _between(u[1], 13, 99), _between(u[2], 13, 99), _between(u[3], 1, 50)
    divisor = _between(u[4], 11, 29)
    right = (factor * other + extra) % divisor
    text = (
        f"Crates hold {factor} bearings each. A workshop receives {other} full crates and {extra} "
        f"loose bearings, and packs everything into boxes of {divisor} until no further box can "
        "be filled. How many bearings are left over?"
    )
    wrong = ((right + 1) % divisor, (right + extra % 7 + 2) % divisor, divisor + right)
    return Item(text, str(right), (str(wrong[0]), str(wrong[1]), str(wrong[2])))


def _numeric(u: Uniforms) -> Item:
    mass, time = _between(u[1], 120, 980) / 10, _between(u[2], 12, 95)
    distance = _between(u[3], 200, 4800)
    speed = distance / time
    metal = _picked(u[4], _METALS)
    text = (
        f"A trolley carries a {mass} kg block of {metal} along a straight level track of "
        f"{distance} m. It needs {time} s from end to end and moves at constant speed all the way; "
        "friction in the bearings is made up for by the drive. What is the speed of the block?"
    )
    wrong = (f"{2 * speed:.4g}", f"{speed / 3:.4g}", f"{mass * speed:.4g}")
    return Item(text, f"{speed:.4g}", wrong, unit="m/s", other_form=f"{float(f'{speed:.4g}'):.3e}")


def _choice_of(text: str, right: str, others: Sequence[str], place: float) -> Item:
    """Return a choice item whose right option stands at a random place."""
    at = int(place * (len(others) + 1))
    options = (*others[:at], right, *others[at:])
    letters = ascii_uppercase[: len(options)]
    wrong = [letter for index, letter in enumerate(letters) if index != at]
    return Item(text, letters[at], (wrong[0], wrong[1], wrong[2]), options=options)


def _choice(u: Uniforms) -> Item:
    side, height = _between(u[1], 3, 40), _between(u[2], 3, 40)
    volume = side * side * height
    metal = _picked(u[3], _METALS)
    text = (
        f"A bar of {metal} has a square cross-section of {side} mm by {side} mm and is {height} mm "
        "long. It is melted without loss and cast into a single cube-shaped mould that it fills "
        "exactly. Which volume does the mould have?"
    )
    others = (volume + side, 2 * volume, volume + height + side)
    return _choice_of(text, f"{volume} mm3", [f"{value} mm3" for value in others], u[4])


def _multi_choice(u: Uniforms) -> Item:
    divisor = _between(u[1], 3, 9)
    hits = [u[2 + place] < 0.5 for place in range(4)]
    hits[int(u[6] * 4)] = True
    numbers = [
        divisor * _between(u[7 + place], 11, 90) + (0 if hit else 1 + place % (divisor - 1))
        for place, hit in enumerate(hits)
    ]
    options = tuple(
        f"a rod of {number + place * divisor * 100} mm" for place, number in enumerate(numbers)
    )
    right = ", ".join(letter for letter, hit in zip("ABCD", hits, strict=True) if hit)
    wrong = [candidate for candidate in ("A, B", "C", "B, D", "A, C, D", "D") if candidate != right]
    text = (
        f"Rods are cut into pieces of exactly {divisor} mm; the cuts themselves take no material. "
        "Which of the following rods can be cut up completely, without a remainder?"
    )
    return Item(text, right, (wrong[0], wrong[1], wrong[2]), options=options)


_PAIRINGS: Final = ("123", "132", "213", "231", "312", "321")


def _matching(u: Uniforms) -> Item:
    sizes = [_between(u[1], 2, 9), _between(u[2], 11, 19), _between(u[3], 21, 29)]
    places = _PAIRINGS[int(u[4] * len(_PAIRINGS))]
    areas = [""] * 3
    for size, place in zip(sizes, places, strict=True):
        areas[int(place) - 1] = f"{size * size} mm2"
    squares = "; ".join(f"{name}: side {size} mm" for name, size in zip("PQR", sizes, strict=True))
    listed = "; ".join(f"{number}: {area}" for number, area in enumerate(areas, 1))
    pairs = [_pairs(order) for order in _PAIRINGS if order != places]
    text = f"Match each square plate with its area. Plates: {squares}. Areas: {listed}."
    return Item(text, _pairs(places), (pairs[0], pairs[1], pairs[2]))


def _pairs(order: str) -> str:
    return ", ".join(f"{name}-{place}" for name, place in zip("PQR", order, strict=True))


def _sequence(u: Uniforms, length: int) -> str:
    """Return letters A, C, G, T that follow from the random numbers."""
    state, letters = int(u[5] * 2**32), []
    for _ in range(length):
        state = (1_664_525 * state + 1_013_904_223) % 2**32
        letters.append("ACGT"[state >> 30])
    return "".join(letters)


def _counted(u: Uniforms, opening: str, length: int) -> Item:
    strand = _sequence(u, length)
    letter = "ACGT"[int(u[6] * 4)]
    count = strand.count(letter)
    text = f"{opening}\n\n{strand}\n\nHow many times does {letter} occur in this strand?"
    others = (count + 1, count + 3, count + 4)
    return _choice_of(text, str(count), [str(value) for value in others], u[4])


def _seq_qa(u: Uniforms) -> Item:
    name = f"{_picked(u[1], _TOWNS)}-{_between(u[2], 1, 99)}"
    return _counted(u, f"The strand {name} was read from its 5' end:", _between(u[3], 120, 400))


def _cloning(u: Uniforms) -> Item:
    plasmid = f"p{_picked(u[1], _TOWNS)}{_between(u[2], 1, 99)}"
    opening = (
        f"A fragment was inserted into {plasmid} between two sites, both of which were kept. The "
        "plasmid was grown overnight, purified and read once across the insert. The read:"
    )
    return _counted(u, opening, _between(u[3], 600, 1200))


_STEPS: Final = (
    "Spin the tubes for {n} minutes at low speed and discard the liquid above the pellet.",
    "Add {n} ml of wash buffer, close the lid and turn the tube over several times by hand.",
    "Keep the tube on ice for {n} minutes; do not let the pellet freeze to the wall.",
    "Warm the block to the marked temperature and wait {n} minutes until it is steady.",
    "Take {n} samples from the middle of the layer with a fresh tip for each of them.",
    "Let the mixture stand in the dark for {n} minutes, then shake it until it is clear.",
)


def _protocol_qa(u: Uniforms) -> Item:
    numbers = [_between(u[5 + step % 9], 2, 30) + step for step in range(12)]
    steps = [
        f"{step + 1}. {_STEPS[step % len(_STEPS)].format(n=number)}"
        for step, number in enumerate(numbers)
    ]
    asked = int(u[1] * len(steps))
    right = numbers[asked]
    text = (
        "Protocol:\n" + "\n".join(steps) + "\n\nQuestion:\nA trainee doubled the number in step "
        f"{asked + 1} by mistake. Which number stood in the protocol at this step?"
    )
    others = (2 * right, right + 2, right + 5)
    if len({right, *others}) < 1 + len(others):
        others = (3 * right + 1, right + 7, right + 9)
    return _choice_of(text, str(right), [str(value) for value in others], u[4])


#: Answer format, or stratum with items of its own → what writes an item.
MAKERS: Final[Mapping[str, Callable[[Uniforms], Item]]] = MappingProxyType(
    {
        "math": _math,
        "integer": _integer,
        "numeric": _numeric,
        "choice": _choice,
        "multi_choice": _multi_choice,
        "matching": _matching,
        "SeqQA": _seq_qa,
        "ProtocolQA": _protocol_qa,
        "CloningScenarios": _cloning,
    }
)
