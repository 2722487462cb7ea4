"""What the tests that look at a page do more than once."""


def unfold(page):
    """Open the first document; the page draws it only then, so wait until it stands there."""
    document = page.locator("#list details").first
    document.locator("summary").click()
    document.locator(".body > *").first.wait_for(state="attached")
