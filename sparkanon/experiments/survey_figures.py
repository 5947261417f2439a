"""The figures of SURVEY tables 5-7: information loss 100 * SSE / SST on z-scored columns.

None: the survey has no figure. Rows it quotes from other papers differ from its own definition
in the second digit.
"""

from __future__ import annotations

KS = (3, 4, 5, 10)

Row = tuple[float | None, float | None, float | None, float | None]  # for the k of `KS`

# grouping -> data set -> information loss
PUBLISHED: dict[str, dict[str, Row]] = {
    "mst": {
        "tarragona": (16.630, 19.66, 24.5000, 38.5800),
        "census": (6.110, 8.24, 10.300, 17.170),
    },
    "tfrp": {
        "tarragona": (17.228, 19.396, 22.110, 33.186),
        "census": (5.931, 7.880, 9.357, 14.442),
        "eia": (0.530, 0.661, 1.651, 3.242),
    },
    "mdav": {
        "tarragona": (16.96, 19.70, 22.88, 33.26),
        "census": (5.66, 7.51, 9.01, 14.07),
        "eia": (0.49, 0.67, 1.78, 3.54),
    },
    "mdav_mhm": {
        "tarragona": (16.932, None, 22.462, 33.192),
        "census": (5.652, None, 9.087, 14.224),
        "eia": (0.408, None, 1.256, 3.773),
    },
    "md_mhm": {
        "tarragona": (16.983, None, 22.527, 33.183),
        "census": (5.697, None, 8.986, 14.397),
        "eia": (0.442, None, 1.263, 3.637),
    },
    "cbfs_mhm": {
        "tarragona": (16.971, None, 22.823, 33.219),
        "census": (5.673, None, 8.894, 13.893),
    },
    "ip": {
        "tarragona": (15.61, None, 22.45, None),
        "census": (5.34, None, 8.68, None),
        "eia": (0.47, None, 1.53, None),
    },
    "vmdav": {
        "tarragona": (16.96, 19.70, 22.88, 33.26),
        "census": (5.69, 7.52, 8.98, 14.07),
        "eia": (0.53, 0.75, 1.30, 2.82),
    },
    "mu_approx": {
        "tarragona": (17.10, 20.51, 26.04, 38.80),
        "census": (6.25, 8.47, 10.78, 17.01),
        "eia": (0.43, 0.59, 0.83, 2.26),
    },
    "npn_mhm": {
        "tarragona": (17.395, None, 27.0213, 40.183),
        "census": (6.349, None, 11.344, 18.734),
        "eia": (0.553, None, 0.960, 2.319),
    },
    "dba": {
        "tarragona": (20.699, 23.828, 26.001, 35.393),
        "census": (6.145, 9.128, 10.842, 15.785),
        "eia": (1.09, 0.843, 1.896, 4.266),
    },
    "dba2": {
        "tarragona": (16.153, 22.671, 25.450, 34.807),
        "census": (5.582, 7.591, 9.046, 13.521),
        "eia": (0.421, 0.559, 0.818, 2.081),
    },
}

# What is further than 5 per cent from the survey's figure, and why: by grouping and data set, or
# by grouping alone where ours is lower.
DIFFERENT: dict[tuple[str, str], str] = {
    ("mdav", "eia"): "ours is exact, as two other implementations find; the survey's row is "
    "quoted, and that of V-MDAV without extensions",
    ("tfrp", "eia"): "the survey's row is that of ten columns, without UTILITYID: on these ours "
    "is equal to the last digit (tests/golden/test_survey.py)",
}
LOWER: dict[str, str] = {
    "vmdav": "gamma is the best of five; with gamma = 0.2 (Tarragona) and 1.1 (EIA, k = 5 and "
    "10) ours are the survey's figures (tests/golden/test_survey.py)",
    "mdav_mhm": "the cheaper of two paths, which enter a group from the side of the one before",
    "md_mhm": "the cheaper of two paths, which enter a group from the side of the one before",
    "npn_mhm": "the cheaper of two paths",
    "mu_approx": "trees are cut wherever both sides keep k records, the paper allows 3k-5",
}

# Exact MDAV on the same columns; two independent implementations agree.
EXACT_MDAV: dict[str, Row] = {
    "tarragona": (16.9326, 19.5460, 22.4619, 33.1929),
    "census": (5.6922, 7.4947, 9.0884, 14.1559),
    "eia": (0.4829, None, 1.6667, 3.8397),
}
