"""What the tests of pages share."""

from pathlib import Path

import pytest


@pytest.fixture
def opened(browser):
    """A page whose console and network are watched; at the end both must be silent."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page, heard = context.new_page(), []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("dialog", lambda dialog: (heard.append("a dialog"), dialog.dismiss()))
    page.on("request", lambda request: None if request.url.startswith("file:") else heard.append(request.url))

    def visit(path):
        page.goto(path if path == "about:blank" else Path(path).resolve().as_uri())
        return page

    yield visit
    context.close()
    assert heard == []
