"""The slots of the MUC-4 template: what kind of fills they take, how set fills nest, and what tags refer to."""

from __future__ import annotations

KINDS = {
    "inc-date": "date", "inc-loc": "location", "inc-type": "set", "inc-stage": "set", "inc-instr-id": "string",
    "inc-instr-type": "set", "perp-inc-cat": "set", "perp-ind-id": "string", "perp-org-id": "string",
    "perp-org-conf": "set", "phys-tgt-id": "string", "phys-tgt-type": "set", "phys-tgt-num": "number",
    "phys-tgt-nation": "set", "phys-tgt-effect": "set", "phys-tgt-total-num": "number", "hum-tgt-name": "string",
    "hum-tgt-desc": "string", "hum-tgt-type": "set", "hum-tgt-num": "number", "hum-tgt-nation": "set",
    "hum-tgt-effect": "set", "hum-tgt-total-num": "number",
}  # fmt: skip

PARENTS: dict[str, dict[str, str]] = {
    "inc-type": dict.fromkeys(
        ("ARSON", "BOMBING", "KIDNAPPING", "HIJACKING", "ROBBERY", "FORCED WORK STOPPAGE"), "ATTACK"
    ),
    "inc-instr-type": {
        **dict.fromkeys(("MACHINE GUN", "MORTAR", "HANDGUN", "RIFLE"), "GUN"),
        **dict.fromkeys(("BOMB", "GRENADE", "MOLOTOV COCKTAIL"), "EXPLOSIVE"),
        **dict.fromkeys(("VEHICLE BOMB", "DYNAMITE", "MINE", "AERIAL BOMB"), "BOMB"),
        **dict.fromkeys(("MISSILE", "ROCKET"), "PROJECTILE"),
    },
    "perp-org-conf": {"SUSPECTED OR ACCUSED BY AUTHORITIES": "SUSPECTED OR ACCUSED"},
    "phys-tgt-type": {"GOVERNMENT OFFICE OR RESIDENCE": "POLITICAL FIGURE OFFICE OR RESIDENCE"},
    "phys-tgt-effect": {"SOME DAMAGE": "DESTROYED"},
    "hum-tgt-type": {
        "GOVERNMENT OFFICIAL": "POLITICAL FIGURE",
        "FORMER GOVERNMENT OFFICIAL": "GOVERNMENT OFFICIAL",
        "FORMER ACTIVE MILITARY": "ACTIVE MILITARY",
    },
    "hum-tgt-effect": {"NO DEATH": "NO INJURY", "NO INJURY OR DEATH": "NO DEATH"},
}
"""The parent of each value that has one: half credit goes to a response that is an ancestor of the key (eq. 33)."""

REFERS_TO = {
    "inc-instr-type": ("inc-instr-id",),
    "perp-org-id": ("perp-ind-id",),
    "perp-org-conf": ("perp-org-id",),
    **dict.fromkeys(("phys-tgt-type", "phys-tgt-num", "phys-tgt-nation", "phys-tgt-effect"), ("phys-tgt-id",)),
    "hum-tgt-desc": ("hum-tgt-name",),
    **dict.fromkeys(
        ("hum-tgt-type", "hum-tgt-num", "hum-tgt-nation", "hum-tgt-effect"), ("hum-tgt-name", "hum-tgt-desc")
    ),
}
"""The slots that the tags of a slot stand for."""

_WORDS = """
A AN THE SOME SEVERAL MANY FEW ANOTHER OTHER OTHERS ANY ALL EACH EVERY BOTH OF
ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN 1 2 3 4 5 6 7 8 9 10
THIS THAT THESE THOSE HIS HER ITS THEIR OUR
"""
PREMODIFIERS = frozenset(_WORDS.split())
"""Words in front of a string that do not count: articles, numbers to ten, quantifiers, "of"; and, inferred from the
official counts, demonstratives and possessives."""
