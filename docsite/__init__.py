"""What the site is built with, beyond its theme: formulas, the reference made from the code, and the check of links.

The builder is Zensical. Material for MkDocs looks the same and has more plugins, but its authors end its support in May 2027 and Zensical
is their successor; MkDocs 1 itself gets no more releases. Both read `mkdocs.yml`, and what we add is an extension of Python-Markdown, so
going back costs one line of the Makefile. We tried both on these pages: each builds them in about two seconds, with search that works
from a disk. The math font is STIX Two Math (OFL), reduced to the characters of formulas.
"""
