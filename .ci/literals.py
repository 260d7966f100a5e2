"""Where the comments and the string literals of a source in Swift or C are."""
import re

BLOCK = r"/\*(?:(?!/\*|\*/).|{})*\*/"  # in Swift they nest
COMMENT = "//[^\n]*|" + BLOCK.format(BLOCK.format(r"/\*.*?\*/"))
MARK = re.compile(rf'(?P<comment>{COMMENT})|(?P<hashes>#*)(?P<quote>"""|")|[()]', re.S)


def quiet_parts(text):
    """(start, end, literal) of each comment and of each piece of a string literal: what is interpolated stands between two of
    these. `literal` is where the outermost literal begins, None for a comment in code."""
    at, depth, around = 0, 0, []  # the literals around: where each begins, how it ends, and the depth of its interpolation
    while found := MARK.search(text, at):
        start, at, literal = found.start(), found.end(), None
        if found["quote"]:
            end = r"{1}{0}|\\{0}\(|{2}".format(found["hashes"], found["quote"], r"\Z" if len(found["quote"]) > 1 else r"(?=\n)|\Z")
            literal = start, re.compile(rf"(?:\\{found['hashes']}[^(]|.)*?({end})", re.S)
        elif found["comment"]:
            yield start, at, around[0][0] if around else None
        else:
            depth += 1 if found[0] == "(" else -1
            if found[0] == ")" and around and around[-1][2] == depth:
                *literal, _ = around.pop()
                start = at
        if literal:
            begun, ending = literal
            stop = ending.match(text, at)
            at = stop.end()
            if stop[1].endswith("("):
                around.append((begun, ending, depth))
                depth += 1
            yield start, at, around[0][0] if around else begun


def code_only(text):
    """The text with comments and string literals replaced by blanks, line breaks kept."""
    out, at = [], 0
    for start, end, _ in quiet_parts(text):
        out += text[at:start], re.sub(r"[^\n]", " ", text[start:end])
        at = end
    return "".join(out) + text[at:]
