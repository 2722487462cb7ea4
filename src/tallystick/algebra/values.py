"""What a text stands for: numbers, dates, truth values, telephone numbers and JSON, as people and language models spell them.

    read_number("1.234,50 €")        1234.5, EUR
    read_date("3rd of April 2024")   3 April 2024
    boolean("ja"), phone("(030) 901820"), json('{"a": 1}')

A spelling may be read in two ways: "1,234" is 1234 where the point is decimal and 1.234 where the comma is; 03/04/2024 is in April or in
March. So everything is read under each *convention*, and two values are equal if one convention makes them equal. Whoever says which
convention holds (`parse: de`, `dayfirst: true`) leaves one. What cannot be read at all is compared as text.

Why there is so little help from libraries in here. price-parser loses signs ("-5" is 5), reads "1234.500" as a million and "v1.2" as
1.2; babel's `parse_decimal` takes neither currencies nor signs behind; dateutil turns 2024-04-03 into March with `dayfirst`, and knows
English only; dateparser reads 20240403 not at all, 2024-W14-3 as 14 March, and takes 2 ms a text. dateutil is right where a month is a
word, or a time follows; babel knows the marks and months of other languages; phonenumbers has no rival.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
import unicodedata
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tallystick.algebra.node import DELTA, Kernel, Similarity, options_of, require
from tallystick.algebra.text import plain_text
from tallystick.engine.arrays import Blocks, Codes, Numbers, Pairs
from tallystick.engine.data import Data, Scope, different_values
from tallystick.engine.values import Unfit, fields_of, freeze, number_values
from tallystick.errors import MetricError, did_you_mean
from tallystick.files.json_values import NotJson, decode
from tallystick.frozen import frozen

if TYPE_CHECKING:
    from random import Random

EXTRA = 'pip install "tallystick[values]"'
TWO_READINGS = "ambiguous, and right if either reading is (parse: en or dayfirst: true says which)"
NO_READING = "not understood in the reference, and compared as text"

# Numbers.

_SIGNS = {ord(sign): "-" for sign in "−–﹣－‐‑"} | {ord("’"): "'", ord("٫"): ".", ord("٬"): ","}
_NUMBER = re.compile(
    r"(?P<before>[^\d.,+-]*)(?P<sign>[-+]?)\s*(?P<mark>[^\d.,+-]*?)\s*"
    r"(?P<digits>\d[\d.,' _]*\d|\d|[.,]\d+)[.,]?(?P<power>[eE][-+]?\d+)?(?P<after>.*)",
    re.DOTALL,
)
_CURRENCIES = {
    "€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW", "₺": "TRY", "₴": "UAH", "₪": "ILS", "฿": "THB",
    "₫": "VND", "zł": "PLN", "kč": "CZK", "kr": "KR", "r$": "BRL", "us$": "USD", "ca$": "CAD", "c$": "CAD", "a$": "AUD", "au$": "AUD",
    "nz$": "NZD", "hk$": "HKD", "s$": "SGD", "sfr": "CHF", "fr": "CHF", "rs": "INR", "euro": "EUR", "euros": "EUR", "dollar": "USD",
    "dollars": "USD", "pound": "GBP", "pounds": "GBP", "yen": "JPY", "rmb": "CNY", "yuan": "CNY",
}  # fmt: skip
_ISO_4217 = (
    "AED ARS AUD BGN BRL CAD CHF CLP CNY COP CZK DKK EGP EUR GBP HKD HUF IDR ILS INR ISK JPY KES KRW MAD MXN MYR NGN NOK NZD PEN PHP PKR "
    "PLN QAR RON RSD RUB SAR SEK SGD THB TRY TWD UAH USD VND ZAR"
)
_CODES = frozenset(_ISO_4217.split())
_SCALES = {
    "thousand": 3, "tsd": 3, "million": 6, "millions": 6, "millionen": 6, "mio": 6, "mn": 6, "mln": 6, "billion": 9, "billions": 9, "bn": 9,
    "mrd": 9, "milliarden": 9, "milliard": 9, "milliards": 9, "trillion": 12,
}  # fmt: skip
_LETTERS = {"k": 3, "K": 3, "M": 6, "B": 9}
"""Scales that stand right behind the digits only."""
_PERCENT = {"%": -2, "percent": -2, "pct": -2, "prozent": -2, "‰": -3}


_DIGIT = re.compile("[0-9]")


class Read(NamedTuple):
    """A number that was read: its value under each convention, and what stands beside it."""

    values: tuple[float, ...]
    currency: str = ""
    unit: str = ""


def read_number(text: str, decimals: str = ".,", percent: str = "either") -> Read | None:
    """The number that a text spells, under each convention: a decimal point or comma, a percentage as a fraction or as points."""
    found = _parse_number(text)
    if found is None:
        return None
    sign, spelled, exponent, (power, hundreds, currency, unit) = found
    digits = dict(zip(".,", spelled, strict=True))
    fraction, points = power + hundreds, power + (hundreds and hundreds + 2)
    values = _scaled(
        [f"{sign}{digits[mark]}{exponent}" for mark in decimals],
        {"either": (fraction, points), "fraction": (fraction,)}.get(percent, (points,)),
    )
    return Read(values, currency, unit) if all(map(math.isfinite, values)) else None


@lru_cache(maxsize=1 << 14)
def _parse_number(text: str) -> tuple[str, list[str | None], str, tuple[int, int, str, str]] | None:
    """The sign, the digits under each convention, the exponent and the words beside a number, whatever is made of them then."""
    if has_no_digit(text):
        return None
    text = _with_plain_digits(text)
    if not any(map(str.isdigit, text)):
        return None
    bare = re.fullmatch(r"(\D*)\(([^()]*\d[^()]*)\)(\D*)", text)
    negative = bare is not None  # (1,200) is how accountants write -1,200
    text = "".join(bare.groups()) if bare is not None else text
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    after = found["after"]
    if text[: -len(after) or None].endswith((",", ".")):
        after = re.sub(r"^-{1,2}(?=\s|$)", "", after)  # 5,- is 5
    if after.endswith("-") and not found["sign"]:
        negative, after = True, after[:-1]
    words = _words_beside(f"{found['before']} {found['mark']}", after)
    if words is None or (negative and found["sign"] == "-"):
        return None
    spelled = _spelled(found["digits"], grouped=not found["power"])
    if spelled == [None, None]:
        return None
    return "-" if negative or found["sign"] == "-" else "", spelled, found["power"] or "", words


def _with_plain_digits(text: str) -> str:
    """A text with the signs and digits of other scripts as ASCII has them."""
    text = plain_text(text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_SIGNS))
    if text.isascii():
        return text
    return "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else c for c in text)


def _scaled(numbers: Sequence[str], powers: Sequence[int]) -> tuple[float, ...]:
    """Each number times each power of ten, exact until it is a float."""
    with decimal.localcontext(decimal.Context(prec=60, traps=[])):
        return tuple(float(decimal.Decimal(one).scaleb(power)) for power in powers for one in numbers)


def has_no_digit(text: str) -> bool:
    """Whether it is plain to see that a text has no digit; other scripts and forms have their own."""
    return text.isascii() and _DIGIT.search(text) is None


def english_number(text: str) -> bool:
    """Whether a text can be read as a number with a decimal point."""
    found = _NUMBER.fullmatch(plain_text(unicodedata.normalize("NFKC", text).translate(_SIGNS)).strip("()"))
    return found is not None and _plain_digits(found["digits"], ".") is not None


def magnitude(value: Any) -> Any:
    """A number without its sign, also of a text that spells one; anything else as it is.

    >>> ts.magnitude(-12.5), ts.magnitude("(1,200)"), ts.magnitude("n/a")
    (12.5, 1200.0, 'n/a')
    """
    if isinstance(value, str):
        found = read_number(value)
        return value if found is None else abs(found.values[0])
    return abs(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _spelled(digits: str, grouped: bool) -> list[str | None]:
    """The digits if the decimal mark is a point, and if it is a comma, as far as they can be. In 1.234e3 nothing is grouped."""
    marks = [mark for mark in ".," if grouped or mark in digits or digits.isdigit()]
    point, comma = (_plain_digits(digits, mark) if mark in marks else None for mark in ".,")
    return [point or comma, comma or point]


def _plain_digits(digits: str, decimal_mark: str) -> str | None:
    """The digits as Python writes them, if they are a number where this mark is the decimal one."""
    whole, _, fraction = digits.partition(decimal_mark)
    if not re.fullmatch(r"\d*", fraction):
        return None
    marks = set(re.findall(r"\D", whole))
    groups = re.split(r"\D", whole)
    if len(marks) > 1 or (len(groups) > 1 and not _are_groups(groups)):
        return None
    return f"{''.join(groups) or '0'}.{fraction or '0'}"


def _are_groups(groups: list[str]) -> bool:
    """Whether digits stand in groups: by three (1,234,567), or as in India (12,34,567)."""
    first, *middle, last = groups
    if not 1 <= len(first) <= 3 or first.startswith("0") or len(last) != 3:
        return False
    return all(len(one) == 3 for one in middle) or (len(first) < 3 and all(len(one) == 2 for one in middle))


def _words_beside(before: str, after: str) -> tuple[int, int, str, str] | None:
    """What stands beside the digits: powers of ten, those of a percentage, a currency and a unit; None if it is something else."""
    power, hundreds, currency, unit = 0, 0, "", ""
    if after[:1] in _LETTERS and (len(after) == 1 or not after[1].isalpha()):
        power, after = _LETTERS[after[0]], after[1:]
    before_words = before.split()
    for k, word in enumerate((*before_words, *re.findall(r"[^\W\d]\w*\.?|[€$£¥₹₽₩₺₴₪฿₫%‰][^\s\w]*|\S+", after))):
        plain = word.casefold().rstrip(".")
        code = _CURRENCIES.get(plain) or (word if word in _CODES else "")
        if plain in _PERCENT and not hundreds:
            hundreds = _PERCENT[plain]
        elif code and not currency:
            currency = code
        elif k >= len(before_words) and plain in _SCALES and not power:
            power = _SCALES[plain]
        elif k >= len(before_words) and not unit and re.fullmatch(r"[^\W\d_][\w²³°/·]*|°\w?|[\"'′″]", word.rstrip(".")):
            unit = plain
        else:
            return None
    return power, hundreds, currency, unit


def decimal_marks(parse: str) -> str:
    """The conventions that hold for numbers: the decimal marks."""
    if parse == "auto":
        return ".,"
    if parse in ("point", "comma"):
        return "." if parse == "point" else ","
    mark: str = _locale(parse, "number").number_symbols["latn"]["decimal"]
    return mark if mark in ".," else "."


def _locale(name: str, what: str) -> Any:
    try:
        from babel import Locale, UnknownLocaleError
    except ImportError:
        raise MetricError(
            f"{what}(parse={name!r}) needs babel, which knows how a {what} is written there: {EXTRA}; "
            f'"auto" needs nothing'
        ) from None
    try:
        return Locale.parse(name.replace("-", "_"))
    except (UnknownLocaleError, ValueError, TypeError):
        raise MetricError(
            f'{what}(): parse must be "auto" or a language such as en, de or de_CH, found {name!r}'
        ) from None


# Dates.

PRECISIONS = ("year", "month", "day", "hour", "minute", "second")
_YEAR, _MONTH, _DAY = 1, 2, 3
_MONTHS = (
    "january januar jänner janvier enero gennaio janeiro januari", "february februar février febrero febbraio fevereiro februari",
    "march märz mars marzo março maart mrt", "april avril abril aprile", "may mai mayo maggio maio mei",
    "june juni juin junio giugno junho", "july juli juillet julio luglio julho", "august août agosto augustus",
    "september septembre septiembre setiembre settembre setembro", "october oktober octobre octubre ottobre outubro",
    "november novembre noviembre novembro", "december dezember décembre diciembre dicembre dezembro",
)  # fmt: skip
"""In English, German, French, Spanish, Italian, Portuguese and Dutch; what they begin with, too, where it is clear."""
_WEEKDAYS = (
    "montag lundi lunes lunedì segunda-feira maandag", "dienstag mardi martes martedì terça-feira dinsdag",
    "mittwoch mercredi miércoles mercoledì quarta-feira woensdag", "donnerstag jeudi jueves giovedì quinta-feira donderdag",
    "freitag vendredi viernes venerdì sexta-feira vrijdag", "samstag sonnabend samedi sábado sabato zaterdag",
    "sonntag dimanche domingo domenica zondag",
)  # fmt: skip
_SMALL_WORDS = (
    "de",
    "del",
    "den",
    "der",
    "dem",
    "le",
    "el",
    "il",
    "the",
    "er",
    "of",
    "em",
    "am",
    "on",
    "d",
    "'",
    "º",
    "ª",
    "°",
    "do",
)
_NUMERIC = re.compile(
    r"(?P<a>\d{1,4})(?P<mark>[./-]| )(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,4})\.?(?:[T,]?\s*(?P<time>\d{1,2}:.*))?"
)
_ISO = re.compile(
    r"\d{4}(?P<month>-\d\d)?(?P<day>-\d\d)?|\d{8}(?:T?\d{4,6}.*)?|\d{4}-\d\d-\d\d[T ]\d\d.*|\d{4}-?W\d\d(-?\d)?(?P<week>T.*)?"
)
_MONTH_AND_YEAR = re.compile(r"(\d{1,2})[./-](\d{4})")
_EAST = re.compile(r"(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월](?:\s?(\d{1,2})\s?[日일])?")

Moment = tuple[datetime.datetime, int]
"""A point in time, and how much of it was said: the year, the month, or the day and maybe the time."""


@lru_cache(maxsize=1 << 14)
def read_date(text: str, language: str = "", formats: tuple[str, ...] = ()) -> tuple[Moment, Moment] | None:
    """The date that a text spells, if the day comes first and if the month does."""
    if not formats and has_no_digit(text):
        return None
    text = plain_text(unicodedata.normalize("NFKC", text))
    for one in formats:
        try:
            found = datetime.datetime.strptime(text, one), _said_by(one)
        except ValueError:
            continue
        return found, found
    try:
        return _iso_date(text) or _numeric_date(text) or _date_in_words(text, language)
    except (ValueError, OverflowError):
        return None


def _said_by(format_: str) -> int:
    directives = set(re.findall(r"%-?(\w)", format_))
    if directives & set("djcxDFsu"):
        return _DAY
    return _MONTH if directives & set("mbB") else _YEAR


def _iso_date(text: str) -> tuple[Moment, Moment] | None:
    shape = _ISO.fullmatch(text)
    if shape is None:
        return None
    from dateutil.parser import isoparser

    said = _DAY
    if re.fullmatch(r"\d{4}(-\d\d)?", text):
        said = _MONTH if shape["month"] else _YEAR
    try:
        found = isoparser().isoparse(text.replace(" ", "T", 1).replace(" ", "")), said
    except ValueError:
        return _date_in_words(text, "") if said == _DAY and ":" in text else None
    return found, found


def _numeric_date(text: str) -> tuple[Moment, Moment] | None:
    east, shape = _EAST.fullmatch(text), _NUMERIC.fullmatch(text)
    if east is not None:
        year, month, day = east.groups()
        found = _moment(int(year), int(month), int(day or 1)), _DAY if day else _MONTH
        return found, found
    if shape is None:
        only = _MONTH_AND_YEAR.fullmatch(text)
        found = (_moment(int(only[2]), int(only[1]), 1), _MONTH) if only else None  # type: ignore[assignment]
        return (found, found) if only else None
    a, b, c = (shape[name] for name in "abc")
    if len(a) == 4:
        readings = [(a, b, c)] * 2
    elif len(c) in (2, 4) and len(a) < 3:
        year = c if len(c) == 4 else str(2000 + int(c) if int(c) < 69 else 1900 + int(c))
        # Where dates are written with points, the day comes first.
        readings = [(year, b, a), (year, b, a) if shape["mark"] == "." and int(b) <= 12 else (year, a, b)]
    else:
        return None
    moments = [_try(int(year), int(month), int(day), shape["time"]) for year, month, day in readings]
    first, second = moments[0] or moments[1], moments[1] or moments[0]
    return ((first, _DAY), (second, _DAY)) if first and second else None


def _moment(year: int, month: int, day: int, time: str | None = None) -> datetime.datetime:
    if time is None:
        return datetime.datetime(year, month, day)
    from dateutil.parser import parse

    found: datetime.datetime = parse(f"{datetime.date(year, month, day)} {time}", tzinfos=_zone)
    return found


def _try(year: int, month: int, day: int, time: str | None) -> datetime.datetime | None:
    try:
        return _moment(year, month, day, time)
    except ValueError:
        return None


def _zone(name: str | None, offset: int | None) -> Any:
    """A zone by its offset; one that has only a name (EST is two zones) cannot be read."""
    if name is not None and offset is None:
        raise ValueError(name)
    return None if offset is None else datetime.timezone(datetime.timedelta(seconds=offset))


def _date_in_words(text: str, language: str) -> tuple[Moment, Moment] | None:
    """A date whose month is a word. What the text does not say is found out by reading it with two different defaults."""
    if not any(map(str.isalpha, text)) or not any(map(str.isdigit, text)):
        return None  # the year is never a word
    if _says_no_date(text, language):
        return None
    reader = _reader(language)
    try:
        first, second = (
            reader.parse(text, default=datetime.datetime(year, month, day), tzinfos=_zone)
            for year, month, day in ((2000, 1, 1), (2001, 2, 2))
        )
    except (ValueError, OverflowError, TypeError, AttributeError, IndexError, decimal.DecimalException):
        return None  # dateutil raises all of these on some texts
    if first.year != second.year or first.month != second.month:
        return None
    found = first, _DAY if first.day == second.day else _MONTH
    return found, found


_ANY_DIGIT = str.maketrans("012345678", "999999999")


def looks_unreadable(text: str) -> bool:
    """Whether it is plain to see from where the digits of a text are, whichever these are, that it spells no number and no date."""
    return text.isascii() and not has_no_digit(text) and _spells_nothing(text.translate(_ANY_DIGIT))


@lru_cache(maxsize=1 << 14)
def _spells_nothing(text: str) -> bool:
    """The same of a text whose digits are all 9: with others fewer numbers are grouped rightly, and nothing else is asked of a digit
    before a date has the shape of one."""
    if _parse_number(text) is not None:
        return False
    plain = plain_text(text)
    shapes = (_ISO, _EAST, _NUMERIC, _MONTH_AND_YEAR)
    return not any(one.fullmatch(plain) for one in shapes) and _says_no_date(plain, "")


def _says_no_date(text: str, language: str) -> bool:
    """Whether it is plain to see that dateutil will not read a text: no word is known to it, and without a time, which takes a colon, long
    numbers or several of them, an unknown word is no zone either. Beside a single number only a word can say the month."""
    if not text.isascii() or ":" in text:
        return False
    digits = re.findall("[0-9]+", text)
    if len(digits) > 2 or max(map(len, digits), default=0) > 5:
        return False
    months, others = _date_words(language)
    words = re.findall("[a-z]+", text.lower())
    return months.isdisjoint(words) and (len(digits) < 2 or others.isdisjoint(words))


_MONTHS_OF_DATEUTIL = "jan january feb february mar march apr april may jun june jul july aug august sep sept september oct october nov november dec december"
_WORDS_OF_DATEUTIL = (
    "mon monday tue tuesday wed wednesday thu thursday fri friday sat saturday sun sunday at on and ad m t of st nd rd th h hour hours minute "
    "minutes s second seconds am a pm p utc gmt z"
)
"""What it knows by itself; most texts have none of these, and need no dateutil."""


@lru_cache(maxsize=64)
def _date_words(language: str) -> tuple[frozenset[str], frozenset[str]]:
    """Every run of letters in the names of months, and in all other words that mean something in a date."""
    months, weekdays = (chain.from_iterable(names) for names in _months_and_weekdays(language))
    both = (_MONTHS_OF_DATEUTIL, *months), (_WORDS_OF_DATEUTIL, *_SMALL_WORDS, *weekdays)
    of_months, others = (frozenset(re.findall("[a-z]+", " ".join(words).lower())) for words in both)
    return of_months, others


def _months_and_weekdays(language: str) -> tuple[list[set[str]], list[set[str]]]:
    """What each month and each day of the week is called."""
    months = [set(names.split()) for names in _MONTHS]
    starts = [{name[:size] for name in names for size in range(3, len(name))} for names in months]
    for k, begun in enumerate(starts):
        months[k] |= begun.difference(*(other for n, other in enumerate(starts) if n != k))
    weekdays = [set(names.split()) for names in _WEEKDAYS]
    if language:
        locale = _locale(language, "date")
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in locale.months[context][width].items():
                    months[number - 1].add(name.casefold().rstrip("."))
                for number, name in locale.days[context][width].items():
                    weekdays[number].add(name.casefold().rstrip("."))
    return months, weekdays


@lru_cache(maxsize=64)
def _reader(language: str) -> Any:
    from dateutil.parser import parser, parserinfo

    months, weekdays = _months_and_weekdays(language)

    class Info(parserinfo):  # type: ignore[misc]
        JUMP: ClassVar[list[Any]] = [*parserinfo.JUMP, *_SMALL_WORDS]
        MONTHS: ClassVar[list[Any]] = [(*known, *more) for known, more in zip(parserinfo.MONTHS, months, strict=True)]
        WEEKDAYS: ClassVar[list[Any]] = [
            (*known, *more) for known, more in zip(parserinfo.WEEKDAYS, weekdays, strict=True)
        ]

    return parser(Info())


_ENGLISH = re.compile(
    r"(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?|"
    r"(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?|st|nd|rd|th|of|the|on|at|am|pm|t|z|w|utc|gmt)",
    re.IGNORECASE,
)


def english_date(text: str) -> bool:
    """Whether the words in a date, if there are any, are English."""
    return all(_ENGLISH.fullmatch(word) for word in re.findall(r"[^\W\d_]+", text))


def cut(moment: datetime.datetime, precision: str) -> datetime.datetime:
    """A point in time as far as a precision goes, as it was written: before any zone is taken into account."""
    if precision in ("year", "month"):
        return datetime.datetime(moment.year, moment.month if precision == "month" else 1, 1)
    if precision == "day":
        return datetime.datetime(moment.year, moment.month, moment.day)
    zero = {
        "hour": ("minute", "second", "microsecond"),
        "minute": ("second", "microsecond"),
        "second": ("microsecond",),
    }
    return moment.replace(**dict.fromkeys(zero.get(precision, ()), 0))  # type: ignore[arg-type]


# Columns of what was read.

UNREAD = 8
"""The kinds of values that can be read are below; above, every text that cannot be read is a kind of its own."""


class Reading(NamedTuple):
    """A value as it was read: under each convention; what stands beside it, which has to agree if both sides have it; and what
    kind of value it is, which has to be the same. `two` if it could be read in two ways."""

    values: tuple[float, ...]
    beside: tuple[str, ...] = ()
    kind: int = 0
    two: bool = False


def read_columns(
    read: Callable[[Any], Reading | None], reference: Data, predicted: Data, scope: Scope, beside: int = 0
) -> tuple[Numbers, Numbers]:
    """Both sides as they are read, each different value once: a part for each convention, one for each thing beside, and the kind."""
    known: dict[Any, Reading] = {}
    unread: dict[Any, int] = {}
    words: dict[str, int] = {"": 0}
    columns = []
    for side, data in enumerate((reference, predicted)):
        rows, values = different_values(data, scope)
        readings = []
        for value in values:
            value = value.value if isinstance(value, Unfit) else value
            key = freeze(value, scope)
            one = known.get(key) or read(value)
            if one is None:
                text = plain_text(value) if isinstance(value, str) else key
                one = Reading((), kind=UNREAD + unread.setdefault(text, len(unread)))
            if isinstance(value, str) and (one.two or (side == 0 and not one.values)):
                scope.memory.note_spelling(TWO_READINGS if one.two else NO_READING, scope.path, value)
            known[key] = one
            readings.append(one)
        columns.append((rows, readings))
    width = max((len(one.values) for one in known.values()), default=0) or 1
    sides = []
    for rows, readings in columns:
        table = np.zeros((width + beside + 1, len(readings)))
        for k, one in enumerate(readings):
            if one.values:
                table[:-1, k] = *one.values, *(words.setdefault(word, len(words)) for word in one.beside)
            table[-1, k] = one.kind
        sides.append(Numbers(tuple(part if rows is None else part[rows] for part in table)))
    return sides[0], sides[1]


# Values that have one right spelling, to which all others lead.


class Spelled(Similarity):
    """1 if two values mean the same, else 0. `read` is all that is left to write; what it cannot read is compared as text."""

    def read(self, value: Any) -> Hashable | None:
        """What a value means; None if that cannot be known."""
        raise NotImplementedError

    def reads(self, value: Any) -> bool:
        return self.read(value) is not None

    @property
    def exact_only(self) -> bool:
        return True

    def kernel(self, one_depth: bool = False) -> Kernel:
        return DELTA

    def _encode(self, reference: Data, predicted: Data, scope: Scope) -> tuple[Codes, Codes]:
        found = [different_values(side, scope) for side in (reference, predicted)]
        keys = [[self._key(value, scope, gold=not k) for value in values] for k, (_, values) in enumerate(found)]
        table = number_values(keys)
        sides = []
        for (rows, _), side in zip(found, keys, strict=True):
            codes = np.fromiter(map(table.__getitem__, side), np.int64, len(side))
            sides.append(Codes(codes if rows is None else codes[rows], max(len(table), 1)))
        return sides[0], sides[1]

    def _key(self, value: Any, scope: Scope, gold: bool) -> Hashable:
        value = value.value if isinstance(value, Unfit) else value
        meaning = self.read(value)
        if meaning is not None:
            return "read", meaning
        if gold and isinstance(value, str):
            scope.memory.note_spelling(NO_READING, scope.path, value)
        return "text", freeze(plain_text(value) if isinstance(value, str) else value, scope)

    def refine(self, r: Codes, p: Codes, blocks: Blocks) -> Blocks:
        return blocks.refine(r.codes, p.codes, r.bound)

    def _pairs(self, r: Codes, p: Codes, blocks: Blocks) -> Pairs:
        i, j = self.refine(r, p, blocks).pairs()
        return Pairs(i, j, np.ones(len(i)))


_TRUE = (
    "true",
    "t",
    "yes",
    "y",
    "1",
    "on",
    "ja",
    "wahr",
    "oui",
    "vrai",
    "sí",
    "si",
    "sì",
    "sim",
    "vero",
    "✓",
    "✔",
    "☑",
)
_FALSE = ("false", "f", "no", "n", "0", "off", "nein", "falsch", "non", "faux", "não", "falso", "✗", "✘", "☐")
TRUTH_WORDS = {**dict.fromkeys(_FALSE, 1), **dict.fromkeys(_TRUE, 2)}


@frozen
class Boolean(Spelled):
    """Truth values, as words, signs or numbers: "Yes" is true, 0 is false."""

    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    name = "boolean"

    def __post_init__(self) -> None:
        both = set(map(_folded, self.true)) & set(map(_folded, self.false))
        require(not both, f"boolean(): {sorted(both)[:1]} cannot be both true and false")

    @classmethod
    def from_choice(cls, spec: Any) -> Similarity:
        # YAML takes the keys true and false for truth values
        words = {str(name).casefold(): value for name, value in spec.items()} if isinstance(spec, Mapping) else {}
        given = options_of(words, "true", "false")
        require(
            spec is True or isinstance(spec, Mapping),
            f"boolean: expected {{true: [words], false: [words]}}, found {spec!r:.60}",
        )
        return boolean(**{name: [value] if isinstance(value, str) else value for name, value in given.items()})

    def read(self, value: Any) -> Hashable | None:
        if isinstance(value, (bool, np.bool_)):
            return bool(value) + 1
        if isinstance(value, str) and value.isascii() and not self.true and not self.false:
            return TRUTH_WORDS.get(value.strip().casefold())  # none of these has white space inside
        word = _folded(str(int(value)) if isinstance(value, (int, float)) and value in (0, 1) else value)
        if self.true or self.false:
            own = {**dict.fromkeys(map(_folded, self.false), 1), **dict.fromkeys(map(_folded, self.true), 2)}
            return own.get(word) or TRUTH_WORDS.get(word)
        return TRUTH_WORDS.get(word)

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return rng.choice((True, False, "yes", "no"))


def _folded(value: Any) -> str:
    return plain_text(value, "NFKC").casefold() if isinstance(value, str) else ""


@frozen
class Phone(Spelled):
    """Telephone numbers, however they are grouped; `region` (DE, US) is where numbers without a country code are."""

    region: str = ""
    name = "phone"

    def read(self, value: Any) -> Hashable | None:
        try:
            import phonenumbers
        except ImportError:
            raise MetricError(f"phone() needs phonenumbers: {EXTRA}") from None
        if self.region and self.region not in phonenumbers.SUPPORTED_REGIONS:
            hint = did_you_mean(self.region, phonenumbers.SUPPORTED_REGIONS)
            raise MetricError(f"phone(): region must be a country such as DE or US, found {self.region!r}.{hint}")
        text = plain_text(str(value), "NFKC")
        text = f"+{text[2:]}" if text.startswith("00") else text
        try:
            found = phonenumbers.parse(text, self.region or None)
        except phonenumbers.NumberParseException:
            return re.sub(r"\D", "", text) or None if not re.search(r"[^\W\d_]", text) else None
        return str(phonenumbers.format_number(found, phonenumbers.PhoneNumberFormat.RFC3966))

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return f"+49 30 90182{rng.randrange(4)}"


@frozen
class Json(Spelled):
    """JSON in a text, as the arguments of a tool call are: equal if what it says is, whatever order and white space it has.

    >>> ts.json('{"city": "Oslo", "unit": "C"}', '{"unit":"C","city":"Oslo"}')
    1.0
    """

    name = "json"

    def __repr__(self) -> str:
        return "json"

    def read(self, value: Any) -> Hashable | None:
        if isinstance(value, str):
            try:
                value = decode(value)
            except NotJson:
                return None
        return ("json", freeze(_plain_values(value), Scope()))

    def sample(self, rng: Random, depth: int = 0) -> Any:
        return f'{{"a": {rng.randrange(4)}}}'


def _plain_values(value: Any) -> Any:
    """JSON with its texts as they look; a whole number is one with or without a fraction."""
    if isinstance(value, str):
        return plain_text(value)
    names = None if isinstance(value, (Mapping, list, tuple)) else fields_of(type(value))
    if names is not None:
        value = {name: getattr(value, name) for name in names}
    if isinstance(value, Mapping):
        return {_plain_values(key): _plain_values(one) for key, one in value.items()}
    return [_plain_values(one) for one in value] if isinstance(value, (list, tuple)) else value


def boolean(*, true: Sequence[str] = (), false: Sequence[str] = ()) -> Boolean:
    """Truth values in words: `boolean(true=["paid"], false=["open"])`; the usual words are known.

    >>> ts.boolean()("true", "yes"), ts.boolean(true=["paid"], false=["open"])("paid", True)
    (1.0, 1.0)
    """
    return Boolean(tuple(true), tuple(false))


def phone(region: str = "") -> Phone:
    """Telephone numbers, whatever their spelling.

    >>> ts.phone("NO")("+47 22 12 34 56", "22 123456")
    1.0
    """
    return Phone(region)


json = Json()
