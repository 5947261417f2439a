"""Words that column names are made of, in English, and what they say about a column."""

from __future__ import annotations

import re


def _vocabulary(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words of a column name, in lower case; see words_of.
ALWAYS_IDENTIFIER = _vocabulary(
    """address cellphone cookie dni email fax firstname forename fullname givenname guid iban imei
    ip ipaddress lastname licence license login mac mail maiden mobile mrn msisdn nationalid
    nickname nif nin passport phone plate ssn street surname telephone token url user username
    uuid vin"""
)
OFTEN_IDENTIFIER = _vocabulary(
    """account card code id identifier ids idx index key name names no nr num number record row
    rownum seq serial"""
)
SENSITIVE = _vocabulary(
    """allergy condition conviction crime diagnoses diagnosis disability disease disorder drug dx
    faith hiv icd icd10 icd9 illness medication medicine offence offense orientation political
    pregnancy pregnant prescription religion salary sentence symptom symptoms therapy treatment
    union wage wages wealth"""
)
DEMOGRAPHIC = _vocabulary(
    """age birth birthdate birthday birthplace born canton census children citizenship city country
    county department district dob education ethnicity gender height household income job language
    marital municipality nationality occupation place postal postcode profession province race
    region rent school schooling sex state town village weight year zip zipcode zone"""
)
DESIGN = _vocabulary("calibration design expansion final sample sampling survey")
TARGET = _vocabulary("class label outcome target")  # the whole name
FILLERS = _vocabulary(
    """a amount and any at average by capital category count current date day days
    degree education employment end facility family father first flag for from full gain group has
    hour hours husband in income is last level loss member middle month months mother native
    of on or owner per percent person rate relationship sector share start status term the time to
    total type unit value visit wife week weeks with work worker working years"""
)


def words_of(name: str) -> frozenset[str]:
    """`HomePhone_no` gives home, phone, no; and the name as a whole, without separators."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    parts = re.findall(r"[^\W_]+", apart)
    return frozenset(part.lower() for part in [*parts, "".join(parts)])
