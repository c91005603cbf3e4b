"""Sphinx's settings of the site; make_site makes the folder of its pages."""

import json
import pathlib

from sphinx.domains import Domain, ObjType

project = "Counterworks"
root_doc = "index"
exclude_patterns = ["package"]
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 4
autodoc_member_order = "bysource"
default_role = "literal" # single backquotes, as in Markdown
highlight_language = "none"

html_theme = "furo"
html_title = "Counterworks"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_extra_path = ["extra"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False
# a browser that opens pages from disk may not load others to show parts of them
html_show_search_summary = False


class Metrics(Domain):
    """Metrics in the search: each links to its entry on the page of its chip and unit."""

    name = "metric"
    label = "metric"
    object_types = {"metric": ObjType("metric")}

    def get_type_name(self, type, primary=False):
        return type.lname

    def get_objects(self):
        for page, names in json.loads((pathlib.Path(self.env.srcdir) / "metrics.json").read_text()).items():
            for name in names:
                yield name, name, "metric", page, name, 0 # before pages with the same words

    def resolve_any_xref(self, *_):
        return []

    def merge_domaindata(self, docnames, otherdata):
        """Nothing: a process that reads pages finds no metrics there."""


def show_code(_app, _what, _name, _obj, _options, lines):
    """Makes code of the parts of a docstring that are set in."""
    for i in range(len(lines) - 1, 1, -1):
        if lines[i].startswith("    ") and not lines[i - 1] and not lines[i - 2].startswith("    "):
            lines[i:i] = ["::", ""]


def setup(app):
    app.add_domain(Metrics)
    app.connect("autodoc-process-docstring", show_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
