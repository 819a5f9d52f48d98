"""Integers, numeric answers, units and ranges: variants of every kind of hard case.

Outcomes are letters: T right, F wrong, N deferred; several letters accept several outcomes.
"""

import pytest

from dhd.answers import compare_answers
from dhd.answers.ranges import parse_targets
from dhd.answers.units import parse_unit
from dhd.problems import AnswerFormat, Problem

OUTCOMES = {"T": True, "F": False, "N": None}


def accepts(
    reference: str,
    submitted: str,
    accepted: str,
    *,
    benchmark: str = "own",
    unit: str | None = None,
    answer_format: AnswerFormat = "numeric",
    prompt_shows_factor: bool = True,
) -> bool:
    problem = Problem("p", benchmark, "", reference, answer_format, unit=unit)
    got = compare_answers(problem, submitted, prompt_shows_factor=prompt_shows_factor)
    return got.equivalent in [OUTCOMES[letter] for letter in accepted]


@pytest.mark.parametrize(
    ("reference", "submitted", "accepted"),
    [
        ("7", "7", "T"), ("7", "07", "T"), ("7", "7.0", "T"), ("7", "+7", "T"), ("7", "$7$", "T"),
        ("7", "7.", "T"), ("7", "-7", "F"), ("7", "8", "F"), ("7", "7.5", "F"), ("7", "70", "F"),
        ("7", "77", "F"), ("7", "7!", "F"), ("24", "4!", "TN"), ("27", "3^3", "T"),
        ("27", "3**3", "T"), ("27", "3³", "TN"), ("27", "27 m", "TN"), ("7", "14/2", "T"),
        ("7", "7 kg", "TN"), ("7", "6 or 7", "NF"), ("7", "7 or 8", "NF"), ("7", "6, 7", "NF"),
        ("7", "6-8", "NF"), ("7", "between 6 and 8", "NF"), ("2000", "2_000", "NT"),
        ("2000", "2,000", "T"), ("2000", "2{,}000", "T"), ("2000", r"\$2{,}000", "T"),
        ("2000", "2e3", "T"), ("2000", "2 \\times 10^3", "T"), ("2000", "2 thousand", "TN"),
        ("2000", "2.000", "FN"), ("18", "0x12", "NF"), ("18", "0b10010", "NF"),
        ("255", "0xFF", "NF"), ("7", "seven", "NT"), ("12", "十二", "TN"), ("13", "十二", "FN"),
        ("45600", "４５，６００", "TN"), ("9", "⑨", "NT"), ("42", "\u200b42", "T"),
        ("-8", "–8", "T"), ("-8", "−8", "T"), ("8", "−8", "F"), ("7", "x=7", "T"),
        ("7", "n = 14/2 = 7", "T"), ("7", "the answer is 7", "TN"), ("7", "about 7", "TN"),
        ("7", "7%", "NF"), ("7", "nan", "NF"), ("7", "", "N"), ("7", "unknown", "N"),
        ("7", "7 apples", "NT"), ("7", "7 (seven)", "NT"), ("7", "VII", "N"),
        ("7", "7\\text{ cm}", "TN"), ("7", "int('7')", "NF"), ("2", "27", "F"), ("27", "2", "F"),
        ("7", "1e999999", "NF"), ("7", "9" * 5000, "FN"), ("20", "二十", "TN"),
        ("105", "一百零五", "TN"), ("32", "三十二", "TN"), ("23", "三十二", "FN"),
        ("2", "两", "TN"), ("-5", "负五", "TN"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("benchmark", ["own", "jeebench"])
def test_integers(benchmark: str, reference: str, submitted: str, accepted: str) -> None:
    assert accepts(reference, submitted, accepted, benchmark=benchmark, answer_format="integer")


@pytest.mark.parametrize(
    ("reference", "submitted", "accepted"),
    [
        ("3.5", "3.51", "T"), ("3.5", "3.49", "T"), ("3.5", "3.511", "F"), ("3.5", "3.489", "F"),
        ("3.5", "3.6", "F"), ("3.5", "7/2", "T"), ("1.67", "5/3", "T"), ("1.66", "5/3", "T"),
        ("1.65", "5/3", "F"), ("-0.4", "-2/5", "T"), ("-0.4", "2/5", "F"), ("0.4", "0.41", "T"),
        ("0.4", "0.42", "F"), ("0.69", "ln 2", "T"), ("0.69", r"\ln 2", "T"),
        ("1.41", r"\sqrt{2}", "T"), ("1.73", r"\sqrt{2}", "F"), ("6", "6.00", "T"),
        ("100.00", "100", "T"), ("3.5", "3,5", "N"), ("3.5", "350%", "NTF"), ("0.33", "1/3", "T"),
        ("8500", "8500.01", "T"), ("8500", "8501", "F"), ("0.16", "0.15", "T"),
        ("0.16", "0.149", "F"), ("2.35", "2.36 m", "TN"),
    ],
)  # fmt: skip
def test_jeebench_tolerance(reference: str, submitted: str, accepted: str) -> None:
    assert accepts(reference, submitted, accepted, benchmark="jeebench")


@pytest.mark.parametrize(
    ("reference", "submitted", "accepted"),
    [
        ("240", "2.4*10**2", "T"), ("240", "2.4*10^2", "T"), ("240", "2.4e2", "T"),
        ("240", "2.4E2", "T"), ("240", "2.4E+02", "T"), ("240", "2.4·10²", "T"),
        ("240", "2.4×10^2", "T"), ("240", "2.4 x 10^2", "T"), ("240", r"2.4 \times 10^{2}", "T"),
        ("240", r"$2.4\times10^2$", "T"), ("240", "240.0", "T"), ("240", "+240", "T"),
        ("240", "240.", "T"), ("240", "≈ 240", "T"), ("240", "~240", "T"),
        ("240", "approx. 240", "T"), ("240", "about 240", "T"), ("240", r"\approx 240", "T"),
        ("240", "approximately 240", "T"), ("240", "= 240", "T"), ("240", "x = 240", "T"),
        ("240", "480/2", "T"), ("240", r"\frac{480}{2}", "T"), ("240", "24", "F"),
        ("240", "2400", "F"), ("240", "-240", "F"), ("240", "2.4e3", "F"),
        ("240", "2.4×10^{-2}", "F"), ("0.25", ".25", "T"), ("0.25", "0.250", "T"),
        ("0.25", "1/4", "T"), ("0.25", "¼", "T"), ("0.25", "25e-2", "T"), ("0.25", "2.5", "F"),
        ("-0.25", "−0.25", "T"), ("-0.25", "-.25", "T"), ("0.002", "2 × 10⁻³", "T"),
        ("0.002", "2×10^-3", "T"), ("3.5", "3½", "T"), ("1200000", "1.2 million", "TN"),
        ("12345.6", "12,345.6", "T"), ("12345.6", "12 345.6", "TN"), ("240", "240 units", "TN"),
        ("240", r"\boxed{240}", "T"), ("240", "**240**", "T"), ("240", "240 J", "TN"),
        ("240", "between 230 and 250", "NF"), ("240", "230-250", "NF"),
        ("240", "230 to 250", "NF"), ("240", "[230, 250]", "NF"), ("240", r"240 \pm 5", "NFT"),
        ("240", "> 240", "NF"), ("240", "at least 240", "NF"), ("240", "240 or 250", "NF"),
        ("240", "less than 250", "NF"), ("240", "(230, 250)", "NF"), ("240", "230–250", "NF"),
        ("240", "from 230 to 250", "NF"), ("240", "230 < x < 250", "NF"), ("240", "nan", "NF"),
        ("240", "inf", "NF"), ("240", "-inf", "NF"), ("240", "Infinity", "NF"),
        ("240", "1e400", "FN"), ("240", "1e-400", "FN"), ("nan", "nan", "N"), ("NaN", "NaN", "N"),
        ("inf", "inf", "NT"), ("nan", "0", "N"), ("240", "∞", "NF"),
        ("240", "1e999999999999", "NF"), ("240", "", "N"), ("240", "two hundred forty", "NT"),
        ("240", "none", "N"), ("240", "__import__('os')", "NF"), ("240", "9^{9^{9^{9}}}", "NF"),
        ("240", "(10^9)!", "NF"),
    ],
)  # fmt: skip
def test_number_formats(reference: str, submitted: str, accepted: str) -> None:
    assert accepts(reference, submitted, accepted)


@pytest.mark.parametrize(
    ("reference", "submitted", "accepted"),
    [
        ("200", "210", "T"), ("200", "190", "T"), ("200", "189", "F"), ("200", "212", "F"),
        ("200", "220", "F"), ("200", "0", "F"), ("0", "0", "T"), ("0", "0.0", "T"),
        ("0", "0.001", "FN"), ("0", "1", "F"), ("-5", "-5.2", "T"), ("-5", "5", "F"),
        ("+3.60", "3.6", "T"), (" -194", "-194", "T"), ("−2", "-2", "T"), ("−2", "2", "F"),
        ("1.95 ", "1.95", "T"), ("89,034.79", "89034.79", "T"), ("89,034.79", "89,034.79", "T"),
        ("89,034.79", "89", "F"), ("89,034.79", "34.79", "F"), ("89,034.79", "89000", "T"),
        ("1e-5", "0.00001", "T"), ("1e-5", "0", "F"), ("1e-5", "2e-5", "F"),
    ],
)  # fmt: skip
def test_scibench_tolerance(reference: str, submitted: str, accepted: str) -> None:
    assert accepts(reference, submitted, accepted, benchmark="scibench")


HERTZ, JOULE_SECOND = r"$10^{13} \mathrm{~Hz}$ ", "10^{-34} J s"
KELVIN_MOLE = r"$\mathrm{J} \mathrm{K}^{-1} \mathrm{~mol}^{-1}$"


@pytest.mark.parametrize(
    ("unit", "reference", "submitted", "accepted"),
    [
        (HERTZ, "7.42", "7.42e13", "T"), (HERTZ, "7.42", "7.42E13", "T"),
        (HERTZ, "7.42", "7.42 x 10^13", "T"), (HERTZ, "7.42", "7.42×10¹³", "T"),
        (HERTZ, "7.42", r"7.42 \times 10^{13}", "T"),
        (HERTZ, "7.42", r"7.42 \times 10^{13}\ \text{Hz}", "T"),
        (HERTZ, "7.42", "7.42e13 Hz", "T"), (HERTZ, "7.42", "74.2e12 Hz", "T"),
        (HERTZ, "7.42", "7.42*10**13", "T"), (HERTZ, "7.42", "7.42·10^13 s^-1", "TN"),
        (HERTZ, "7.42", "74.2 THz", "TN"), (HERTZ, "7.42", "0.742e14", "T"),
        (HERTZ, "7.42", "74200000000000", "T"), (HERTZ, "7.42", "74,200,000,000,000", "T"),
        (HERTZ, "7.42", "7.42", "T"), (HERTZ, "7.42", "7.4", "T"), (HERTZ, "7.42", "8.42", "F"),
        (HERTZ, "7.42", "7.42e-13", "F"), (HERTZ, "7.42", "7.42e12", "F"),
        (HERTZ, "7.42", "7.42e14 Hz", "F"), (HERTZ, "7.42", "74.2", "F"),
        (HERTZ, "7.42", "7.42 Hz", "NF"),
        (HERTZ, "7.42", r"\nu = 7.42 \times 10^{13} \text{ Hz}", "T"),
        (HERTZ, "7.42", "7.42 THz", "FN"),
        (JOULE_SECOND, "6.6", r"6.6 \times 10^{-34}\ \mathrm{J\,s}", "T"),
        (JOULE_SECOND, "6.6", r"6.6 \times 10^{-34}\ \mathrm{J \cdot s}", "T"),
        (JOULE_SECOND, "6.6", "6.6e-34", "T"), (JOULE_SECOND, "6.6", "6.6e-34 J*s", "T"),
        (JOULE_SECOND, "6.6", "6.6", "T"), (JOULE_SECOND, "6.6", "0", "F"),
        (JOULE_SECOND, "6.6", "6.6e34", "F"), (JOULE_SECOND, "6.6", "1e-40", "F"),
        (JOULE_SECOND, "6.6", "6.6e-33", "F"), (" $10^6$", "4.7", "4.7e6", "T"),
        (" $10^6$", "4.7", "4.7", "T"), (" $10^6$", "4.7", "4,700,000", "T"),
        (" $10^6$", "4.7", "4.7 million", "TN"), (" $10^6$", "4.7", "4.7 billion", "FN"),
        (" $10^6$", "4.7", "4.7e5", "F"), (" $10^6$", "4.7", r"4.7 \times 10^{6}", "T"),
        (r" $10^{-3} \%$", "2.3", "0.0023%", "TN"),
        (r" $10^{-3} \%$", "2.3", r"2.3 \times 10^{-3} \%", "TN"),
        (r" $10^{-3} \%$", "2.3", "2.3", "T"), (r" $10^{-3} \%$", "2.3", "2.3%", "NF"),
        (r" $10^{-3} \%$", "2.3", "0.0023", "TN"), (r" $10^{-3} \%$", "2.3", "2.3e-5", "NT"),
        (r" $10^{-3} \%$", "2.3", "23", "F"), (r"$\mathrm{m}^2$", "3.1", "3.1 m^2", "T"),
        (r"$\mathrm{m}^2$", "3.1", "3.1 m²", "T"), (r"$\mathrm{m}^2$", "3.1", "3.1", "T"),
        (r"$\mathrm{m}^2$", "3.1", r"3.1 \text{ m}^2", "T"),
        (r"$\mathrm{m}^2$", "3.1", "3.1 square meters", "TN"),
        (r"$\mathrm{m}^2$", "3.1", "31000 cm^2", "TN"),
        (r"$\mathrm{m}^2$", "3.1", "3.1 cm^2", "FN"), (r"$\mathrm{m}^2$", "3.1", "3.1 m", "FN"),
        (r"$\mathrm{m}^2$", "3.1", "3.1 kg", "FN"),
        (KELVIN_MOLE, "8.3", "8.3 J K^{-1} mol^{-1}", "T"),
        (KELVIN_MOLE, "8.3", "8.3 J/(mol K)", "T"), (KELVIN_MOLE, "8.3", "8.3 J/K/mol", "T"),
        (KELVIN_MOLE, "8.3", "8.3 J/mol·K", "TN"),
        (KELVIN_MOLE, "8.3", r"8.3\ \mathrm{J\,mol^{-1}\,K^{-1}}", "T"),
        (KELVIN_MOLE, "8.3", "8.3", "T"), (KELVIN_MOLE, "8.3", "0.0083 kJ/(mol K)", "TN"),
        (KELVIN_MOLE, "8.3", "8.3 kJ/(mol K)", "FN"),
        (KELVIN_MOLE, "8.3", "9.3 J K^{-1} mol^{-1}", "F"),
        (KELVIN_MOLE, "8.3", "8.3 J·K⁻¹·mol⁻¹", "T"), (r"$\mathrm{kJ}$", "0.45", "450 J", "TN"),
        (r"$\mathrm{kJ}$", "0.45", "0.45 kJ", "T"), (r"$\mathrm{kJ}$", "0.45", "450 kJ", "F"),
        (r"$\mathrm{kJ}$", "0.45", "0.45 J", "FN"), ("m/s", "6.5", "6.5 km/s", "FN"),
        ("m/s", "6.5", "6.5 m/s", "T"), ("m/s", "6.5", "6.5 m s^{-1}", "T"),
        ("m/s", "6.5", "0.0065 km/s", "TN"), ("m/s", "6.5", "23.4 km/h", "TN"),
        ("m/s", "6.5", r"6.5\ \frac{\text{m}}{\text{s}}", "TN"), ("km", "6.5", "6500 m", "TN"),
        ("km", "6.5", "6500", "FN"), (" %", "45", "45%", "T"), (" %", "45", "45", "T"),
        (" %", "45", r"45\%", "T"), (" %", "45", "45 percent", "T"), (" %", "45", "0.45", "NTF"),
        (" %", "45", "4.5", "F"), (" %", "45", "0.45%", "FN"), (r"$^\circ$", "37", "37°", "T"),
        (r"$^\circ$", "37", "37 degrees", "T"), (r"$^\circ$", "37", r"37^\circ", "T"),
        (r"$^\circ$", "37", r"37^{\circ}", "T"), (r"$^\circ$", "37", "37", "T"),
        (r"$^\circ$", "37", "0.646 rad", "TN"), (r"$^\circ$", "37", "37 rad", "FN"),
        (r"$^{\circ} \mathrm{C}$", "25", "25 °C", "T"),
        (r"$^{\circ} \mathrm{C}$", "25", r"25^\circ \mathrm{C}", "T"),
        (r"$^{\circ} \mathrm{C}$", "25", "298 K", "NT"),
        (r"$^{\circ} \mathrm{C}$", "25", "77 °F", "NT"), (r" $\$$", "1200", r"\$1200", "T"),
        (r" $\$$", "1200", "$1,200", "T"), (r" $\$$", "1200", "1200 dollars", "TN"),
        (r"$\mathrm{ft-lb}$", "30", "30 ft-lb", "T"),
        (r"$\mathrm{ft-lb}$", "30", "30 ft·lb", "TN"), ("years ", "5", "5 years", "T"),
        ("years ", "5", "5 yr", "T"), ("years ", "5", "60 months", "NT"),
        (r"$\mu \mathrm{C}$ ", "3", "3 μC", "T"),
        (r"$\mu \mathrm{C}$ ", "3", r"3\ \mu\mathrm{C}", "T"),
        (r"$\mu \mathrm{C}$ ", "3", "3e-6 C", "TN"), (r"$\mu \mathrm{C}$ ", "3", "3 C", "FN"),
        (" $10^{16}$ photons", "2", "2e16 photons", "TN"),
        (" $10^{16}$ photons", "2", "2e16", "T"), (" $", "4", "4", "T"), ("", "4", "4", "T"),
        (r" $\Omega$", "4", "4 Ω", "T"), (r" $\Omega$", "4", "4 ohms", "TN"),
        (r" $Å$", "4", "4 Å", "T"), (r" $Å$", "4", "0.4 nm", "TN"),
        (r" $\text{day}^{-1}$", "4", "4 day^{-1}", "T"), ("min", "4", "4 min", "T"),
        ("min", "4", "240 s", "TN"), (r"$\mathrm{eV}$", "4", "4 eV", "T"),
        (r"$\mathrm{eV}$", "4", "6.4e-19 J", "TN"),
    ],
)  # fmt: skip
def test_units_and_factors(unit: str, reference: str, submitted: str, accepted: str) -> None:
    assert accepts(reference, submitted, accepted, benchmark="scibench", unit=unit)


@pytest.mark.parametrize(
    ("submitted", "accepted"),
    [
        ("7.42", "F"), ("7.42e13", "T"), ("7.42e13 Hz", "T"), ("7.42 x 10^13", "T"), ("7.4", "F"),
        ("7.42 Hz", "F"), ("74.2 THz", "TN"), ("7.42e-13", "F"),
    ],
)  # fmt: skip
def test_factor_that_the_prompt_hides_belongs_to_the_answer(submitted: str, accepted: str) -> None:
    assert accepts(
        "7.42", submitted, accepted, benchmark="scibench", unit=HERTZ, prompt_shows_factor=False
    )


@pytest.mark.parametrize(
    ("reference", "submitted", "accepted"),
    [
        ("610 TO 624", "610", "T"), ("610 TO 624", "624", "T"), ("610 TO 624", "617.3", "T"),
        ("610 to 624", "609.99", "F"), ("610 to 624", "625", "F"), ("610 TO 624", "6.17e2", "T"),
        ("610 TO 624", "6.17 × 10^2", "T"), ("610 TO 624", "617 MPa", "TN"),
        ("610 TO 624", "0.617 GPa", "NT"), ("610 TO 624", "approximately 617", "T"),
        ("610 TO 624", "1234/2", "T"), ("610 TO 624", r"\boxed{617}", "T"),
        ("610 TO 624", "-617", "F"), ("610 TO 624", "6170", "F"), ("610 TO 624", "61.7", "F"),
        ("610 TO 624", "610 624", "NF"), ("610 TO 624", "610 to 624", "NF"),
        ("610 TO 624", "610-624", "NF"), ("610 TO 624", "between 610 and 624", "NF"),
        ("610 TO 624", "610 : 624", "NF"), ("610 TO 624", "", "N"), ("610 TO 624", "A", "N"),
        ("5.20 : 5.60", "5.4", "T"), ("5.20 : 5.60", "5.2", "T"), ("5.20 : 5.60", "5.7", "F"),
        ("420 : 420", "420", "T"), ("420 : 420", "420.0", "T"), ("420 : 420", "421", "F"),
        ("-1620 TO -1580", "-1600", "T"), ("-1620 TO -1580", "1600", "F"),
        (" -1620 TO -1580", "−1600", "T"), ("-1620 TO -1580", "-1630", "F"),
        ("-24.00 TO -23.50", "-23.7", "T"), ("-24.00 TO -23.50", "23.7", "F"),
        ("-0.50 TO -0.60", "-0.55", "T"), ("0.31 TO 0.35 OR -0.35 TO -0.31", "0.33", "T"),
        ("0.31 TO 0.35 OR -0.35 TO -0.31", "-0.33", "T"),
        ("0.31 TO 0.35 OR -0.35 TO -0.31", "0.3", "F"),
        ("0.31 TO 0.35 OR -0.35 TO -0.31", "0", "F"), ("510 T0 510", "510", "TN"),
        ("155.0 T0 165.0", "160", "TN"), ("155.0 T0 165.0", "170", "FN"),
        ("27O TO 282", "275", "TN"), ("27O TO 282", "290", "FN"), ("27O TO 282", "27", "FN"),
        ("2O TO 3O", "25", "TN"), ("0.0020 TO 0.0060", "0.4%", "TN"),
        ("0.0020 TO 0.0060", "4%", "FN"), ("0.0020 TO 0.0060", "4e-3", "T"),
        ("22250 TO 22350", "2.23 × 10^4", "T"), ("9600 to 9800 ", "9,700", "T"),
        ("Marks to all ", "3", "N"), ("MARKS TO ALL", "610", "N"), ("15", "15", "T"),
        ("15", "15.0", "T"), ("15", "15.3", "NF"), ("15", "20", "F"), ("15 TO 15", "15", "T"),
        ("15 TO 15", "15.1", "F"), ("4.3 TO 4.3", "4.3", "T"), ("840000", "8.4 × 10^5", "T"),
        ("840000", "840,000", "T"), ("52-54%", "53%", "T"), ("52-54%", "53", "TN"),
        ("52-54%", "0.53", "NTF"), ("52-54%", "55%", "F"), ("52-54%", "-54", "F"),
        ("52-54", "53", "T"), ("52-54", "-54", "F"), ("52-54", "-2", "F"), ("52 - 54", "53", "T"),
        ("52–54", "53", "T"), ("52-54", "52", "T"), ("-54--52", "-53", "TN"),
        ("-54 - -52", "-53", "TN"), ("-54 to -52", "53", "F"),
    ],
)  # fmt: skip
def test_mascqa_ranges(reference: str, submitted: str, accepted: str) -> None:
    assert accepts(reference, submitted, accepted, benchmark="mascqa")


def test_targets_are_exact() -> None:
    (target,) = parse_targets("0.1 TO 0.3")
    assert (target.low * 10, target.high * 10) == (1, 3)
    assert parse_targets("some words") == ()


def test_units_have_one_meaning() -> None:
    assert parse_unit("J/(K mol)") == parse_unit("J K^{-1} mol^{-1}") == parse_unit("J/K/mol")
    assert parse_unit("N m") == parse_unit("J") == parse_unit("W s")
    assert parse_unit("J/K mol") is None  # two readings
    assert parse_unit("entropy points") is None
    assert parse_unit("kJ") != parse_unit("J")
