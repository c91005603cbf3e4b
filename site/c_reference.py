"""The reference of a public header, as a page of Sphinx's C domain: declarations with the comments before and behind
them, in the order of the header. (Doxygen and hawkmoth want comments of another form.)"""

import re

TOKEN = re.compile(r"/\*(?P<comment>.*?)\*/|(?P<directive>#(?:[^\n]*\\\n)*[^\n]*)|(?P<space>\s+)", re.DOTALL)
SECTION = re.compile(r"----+ (.*?) -+\s*$")
FUNCTION = re.compile(r"\b(?!__attribute__)\w+\s*\(")
TAGGED = re.compile(r"(?:typedef )?(struct|enum|union) (\w+)")
MACRO = re.compile(r"#define ([A-Z]\w*(?:\([^)]*\))?)")
SKIPPED = re.compile(r'extern "C" \{|\}')


def comment_text(comment):
    """The lines of a comment without its frame."""
    return [re.sub(r"^\s*\*? ?", "", line) if i else line.strip() for i, line in enumerate(comment.rstrip().split("\n"))]


def escaped(line):
    """Text for reStructuredText, with links to functions that it names."""
    def plain(text):
        text = re.sub(r"([\\*|_])", r"\\\1", text)
        return re.sub(r"\b(?:counterworks|cw)\\_[\w\\]+(?=\(\))\(\)",
                      lambda m: f":c:func:`{m[0][:-2]}`".replace("\\", ""), text)
    parts = line.split("`")
    return "``".join(plain(part) if i % 2 == 0 else part for i, part in enumerate(parts))


def paragraphs(lines):
    """A comment as reStructuredText: an indented part is code, as in the header."""
    out, code = [], False
    for line in lines:
        if line.startswith("    ") and not code:
            out += ["", "::", ""]
        code = line.startswith("    ") or (code and not line.strip())
        out.append(line if code else escaped(line.strip()))
    return out


def statement_end(text, start):
    """Behind a declaration, which ends with a semicolon or with the body of a function."""
    depth, at = 0, start
    while at < len(text):
        if text.startswith("/*", at):
            at = text.index("*/", at) + 2
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
        if depth == 0 and (text[at - 1] == ";" or (text[at - 1] == "}" and FUNCTION.search(head(text[start:at])))):
            return at
    raise SystemExit(f"c_reference: found no end of: {text[start:start + 60]}")


def head(declaration):
    """A declaration without comments, and up to its members or its body, in one line."""
    bare = re.sub(r"/\*.*?\*/", " ", declaration, flags=re.DOTALL)
    return " ".join(re.sub(r"\b(static|inline)\b", "", bare.split("{")[0]).strip(" ;\n").split())


def directive(declaration):
    """(kind, signature) of a declaration in the C domain."""
    if declaration.startswith("#"):
        found = MACRO.match(declaration)
        return ("macro", found[1]) if found and not found[1].endswith("_H") else None
    line = head(declaration)
    if FUNCTION.search(line):
        return "function", line
    found = TAGGED.match(line)
    return (found[1], found[2]) if found else None


def items(text):
    """(comment, declaration, comment behind it) of a header, in its order."""
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.DOTALL)
    at, before = 0, ""
    while at < len(text):
        token = TOKEN.match(text, at) or SKIPPED.match(text, at)
        if token and token.re is TOKEN and token["comment"]:
            if before or SECTION.match(token["comment"]):
                yield before, "", ""
            before, at = token["comment"], token.end()
            if SECTION.match(before):
                yield before, "", ""
                before = ""
        elif token and not (token.re is TOKEN and token["directive"] and directive(token["directive"])):
            if before and token[0].count("\n") > 1: # of no declaration, but of all that follow
                yield before, "", ""
                before = ""
            at = token.end()
        else:
            end = token.end() if token else statement_end(text, at)
            behind = re.compile(r"[ \t]*/\*(.*?)\*/", re.DOTALL).match(text, end)
            yield before, text[at:end], behind[1] if behind else ""
            before, at = "", behind.end() if behind else end


def page(header, name):
    """The page of a header, in reStructuredText."""
    title = name
    out, known = [title, "=" * len(title), "", f"::\n\n    #include <{name}>", ""], set()
    for before, declaration, behind in items(header.read_text(encoding="utf-8")):
        section = SECTION.match(before.strip())
        if section:
            heading = section[1][:1].upper() + section[1][1:]
            out += ["", heading, "-" * len(heading), ""]
            continue
        text = [*paragraphs(comment_text(before)), "", *paragraphs(comment_text(behind)), ""]
        found = directive(declaration) if declaration else None
        if not found:
            out += text
            continue
        out += ["", f".. c:{found[0]}:: {found[1]}", *(["   :noindex:"] if found in known else []), ""]
        out += ["   " + line for line in text]
        if found[0] != "function" and "{" in declaration:
            out += ["   .. code-block:: c", "", *("      " + line for line in declaration.split("\n")), ""]
        known.add(found)
    return re.sub(r"\n(\s*\n)+", "\n\n", "\n".join(out)) + "\n"
