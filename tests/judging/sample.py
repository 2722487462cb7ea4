"""Twelve questions over three invented reports, as the stages would leave them."""

from tallystick.judging import Question

RIVER = (
    "The ferry Halcyon sank near the old harbour on Friday evening. Divers from the coast guard recovered the boat on "
    "Sunday, two days after it went down. The captain, Mira Osei, said that she had warned the owners about the hull in "
    "March.\n\nThe owners, a family firm in Tarn, denied that Osei had told them anything. An inquiry into the sinking "
    "opens next week in the town hall."
)
STRIKE = (
    "Bakers in Lindholm and Ravn stopped work on Monday. The union called out 400 members after talks with the mill "
    "owners broke down over night pay. Mayor Anke Brandt asked both sides to return to the table; the bakers refused."
)
THEFT = (
    "Police arrested a courier at Nord station. The young man is accused of stealing three paintings and a clock from the "
    "house of the collector Ilse Varga. Varga, 71, was abroad when the thief broke in. The works were found in his van."
)


def ask(document, event, trigger, role, candidate, *references, at=0):
    def span(text, nth=0):
        start = -1
        for _ in range(nth + 1):
            start = document.find(text, start + 1)
        return (start, start + len(text)) if start >= 0 else None

    return Question(
        candidate, references, document, event, trigger, role, span(candidate, at), tuple(map(span, references)), span(trigger)
    )  # fmt: skip


QUESTIONS = [
    ask(RIVER, "disaster.sinking", "sank", "vehicle", "the boat", "The ferry Halcyon"),
    ask(RIVER, "disaster.sinking", "sank", "place", "the coast", "the old harbour"),
    ask(RIVER, "rescue.recover", "recovered", "agent", "the coast guard", "Divers from the coast guard"),
    ask(RIVER, "rescue.recover", "recovered", "object", "The ferry Halcyon", "the boat"),
    ask(RIVER, "contact.warn", "warned", "recipient", "a family firm in Tarn", "the owners"),
    ask(RIVER, "contact.warn", "warned", "communicator", "Mira Osei", "she", "The captain"),
    ask(STRIKE, "conflict.strike", "stopped work", "participant", "400 members", "Bakers in Lindholm and Ravn"),
    ask(STRIKE, "contact.negotiate", "talks", "participant", "both sides", "The union", "the mill owners"),
    ask(STRIKE, "contact.negotiate", "talks", "topic", "pay", "night pay"),
    ask(THEFT, "justice.arrest", "arrested", "detainee", "The young man", "a courier"),
    ask(THEFT, "crime.theft", "stealing", "thief", "the thief", "The young man"),
    ask(THEFT, "crime.theft", "stealing", "artifact", "The works", "three paintings and a clock"),
]
