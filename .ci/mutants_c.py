"""The changes that .ci/mutate makes to C sources, each behind a switch, as .ci/mutants.py makes them to Swift's.

C has no operators of one's own. So what decides is taken as a whole: each operand of `&&` and `||`, each condition, each
comparison is written so that a switch makes it true, false or another one. A comparison is written down twice.
"""
import re

import mutants
from mutants import Token, UNTOUCHED

SCANNER = re.compile(
    r"(?P<space>[ \t]+|\\\n)|(?P<line>\n)|(?P<directive>(?<![^\n])[ \t]*#(?:[^\n\\]|\\.|\\\n)*)"
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)"
    r"""|(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<number>\d[\w.]*)|(?P<word>[A-Za-z_]\w*)"""
    r"|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<mark>[,;])"
    r"|(?P<operator>->|\+\+|--|<<=?|>>=?|[-+*/%<>=!&|^]=|&&|\|\||[-+*/%<>=!&|^~?:.])|(?P<other>.)", re.S
)
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
CONTROL = {"if", "while", "for", "switch", "do", "else", "return", "break", "continue", "goto", "case", "default",
           "sizeof", "static", "enum", "struct", "union", "typedef", "const"}
# Without them memory leaks, which the address sanitizer sees and no test does. What clears a secret is not among them.
RELEASES = re.compile(r"\w*(?<!clear_)free(_all)?|\w+_destroy|closedir")
# Declared where the first function begins, so that no line moves.
DECLARATION = "_Bool AFmutantC(long); "


def tokens_of(text):
    found, fresh = [], True
    for match in SCANNER.finditer(text):
        if match.lastgroup == "line":
            fresh = True
        elif match.lastgroup not in ("space", "comment", "directive"):
            found.append(Token(match.lastgroup, match[0], match.start(), match.end(), fresh))
            fresh = False
    return found


