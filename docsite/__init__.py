"""What the site is built with, beyond its theme: formulas, the reference made from the code, and the check of links."""
