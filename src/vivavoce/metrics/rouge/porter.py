"""The Porter stemmer as NLTK runs it by default (mode NLTK_EXTENSIONS), which is what `rouge-score` uses.

Written out here because importing NLTK costs 2.4 CPU seconds a process where SciPy and scikit-learn are installed, which is
more than grading a whole file of answers takes, and because a stem costs half the time. Source: M. F. Porter, "An algorithm
for suffix stripping" (1980), with the departures of `nltk/stem/porter.py` (3.9.1 to 3.10.4) marked below. Tests compare the
two on every word of the published answers and on random words.
"""

from __future__ import annotations

# NLTK: words that the rules would spoil.
_IRREGULAR = {
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "innings": "inning",
    "outings": "outing",
    "cannings": "canning",
    **{word: word for word in ("sky", "news", "inning", "outing", "canning", "howe", "proceed", "exceed", "succeed")},
}

# Suffix and replacement; the first suffix that fits decides, whether its condition holds or not.
_STEP_2 = (
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),  # NLTK
)
_STEP_3 = (
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
)
_STEP_4 = (
    *("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion"),
    *("ou", "ism", "ate", "iti", "ous", "ive", "ize"),
)

_CLASSES = str.maketrans(
    {character: "v" if character in "aeiou" else "c" for character in "abcdefghijklmnopqrstuvwxyz0123456789"}
)


def stem(word: str) -> str:
    """Stem a lower-case word of a-z and 0-9. `rouge-score` stems words of more than three characters only."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_step_1a, _step_1b, _step_1c, _step_2, _step_3, _step_4, _step_5):
        word = step(word)
    return word


def _classes(word: str) -> str:
    """`c` or `v` for each character; y is a vowel after a consonant."""
    if "y" not in word:
        return word.translate(_CLASSES)
    classes = ""
    for character in word:
        if character == "y" and classes[-1:] == "c":
            classes += "v"
        else:
            classes += "v" if character in "aeiou" else "c"
    return classes


def _measure(word: str) -> int:
    """How often a consonant follows a vowel: Porter's m."""
    return _classes(word).count("vc")


def _ends_cvc(word: str) -> bool:
    """Porter's *o: consonant, vowel, consonant other than w, x, y at the end; NLTK: or a whole word of vowel, consonant."""
    classes = _classes(word)
    return (classes.endswith("cvc") and word[-1] not in "wxy") or classes == "vc"


def _step_1a(word: str) -> str:
    if word.endswith("ies"):
        return word[:-1] if len(word) == 4 else word[:-2]  # NLTK: flies, but dies -> die
    if word.endswith("sses"):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _step_1b(word: str) -> str:
    if word.endswith("ied"):
        return word[:-1] if len(word) == 4 else word[:-2]  # NLTK
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix) and "v" in _classes(word[: -len(suffix)]):
            return _mend(word[: -len(suffix)])
    return word


def _mend(word: str) -> str:
    """What is left after -ed or -ing gets its e back, or loses a doubled consonant."""
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    classes = _classes(word)
    if len(word) >= 2 and word[-1] == word[-2] and classes[-1] == "c":
        return word if word[-1] in "lsz" else word[:-1]
    return word + "e" if classes.count("vc") == 1 and _ends_cvc(word) else word


def _step_1c(word: str) -> str:
    # NLTK: y becomes i after a consonant that is not the whole stem.
    if word.endswith("y") and len(word) > 2 and _classes(word[:-1])[-1] == "c":
        return word[:-1] + "i"
    return word


def _step_2(word: str) -> str:
    while word.endswith("alli") and _measure(word[:-4]):  # NLTK: and once more from the top
        word = word[:-2]
    for suffix, replacement in _STEP_2:
        if word.endswith(suffix):
            return word[: -len(suffix)] + replacement if _measure(word[: -len(suffix)]) else word
    if word.endswith("logi"):  # NLTK: the l counts as part of the stem
        return word[:-1] if _measure(word[:-3]) else word
    return word


def _step_3(word: str) -> str:
    for suffix, replacement in _STEP_3:
        if word.endswith(suffix):
            return word[: -len(suffix)] + replacement if _measure(word[: -len(suffix)]) else word
    return word


def _step_4(word: str) -> str:
    for suffix in _STEP_4:
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if _measure(rest) > 1 and (suffix != "ion" or rest[-1] in "st"):
                return rest
            return word
    return word


def _step_5(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        m = _measure(rest)
        if m > 1 or (m == 1 and not _ends_cvc(rest)):
            word = rest
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        return word[:-1]
    return word
