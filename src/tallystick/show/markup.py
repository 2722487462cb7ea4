"""The HTML of a page: its frame, and what a report and a comparison have in it, made of plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.show.html import Html, each, html, joined, where
from tallystick.version import __version__

Values = Mapping[str, Any]
SIGNS = {"N": "N", "M": "Σ", "S": "φ"}


def frame(content: Html, title: str, sections: Sequence[tuple[str, str]]) -> list[Html]:
    """A whole page: what is before its style, before its data, before its script, and behind that. These are long, so they are not in it."""
    return [
        html(
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="generator" content="tallystick {}">\n'
            "<title>{} · tallystick</title>\n<style>",
            __version__, title,
        ),
        html(
            '</style>\n</head>\n<body>\n<a class="skip" href="#content">Skip to the figures</a>\n'
            '<nav aria-label="Sections"><div class="bar"><span class="brand">tallystick</span>{}<span class="right">'
            '<button type="button" class="button" id="save">Save data</button><button type="button" class="button" id="theme">Light / dark</button>'
            '</span></div></nav>\n<main id="content">\n{}</main>\n<script type="application/json" id="data">',
            each('<a href="#{}">{}</a>', sections), content,
        ),
        Html("</script>\n<script>"),
        Html("</script>\n</body>\n</html>"),
    ]  # fmt: skip


def header(title: str, subtitle: str) -> Html:
    """What is at the top."""
    return html("<header>\n<h1>{}</h1>\n<p>{}</p>\n</header>\n", title, subtitle)


def footer(says: str = "") -> Html:
    """What is at the end."""
    return html(
        "<footer>{}Written by tallystick {}; this file needs nothing else and asks nobody.</footer>\n",
        says,
        __version__,
    )


def shown(table: Values) -> Html:
    """A table that can be sorted, with its title and notes."""
    heads = [(_class("n" if one["numeric"] else ""), one["name"]) for one in table["columns"]]
    rows = [
        joined(
            html('<th scope="row" data-v="{}">{}</th>', row[0]["sort"], row[0]["text"]),
            each(
                '<td data-v="{}"{}{}>{}</td>',
                [(cell["sort"], _class(cell["cls"]), _share(cell["share"]), cell["text"]) for cell in row[1:]],
            ),
        )
        for row in table["rows"]
    ]
    return html(
        '{}<div class="card scroll"><table class="sortable">\n<thead><tr>{}</tr></thead>\n<tbody>{}</tbody>\n</table></div>\n{}',
        where(table["title"], "<h3>{}</h3>", table["title"]),
        each('<th scope="col"{}><button type="button">{}</button></th>', heads),
        each("<tr>{}</tr>\n", rows),
        each('<p class="note">{}</p>', table["notes"]),
    )


def _class(name: str) -> Html:
    return where(name, ' class="{}"', name)


def _share(share: float | None) -> Html:
    return Html("") if share is None else html(' style="--v:{}%"', f"{share:.2f}")


def interval(bar: Values, name: str = "") -> Html:
    """A figure and the interval around it, drawn."""
    ends = [f"{bar[end]:.2f}" for end in ("share", "low", "high")]
    return html(
        '<span class="iv {}" aria-hidden="true" style="--v:{}%;--lo:{}%;--hi:{}%">{}{}<u></u></span>',
        name, *ends, where(not name, "<i></i>"), where(bar["known"], "<b></b>"),
    )  # fmt: skip


def derived(nodes: Sequence[Any]) -> Html:
    """The parts of a metric, one inside the other."""
    parts = [
        (
            node.kind, SIGNS[node.kind], where(node.name, '<span class="soft">{} = </span>', node.name), node.what,
            where(node.says, ' <span class="soft">· {}</span>', node.says), derived(node.parts) if node.parts else Html(""),
        )
        for node in nodes
    ]  # fmt: skip
    return html('<ul class="derive">{}</ul>', each('<li><span class="kind {}">{}</span>{}{}{}{}</li>', parts))


# The report


def report_content(v: Values) -> Html:
    """What a report shows."""
    return joined(
        header(v["title"], v["subtitle"]), _headline(v), each("{}", map(_section, v["filled"])), Html("\n"),
        _plot(v) if v["plotted"] else Html(""), Html("\n"), _documents(v), Html("\n"), _computed(v["derivations"]),
        footer("Reference first, prediction second. "),
    )  # fmt: skip


def _headline(v: Values) -> Html:
    hero = v["hero"]
    facts = [(name, value, where(small, "<small>{}</small>", small)) for name, value, small in hero["facts"]]
    several = len(v["figures"]) > 1
    return html(
        '<section id="figures" aria-label="Headline figures">\n<div class="card hero">\n<div>\n<div class="name">{}</div>\n'
        '<div class="value">{}</div>\n{}\n<div class="interval">{}</div>\n</div>\n<div><dl class="facts">{}</dl></div>\n</div>\n{}{}</section>\n\n',
        hero["name"], hero["value"], interval(hero["bar"]), hero["interval"],
        each("<div><dt>{}</dt><dd>{}{}</dd></div>", facts),
        each('<details class="warn"><summary>{}</summary></details>', v["warnings"]),
        _all_metrics(v) if several else html('<p class="note">{}</p>\n', v["interval_note"]),
    )  # fmt: skip


def _all_metrics(v: Values) -> Html:
    rows = [
        (
            _class("main-row" if row["main"] else ""), row["name"], row["name"], where(v["averaged"], "<td>{}</td>", row["average"]),
            each('<td class="n" data-v="{}">{}</td>', [(cell["sort"], cell["text"]) for cell in row["cells"]]),
            row["interval"], row["interval"] or "–", interval(row["bar"], "range"),
        )
        for row in v["figures"]
    ]  # fmt: skip
    return html(
        '<h2>All metrics</h2>\n<p class="lead">{}</p>\n<div class="card scroll"><table class="sortable">\n'
        '<thead><tr><th scope="col"><button type="button">metric</button></th>{}{}<th scope="col"><button type="button">95 % interval</button></th>'
        '<th scope="col" aria-hidden="true"><span class="ends"><span>{}</span><span>{}</span></span></th></tr></thead>\n'
        "<tbody>{}</tbody>\n</table></div>\n",
        v["interval_note"],
        where(v["averaged"], '<th scope="col"><button type="button">average</button></th>'),
        each('<th scope="col" class="n"><button type="button">{}</button></th>', v["figure_names"]),
        *v["scale"],
        each(
            '<tr{}><th scope="row" data-v="{}">{}</th>{}{}<td data-v="{}">{}</td><td aria-hidden="true">{}</td></tr>\n', rows
        ),
    )  # fmt: skip


def _section(filled: tuple[Any, Sequence[Values]]) -> Html:
    section, tables = filled
    return html(
        '<section id="{}">\n<h2>{}</h2>\n{}{}{}</section>\n',
        section.anchor, section.title, where(section.lead, '<p class="lead">{}</p>', section.lead),
        where(
            section.anchor == "confidence",
            '<div class="tools"><label>Confidences of <select id="sure"></select></label></div>\n'
            '<div class="curves"><div class="card chart" id="reliability"></div><div class="card chart" id="review"></div></div>\n'
            '<p class="note" id="accepted" role="status"></p>',
        ),
        each("{}", map(shown, tables)),
    )  # fmt: skip


def _options(names: Sequence[tuple[Any, str]], selected: Any) -> Html:
    return each('<option value="{}"{}>{}</option>', [(k, where(k == selected, " selected"), name) for k, name in names])


def _plot(v: Values) -> Html:
    axes = list(enumerate(v["axes"]))
    return html(
        '<section id="metrics">\n<h2>{}</h2>\n'
        '<p class="lead">A point is a document; choose it to open it. The dashed line is where both figures are the same.{}</p>\n'
        '<div class="tools"><label>Across <select id="across">{}</select></label>\n<label>Up <select id="up">{}</select></label></div>\n'
        '<div class="plotted">\n<div class="card chart" id="plot"></div>\n<div class="card scroll"><table id="apart">'
        '<caption class="hidden">Documents whose ranks differ most under the two figures</caption><thead><tr>'
        '<th scope="col">Ranked most differently</th><th scope="col" class="n"></th><th scope="col" class="n"></th></tr></thead>'
        '<tbody></tbody></table></div>\n</div>\n<p class="note" id="rho" role="status"></p>\n</section>',
        "Metric against metric" if len(v["figures"]) > 1 else "Figure against figure",
        where(v["listed_note"], " {}", v["listed_note"]), *(_options(axes, place) for place in v["plotted"]),
    )  # fmt: skip


def _documents(v: Values) -> Html:
    hidden = where(not v["opens"], " hidden")
    columns = len(v["shown_axes"])
    heads = [
        (
            _class("" if k == v["main_axis"] else "other"), k, axis,
            Html("_<wbr>".join(html("{}", part) for part in v["short_axes"][k].split("_"))),
        )
        for k, axis in v["shown_axes"]
    ]  # fmt: skip
    badges = [(name, name, f"{len(ones):,}") for name, ones in v["badges"].items()]
    return html(
        '<section id="documents">\n<h2>Documents, worst first</h2>\n<p class="lead"><span id="ordered">Ordered by {}.</span> {}</p>\n'
        '<div class="tools">\n<input type="search" id="filter" placeholder="Filter by name" aria-label="Filter documents by name">\n'
        '<label>order by <select id="order">{}</select></label>\n<label>at most <input type="number" id="most" min="0" max="1" step="0.05" '
        'aria-label="Only documents whose figure is at most"></label>\n{}{}<label{}><input type="checkbox" id="carried"> with alignment</label>\n'
        '<label{}><input type="checkbox" id="hide"> hide what is right</label>\n<span class="soft" id="found" role="status"></span>\n</div>\n'
        '<div class="legend above" aria-label="Marks"{}><span class="right-c">right</span><span class="part-c">≠ in part or wrong</span>'
        '<span class="missed-c">− missed: only in the reference</span><span class="spurious-c">+ spurious: only predicted</span></div>\n'
        '<div class="card docs" style="--n:{};--least:{}rem;--w:{}">\n<div class="head cols"><span>document</span>{}</div>\n'
        '<ul id="list"></ul>\n<div class="more" id="more" hidden><button type="button" class="button">Show more</button>'
        '<span class="soft"></span></div>\n</div>\n<noscript><p class="warn">The documents are drawn by the script of this page, which your '
        "browser does not run.</p></noscript>\n</section>\n",
        v["ordered"], v["cap_note"], _options(v["order_axes"], v["main_axis"]),
        where(
            v["wrong_fields"], '<label>wrong in <select id="wrong"><option value="">any field</option>{}</select></label>\n',
            each("<option>{}</option>", v["wrong_fields"]),
        ),
        each('<label><input type="checkbox" class="badged" value="{}"> {} ({})</label>\n', badges),
        hidden, hidden, hidden, columns, f"{v['least_column']:.2f}", "7rem" if columns < 5 else "5.3rem",
        each('<span{}><button type="button" data-axis="{}" title="Order by {}">{}</button></span>', heads),
    )  # fmt: skip


def _computed(derivations: Sequence[tuple[str, str, Any]]) -> Html:
    parts = [
        (
            where(k == 0, " open"), name, signature,
            where(tree, '<div class="derivation mono">{}</div>', derived([tree]) if tree else ""),
        )
        for k, (name, signature, tree) in enumerate(derivations)
    ]  # fmt: skip
    return html(
        '<section id="signature">\n<h2>What was computed</h2>\n<p class="lead">The signature says everything that changes a figure. Below it '
        'each metric part by part: <span class="kind N">N</span>normaliser, <span class="kind M">Σ</span>matching, '
        '<span class="kind S">φ</span>similarity.</p>\n{}</section>\n',
        each(
            '<details class="card fold"{}><summary>{}</summary>\n<div class="mono signature">{}</div>\n{}</details>\n', parts
        ),
    )  # fmt: skip


# The comparison


def comparison_content(v: Values) -> Html:
    """What the page of one or several comparisons shows."""
    return joined(
        header(v["title"], v["subtitle"]),
        *(_compared(k, one) for k, one in enumerate(v["comparisons"])),
        where(v["means"], '<section><h2 id="means">Means over tasks</h2>{}</section>', shown(v["means"]) if v["means"] else ""),
        where(
            v["signatures"] or v["notes"], '<section id="signature">\n<h2>What was computed</h2>\n{}{}</section>',
            each('<div class="card mono signature">{}</div>', v["signatures"]), each('<p class="note">{}</p>', v["notes"]),
        ),
        footer(),
    )  # fmt: skip


def _compared(k: int, one: Values) -> Html:
    return joined(
        _systems(k, one),
        where(one["own"], '<section>\n<span id="own{}"></span>{}</section>\n', k, each("{}", map(shown, one["own"]))),
        where(
            one["ranked"],
            '<section data-k="{}">\n<h3 id="ranks{}">How ranks move</h3>\n'
            '<p class="lead">A line is a system, a column a metric; the best stands at the top. Where lines cross, the metrics disagree about '
            'the two systems.{}</p>\n<div class="card chart wide ranks"></div>\n</section>\n',
            k, k, where(one["groups"], " A bar beside a column joins systems that are not significantly apart."),
        ),
        _tests(k, one) if one["tested"] else Html(""),
        _beside(k, one) if one["documents"] else Html(""),
        _agreement(k, one["correlations"]) if one["correlations"] else Html(""),
    )  # fmt: skip


def _systems(k: int, one: Values) -> Html:
    count = len(one["metrics"])
    crowded = [
        name for name, there in ((" many", one["many"]), (" crowded", count > 5), (" packed", count > 10)) if there
    ]
    heads = [(metric, *ends) for metric, ends in zip(one["metrics"], one["tracks"], strict=True)]
    rows = [
        (
            row["system"], where(row["letter"], '<span class="soft">{}</span> ', row["letter"]), row["system"],
            each("{}", map(_figure, row["cells"])),
        )
        for row in one["rows"]
    ]  # fmt: skip
    failed = [(system, system, count, reason) for system, reason in one["failed"]]
    return html(
        '<section id="figures{}" class="comparison" data-k="{}">\n<h2>{}</h2>\n{}{}<div class="card scroll"><table class="sortable systems{}" '
        'style="--cell:{}rem">\n<thead><tr><th scope="col"><button type="button">system</button></th>{}</tr></thead>\n<tbody>{}{}</tbody>'
        "</table></div>\n{}</section>\n",
        k, k, one["title"] or "Systems by metrics", where(one["legend"], '<p class="lead">{}</p>', one["legend"]),
        each('<p class="warn">{}</p>', one["cautions"]), "".join(crowded), f"{min(9, 52 / max(count, 1)):.2f}",
        each(
            '<th scope="col" class="n" style="text-align:left"><button type="button">{}</button><span class="ends" aria-hidden="true">'
            "<span>{}</span><span>{}</span></span></th>", heads,
        ),
        each('<tr><th scope="row" data-v="{}">{}{}</th>\n{}</tr>\n', rows),
        each(
            '<tr class="failed"><th scope="row" data-v="{}">{}</th><td class="cell wide" colspan="{}" data-v="">not scored: {}</td></tr>\n',
            failed,
        ),
        each('<details class="warn"><summary>{}</summary></details>', one["warnings"]),
    )  # fmt: skip


def _figure(cell: Values) -> Html:
    moved = cell["moved"]
    way = ("up", "↑", "up") if moved > 0 else ("down", "↓", "down")
    return html(
        '<td class="cell{}" data-v="{}">{}<span class="v">{}</span>{}{}{}</td>\n',
        where(cell["first"], " first"), cell["sort"],
        where(
            cell["rank"], '<span class="rank">#{}{}</span>', cell["rank"],
            where(moved, ' <span class="{}">{}{}<span class="hidden"> {}</span></span>', *way[:2], f"{abs(moved):g}", way[2]),
        ),
        cell["value"],
        where(cell["beats"], '<span class="beats" title="significantly above {}">{}</span>', cell["above"], cell["beats"]),
        interval(cell["bar"], "range") if cell["defined"] else "",
        where(cell["around"], '<span class="around">{}</span>', cell["around"]),
    )  # fmt: skip


def _tests(k: int, one: Values) -> Html:
    note = (
        "● the row's system is significantly better, ○ significantly worse (p ≤ {} after Holm's correction over all pairs of the metric), "
        "· neither; point at a cell for the difference and p."
        if one["dense"]
        else "Row less column, and p after Holm's correction over all pairs of the metric. ● marks p ≤ {}."
    )
    return html(
        '<section data-k="{}">\n<h3 id="pairs{}">Who is above whom</h3>\n<div class="tools"><label>Metric <select class="metric">{}</select>'
        '</label></div>\n<div class="card scroll"><table class="heat pairs"><caption class="hidden">Differences between systems with p after '
        "Holm's correction</caption></table></div>\n<p class=\"note\">{}</p>\n{}</section>\n",
        k, k, each("<option>{}</option>", one["metrics"]), html(note, one["alpha"]),
        shown(one["groups"]) if one["groups"] else "",
    )  # fmt: skip


def _beside(k: int, one: Values) -> Html:
    systems = [row["system"] for row in one["rows"]]
    ends = [
        each("<option{}>{}</option>", [(where(place == of, " selected"), name) for place, name in enumerate(systems)])
        for of in (0, 1)
    ]
    return html(
        '<section data-k="{}" class="beside">\n<h3 id="documents{}">Document by document</h3>\n<p class="lead">{} {} of each document, those '
        "that lose most from the first system to the second first. The documents that differ most open to show the reference and both "
        'predictions.</p>\n<div class="tools"><label>From <select class="from">{}</select></label>\n<label>to <select class="to">{}</select>'
        '</label>\n<input type="search" placeholder="Filter by name" aria-label="Filter documents by name">\n<label>show '
        '<select class="which"><option value="">all</option><option value="lost">worse</option><option value="won">better</option>'
        '<option value="tied">the same</option></select></label>\n<label><input type="checkbox" class="hide"> hide what is right</label>\n'
        '<span class="soft found" role="status"></span></div>\n<div class="card docs" style="--n:3;--w:7rem"><div class="head cols">'
        '<span>document</span><span class="other one"></span><span class="other two"></span><span>change</span></div><ul></ul>\n'
        '<div class="more" hidden><button type="button" class="button">Show more</button><span class="soft"></span></div></div>\n</section>\n',
        k, k, one["documents"]["metric"], one["documents"]["figure"], *ends,
    )  # fmt: skip


def _agreement(k: int, correlations: Values) -> Html:
    return html(
        '<section data-k="{}">\n<h3 id="agree{}">How much the metrics agree</h3>\n<div class="tools"><label>Correlation '
        '<select class="coefficient"><option value="spearman">Spearman\'s ρ</option><option value="kendall_a">Kendall\'s τ a</option>'
        "<option value=\"kendall_b\" selected>Kendall's τ b</option><option value=\"kendall_c\">Kendall's τ c</option></select></label></div>\n"
        '<div class="card scroll"><table class="heat agree"><caption class="hidden">Correlations between the metrics\' rankings</caption>'
        "</table></div>\n{}\n</section>\n",
        k, k, shown(correlations),
    )  # fmt: skip