class Writer(mutants.Writer):
    """Finds the mutants of one source and writes them into it."""

    def __init__(self, path, text, number, cases, left_out):
        super().__init__(path, text, number, cases, left_out, tokens_of)
        self.place, self.begun = "", None

    def add(self, index, what):
        return super().add(index, what, self.place)

    def written(self):
        if self.mutants:
            self.edits.append((self.begun, (0, 0), 0, DECLARATION, ()))
        return super().written()

    # MARK: Reading

    def find(self):
        begun = 0
        for index in self.level(0, len(self.tokens)):
            if self.tokens[index].text == "{" and self.tokens[index - 1].text == ")":
                self.place = self.tokens[self.partner[index - 1] - 1].text
                if self.begun is None:
                    self.begun = self.tokens[begun].start
                self.block(index + 1, self.partner[index])
            if self.tokens[index].text in (";", "{"):
                begun = self.partner.get(index, index) + 1
        return self.mutants

    def block(self, first, end):
        while first < end:
            first = self.statement(first, end)

    def statement(self, first, end):
        """Reads one statement; gives where the next one begins."""
        tokens, word = self.tokens, self.tokens[first].text
        if word == ";":
            return first + 1
        if word == "{":
            self.block(first + 1, self.partner[first])
            return self.partner[first] + 1
        if word in ("if", "while", "switch", "for"):
            closing = self.partner[first + 1]
            begun, ended = first + 2, closing
            if word == "for":
                begun = self.next(first + 2, closing, {";"}) + 1
                ended = self.next(begun, closing, {";"})
                self.value(first + 2, begun - 1)
            (self.value if word == "switch" else self.condition)(begun, ended)
            return self.statement(closing + 1, end)
        if word in ("else", "do"):
            return self.statement(first + 1, end)
        if word in ("case", "default"):
            return self.next(first, end, {":"}) + 1
        last = self.next(first, end, {";"})
        if word == "return":
            self.value(first + 1, last)
        elif word not in CONTROL and word not in UNTOUCHED:
            self.simple(first, last)
        return last + 1

    def simple(self, first, last):
        """A call, an assignment or a declaration."""
        tokens = self.tokens
        equals = self.next(first, last, ASSIGNMENTS)
        if equals < last and tokens[equals + 1].text != "{":
            self.value(equals + 1, last)
        elif equals == last:
            self.value(first, last)
        following = tokens[first + 1] if first + 1 < last else None
        is_call = following is not None and following.text == "(" and equals == last \
            and self.partner[first + 1] == last - 1 and not tokens[first].text.isupper()
        is_assignment = equals < last and following is not None and \
            (following.text in ASSIGNMENTS | {"->", ".", "["} or tokens[first].text == "*")
        if is_assignment or is_call and tokens[first].kind == "word" and not RELEASES.fullmatch(tokens[first].text):
            if number := self.add(first, f"`{self.excerpt(first, last)[:60]}` left out"):
                self.surround(first, last + 1, f"{{ if (!AFmutantC({number})) {{ ", " } }", number)

    # MARK: Changes

    def value(self, first, last):
        """An expression: what decides in it, and its numbers."""
        if first >= last:
            return
        question = self.next(first, last, {"?"})
        if question < last:
            colon = self.colon(question + 1, last)
            self.condition(first, question)
            self.value(question + 1, colon)
            self.value(colon + 1, last)
            return
        if self.decides(first, last):
            self.condition(first, last)
            return
        for index in range(first, last):
            self.number_at(index)
        self.brackets(first, last)

    def inner(self, opening, end):
        """What stands in brackets, piece by piece; numbers have been changed already."""
        first = opening + 1
        while first < end:
            comma = self.next(first, end, {","})
            question = self.next(first, comma, {"?"})
            decided = question if question < comma else comma
            if question < comma or self.decides(first, comma):
                self.condition(first, decided, numbers=False)
            else:
                self.brackets(first, comma)
            first = comma + 1

    def brackets(self, first, last):
        for index in self.level(first, last):
            if self.tokens[index].kind == "open":
                self.inner(index, self.partner[index])

    def colon(self, first, last):
        depth = 0
        for index in self.level(first, last):
            depth += {"?": 1, ":": -1}.get(self.tokens[index].text, 0)
            if depth < 0:
                return index
        return last

    def decides(self, first, last):
        """Whether an expression is true or false."""
        if self.tokens[first].text == "!":
            return True
        marks = {"&&", "||", "==", "!=", *COMPARISONS}
        return self.next(first, last, marks) < last and self.next(first, last, ASSIGNMENTS | {","}) == last

    def condition(self, first, last, numbers=True):
        if first >= last:
            return
        question = self.next(first, last, {"?"})
        if question < last:
            return self.value(first, last) if numbers else None
        for mark in ("||", "&&"):
            if marks := [index for index in self.level(first, last) if self.tokens[index].text == mark]:
                for begun, ended in zip([first, *(index + 1 for index in marks)], [*marks, last]):
                    self.condition(begun, ended, numbers)
                return None
        within = first + 1 if self.tokens[first].text == "!" else first
        if self.tokens[within].text == "(" and self.partner[within] == last - 1 and self.decides(within + 1, last - 1) \
                and self.next(within + 1, last - 1, {"&&", "||"}) < last - 1:
            return self.condition(within + 1, last - 1, numbers)
        self.operand(first, last)
        if numbers:
            for index in range(first, last):
                self.number_at(index)

    def operand(self, first, last):
        what = self.excerpt(first, last)
        always, never = self.add(first, f"`{what}` always true"), self.add(first, f"`{what}` always false")
        other, mark = None, self.next(first, last, set(COMPARISONS))
        if mark < last:
            other = self.add(mark, f"{self.tokens[mark].text} to {COMPARISONS[self.tokens[mark].text]}")
        numbers = [*filter(None, (always, never, other))]
        if not numbers:
            return
        before = f"(AFmutantC({always or 0}) ? 1 : AFmutantC({never or 0}) ? 0 : "
        if other:
            changed = f"{self.text_of(first, mark)} {COMPARISONS[self.tokens[mark].text]} {self.text_of(mark + 1, last)}"
            # Lines do not move.
            changed = " ".join(re.sub(r"//[^\n]*", "", changed).split())
            before += f"AFmutantC({other}) ? (({changed}) ? 1 : 0) : "
        self.surround(first, last, before + "((", ") ? 1 : 0))", *numbers)

    def number_at(self, index):
        tokens, token = self.tokens, self.tokens[index]
        if token.kind != "number" or not re.fullmatch(r"\d+|0x[\dA-Fa-f]+", token.text):
            return
        before = index - 1
        while before >= 0 and tokens[before].kind != "open":
            before = (self.partner[before] if tokens[before].kind == "close" else before) - 1
        # The length of an array is no expression; what a test's own fault is told of a call with no length decides nothing.
        if before >= 0 and (tokens[before].text == "[" or tokens[before - 1].text == "PERFORM"
                            and token.text == "0" and tokens[index + 1].text == ","):
            return
        more = self.add(index, f"{token.text} to {token.text} + 1")
        less = self.add(index, f"{token.text} to {token.text} - 1")
        if numbers := [*filter(None, (more, less))]:
            self.surround(index, index + 1, f"(AFmutantC({more or 0}) ? {token.text} + 1 : "
                          f"AFmutantC({less or 0}) ? {token.text} - 1 : ", ")", *numbers)
