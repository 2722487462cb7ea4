"""What the tests that look at a page do more than once."""


def unfold(documents, number=0):
    """Open one of the documents of a page, or of what is given; the page draws it only then, so wait until it stands there."""
    document = documents.locator("details.doc").nth(number)
    document.locator("summary").click()
    document.locator(".body > *").first.wait_for(state="attached")
    return document
