"""The changes that .ci/mutate makes to Swift sources, each behind a switch.

A mutant must cost no build of its own. So all of them are written into one copy of the sources, and a number in the
environment says which one holds: `a < b` becomes `a ≺17 b`, with an operator of its own that is `<` unless 17 is asked
for. What is changed is a token or a whole condition or statement, so that nothing has to be understood but where those
begin and end. That a change compiles is not known beforehand; .ci/mutate leaves out those that do not.
"""
import re
from dataclasses import dataclass, field

from literals import quiet_parts

# What an operator becomes.
OPERATORS = {
    "==": ("!=", "ComparisonPrecedence", "Equatable"), "!=": ("==", "ComparisonPrecedence", "Equatable"),
    "<": ("<=", "ComparisonPrecedence", "Comparable"), "<=": ("<", "ComparisonPrecedence", "Comparable"),
    ">": (">=", "ComparisonPrecedence", "Comparable"), ">=": (">", "ComparisonPrecedence", "Comparable"),
    "&&": ("||", "LogicalConjunctionPrecedence", None), "||": ("&&", "LogicalDisjunctionPrecedence", None),
    "+": ("-", "AdditionPrecedence", "AdditiveArithmetic"), "-": ("+", "AdditionPrecedence", "AdditiveArithmetic"),
}

TOKEN = re.compile(
    r"(?P<space>[ \t]+)|(?P<line>\n)|(?P<comment>//|/\*)"
    r'|(?P<string>#*")|(?P<number>\d[\w]*(?:\.\d\w*)?)|(?P<word>[A-Za-z_$#@`][\w`]*)'
    r"|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<mark>[,;:])|(?P<operator>->|[-+*/%=<>!&|^~?.\\]+)|(?P<other>.)"
)
CONTROL = {"if", "guard", "while", "for", "switch", "do", "repeat", "defer", "catch", "else"}
TYPES = {"struct", "class", "enum", "extension", "protocol", "actor"}
DECLARATIONS = TYPES | {"func", "init", "deinit", "subscript", "var", "let", "import", "typealias", "case",
                        "associatedtype", "operator", "precedencegroup", "macro"}
# What has a head that is no code.
HEADED = TYPES | {"func", "init", "deinit", "subscript", "import", "typealias", "operator", "precedencegroup",
                  "associatedtype"}
MODIFIERS = {"public", "package", "internal", "fileprivate", "private", "static", "final", "mutating", "nonmutating",
             "override", "lazy", "weak", "indirect", "nonisolated", "required", "convenience", "consuming",
             "borrowing", "prefix", "infix", "postfix", "isolated", "open", "unowned", "dynamic", "optional"}
ACCESSORS = {"get", "set", "didSet", "willSet", "_read", "_modify"}
# Bugs of our own, which no test can reach.
UNTOUCHED = {"precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError"}
# Statements that stay.
KEPT = CONTROL | DECLARATIONS | UNTOUCHED | ACCESSORS | {"return", "throw", "break", "continue", "fallthrough", "default"}
# What a line goes on with, or behind.
GO_ON_WITH = {"else", "{", "where", "catch", "throws", "in"}
GO_ON_BEHIND = {",", "(", "[", ":", "throw", "in", "else", "try", "await"}
CONDITIONAL = {"guard", "if", "while", "for"}


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int
    newline: bool = False  # the first on its line


@dataclass
class Mutant:
    path: str
    place: str  # the declaration it is in
    line: int
    text: str   # the line as it stands
    what: str
    number: int = 0
    again: int = 0  # several alike in one line

    @property
    def key(self):
        return (self.path, self.place, self.what + (f" #{self.again + 1}" if self.again else ""), self.text)


@dataclass
class Block:
    """What stands between two braces."""
    kind: str                       # code, type, switch, enum, closure
    owner: str = ""                 # what its brace belongs to
    place: str = ""
    returns: bool = False           # a value is expected of it
    initializer: bool = False
    begun: int = -1                 # the first token of the statement under way
    lead: str = ""                  # its first word that is no modifier
    name: str = ""                  # the word behind that
    pending: str = ""               # a control word whose brace is still to come
    conditions: int = -1            # where the condition under way begins
    equals: bool = False            # a depth-0 `=` was seen in the statement
    label: bool = False             # in the label of a case
    header: bool = False            # in the head of a declaration
    where: bool = False
    statements: list = field(default_factory=list)


def tokens_of(text):
    """The tokens of a source, without space and comments; a string literal is one token."""
    found, at, fresh = [], 0, True
    ends = {start if literal is None else literal: end for start, end, literal in quiet_parts(text)}
    while at < len(text):
        match = TOKEN.match(text, at)
        kind, end = match.lastgroup, ends.get(at, match.end())
        if kind == "line":
            fresh = True
        elif kind not in ("space", "comment"):
            found.append(Token(kind, text[at:end], at, end, fresh))
            fresh = False
        at = end
    return found


def siblings(texts):
    """{case name: the next case without a payload of the same enumeration}, of all that are named once."""
    found, twice = {}, set()
    for text in texts:
        for body in re.finditer(r"\b(?:enum|struct)\s+\w+[^{]*\{\n(.*?)\n\s*\}\n", text, re.S):
            names = re.findall(r"^\s*(?:indirect )?case (\w+(?:, \w+)*)\s*(?:=[^\n]*)?$", body[1], re.M)
            names = [name for line in names for name in line.split(", ")]
            names += re.findall(r"^\s*(?:public |package )?static let (\w+) = \w+\(", body[1], re.M)
            for name, other in zip(names, names[1:] + names[:1]):
                if name in found and found[name] != other:
                    twice.add(name)
                if name != other:
                    found.setdefault(name, other)
    return {name: other for name, other in found.items() if name not in twice and name not in ("none", "some")}


class Writer:
    """Finds the mutants of one source and writes them into it. Two places in its tokens say what is meant: the first one, and
    the one behind the last."""

    def __init__(self, path, text, number, cases, left_out, tokens=tokens_of):
        self.path, self.text, self.cases, self.left_out = path, text, cases, left_out
        self.tokens = tokens(text)
        self.number = number            # the next one
        self.mutants, self.edits = [], []  # edits: (offset, order, length, new text, mutants)
        self.operators = []             # (number, operator)
        self.lines = text.split("\n")
        self.seen, self.partner, opened = {}, {}, []
        for index, token in enumerate(self.tokens):
            if token.kind == "open":
                opened.append(index)
            elif token.kind == "close" and opened:
                self.partner[index] = opened.pop()
                self.partner[self.partner[index]] = index

    def level(self, first, end):
        """The tokens that are not within brackets, with the opening ones."""
        while first < end and self.tokens[first].kind != "close":
            yield first
            first = self.partner.get(first, first) + 1

    def next(self, first, end, wanted):
        return next((index for index in self.level(first, end) if self.tokens[index].text in wanted), end)

    def text_of(self, first, end):
        return self.text[self.tokens[first].start:self.tokens[end - 1].end]

    def excerpt(self, first, end):
        return " ".join(re.sub(r"\s//[^\n]*", "", self.text_of(first, end)).split())

    # MARK: Mutants

    def add(self, index, what, place):
        """A new mutant's number; None if it is left out."""
        line = self.text.count("\n", 0, self.tokens[index].start) + 1
        mutant = Mutant(self.path, place, line, self.lines[line - 1].strip(), what)
        alike = (place, what, mutant.text)
        mutant.again = self.seen.get(alike, 0)
        self.seen[alike] = mutant.again + 1
        if mutant.key in self.left_out:
            return None
        mutant.number = self.number
        self.number += 1
        self.mutants.append(mutant)
        return mutant.number

    def replace(self, index, new, *numbers):
        token = self.tokens[index]
        self.edits.append((token.start, (2, 0), token.end - token.start, new, numbers))

    def surround(self, first, end, before, after, *numbers):
        """Inner texts are written within outer ones: an outer one begins before and ends after them."""
        begun, ended = self.tokens[first].start, self.tokens[end - 1].end
        self.edits.append((begun, (1, begun - ended), 0, before, numbers))
        self.edits.append((ended, (0, ended - begun), 0, after, numbers))

    def written(self):
        """The source with its switches, and where each is: {number: (line, column, last line, width)}."""
        out, at, spans = [], 0, {}
        length = 0
        for offset, _, count, new, numbers in sorted(self.edits, key=lambda edit: edit[:2]):
            out.append(self.text[at:offset])
            length += offset - at
            for number in numbers:
                spans.setdefault(number, []).append((length, length + len(new)))
            out.append(new)
            length += len(new)
            at = offset + count
        out.append(self.text[at:])
        text = "".join(out)
        places = {}
        for number, ranges in spans.items():
            low, high = min(low for low, _ in ranges), max(high for _, high in ranges)
            line = text.count("\n", 0, low) + 1
            begin = text.rfind("\n", 0, low) + 1
            places[number] = (line, low - begin + 1, text.count("\n", 0, high) + 1, high - low)
        return text, places

    # MARK: Reading

    def find(self):
        self.braced(0, len(self.tokens), Block("type"))
        return self.mutants

    def braced(self, index, end, block):
        while index < end:
            if self.begins_statement(block, index):
                self.end_statement(block, index)
                self.begin_statement(block, index)
            if self.tokens[index].kind == "open":
                index = self.bracket(index, block, self.opened(block, index))
                continue
            self.read(block, index)
            self.mutate(block, index)
            index += 1
        self.end_condition(block, end)
        self.end_statement(block, end)
        self.leave_out(block)

    def bracket(self, index, block, inner):
        """Reads what stands in brackets, `inner` if these are braces, and gives what comes behind them."""
        at, end = index + 1, self.partner[index]
        if self.tokens[index].text == "{":
            if inner.kind == "closure":
                at = self.code_of_closure(at, end)
            self.braced(at, end, inner)
        else:
            while at < end:
                if self.tokens[at].kind == "open":
                    at = self.bracket(at, block, Block("closure", "closure", block.place, returns=True))
                else:
                    self.mutate(block, at)
                    at += 1
        return end + 1

    def code_of_closure(self, first, end):
        """Behind the `in` on the line of its brace: what stands before names things, and decides nothing."""
        for index in self.level(first, end):
            if self.tokens[index].newline or self.tokens[index].text in ("{", "for"):
                break
            if self.tokens[index].text == "in":
                return index + 1
        return first

    def begins_statement(self, block, index):
        token, previous = self.tokens[index], self.tokens[index - 1]
        if block.begun < 0 or previous.text == ";":
            return True
        if not token.newline or block.label or token.kind == "mark" or previous.text in GO_ON_BEHIND \
                or token.text in GO_ON_WITH or block.pending and block.lead == block.pending in CONDITIONAL:
            return False
        if token.kind == "operator" and (token.text not in ("!", "-", "&") or previous.kind == "operator"):
            return False
        return previous.kind != "operator" or previous.text in ("!", "?")

    def begin_statement(self, block, index):
        block.begun, block.equals, block.where, block.pending, block.conditions = index, False, False, "", -1
        while self.tokens[index].text in MODIFIERS or self.tokens[index].text.startswith("@"):
            index += 1
            if self.tokens[index].text == "(":  # the arguments of a modifier or an attribute
                index = self.partner[index] + 1
        block.lead = self.tokens[index].text
        block.name = self.tokens[index + 1].text if index + 1 < len(self.tokens) else ""
        block.header = block.lead in HEADED
        block.label = block.lead in ("case", "default") and block.kind in ("switch", "enum")

    def read(self, block, index):
        token, previous = self.tokens[index], self.tokens[index - 1]
        text = token.text
        if text == "=":
            block.equals = True
        if block.label:
            if text == "where":
                block.where, block.conditions = True, index + 1
            elif text in (":", ",") and block.where:
                self.end_condition(block, index)
                block.where = False
            if text == ":" and block.kind == "switch":
                block.label, block.begun = False, -1
        elif text == "," and block.conditions >= 0:
            self.end_condition(block, index)
            block.conditions = index + 1
        elif text == "else" and block.pending == "guard":
            self.end_condition(block, index)
            block.pending = "else"
        elif text in CONTROL and previous.text != "." and not block.header:
            block.pending = text
            if text in ("if", "guard", "while"):
                block.conditions = index + 1
        elif text == "where" and block.pending == "for":
            block.conditions = index + 1

    def opened(self, block, index):
        """The block that a brace opens; it ends a condition."""
        if self.tokens[index].text != "{":
            return None
        self.end_condition(block, index)
        lead, inner, owner = block.lead, f"{block.place}.{block.name}".strip("."), block.pending or block.lead
        if block.pending:
            block.pending = ""
            # As a value, every branch is one.
            returns = block.equals or lead == "return" or block.returns and lead in ("if", "switch")
            return Block("switch" if owner == "switch" else "code", owner, block.place, returns, block.initializer)
        if lead in TYPES:
            block.header = False
            return Block("enum" if lead == "enum" else "type", lead, inner)
        if lead in ("func", "init", "deinit", "subscript"):
            block.header = False
            returns = any(token.text == "->" for token in self.tokens[block.begun:index]) or lead == "subscript"
            return Block("code", lead, inner if lead == "func" else f"{block.place}.{lead}".strip("."), returns, lead == "init")
        if lead in ("var", "let") and not block.equals:
            return Block("code", lead, inner, returns=True)
        if lead in ACCESSORS:
            return Block("code", lead, block.place, returns=lead == "get")
        return Block("closure", "closure", block.place, returns=True)

    # MARK: Changes

    def mutate(self, block, index):
        """Changes one token, if it is code."""
        token, previous, following = self.tokens[index], self.tokens[index - 1], self.tokens[min(index + 1, len(self.tokens) - 1)]
        if block.header or block.lead in UNTOUCHED or block.lead.startswith("#") or block.kind == "enum" and block.lead == "case" \
                or block.kind not in ("code", "closure", "switch") and not block.equals:
            return
        text, place, begins = token.text, block.place, previous.end < token.start or previous.kind == "open"
        if token.kind == "number" and previous.text != "." and re.fullmatch(r"\d[\d_]*|0x[\dA-Fa-f_]+", text):
            more, less = (self.add(index, f"{text} to {text} {sign} 1", place) for sign in "+-")
            if more or less:
                self.replace(index, f"AFliteral({more or 0}, {less or 0}, {text})", *filter(None, (more, less)))
        elif block.label and not block.where:
            return
        elif token.kind == "word" and text in ("true", "false"):
            if number := self.add(index, f"{text} to {'false' if text == 'true' else 'true'}", place):
                self.replace(index, f"AFflip({number}, {text})", number)
        elif token.kind != "operator":
            return
        elif text in OPERATORS and previous.end < token.start and following.start > token.end:
            if "nil" in (following.text, previous.text) or following.kind == "string" \
                    or text in ("==", "!=") and self.is_whole_condition(block, index):
                return
            self.replace_operator(index, f"{text} to {OPERATORS[text][0]}", place)
        elif text == "!" and following.start == token.end and begins:
            if block.conditions != index or not self.is_whole_condition(block, index):
                self.replace_operator(index, "! left out", place)
        elif text == "." and following.text in self.cases and following.start == token.end and begins:
            behind = self.tokens[index + 2]
            if behind.start == following.end and behind.text[0] in "(." \
                    or any(t.text in ("case", "is") for t in self.tokens[max(0, index - 2):index]):
                return
            other = self.cases[following.text]
            if number := self.add(index, f".{following.text} to .{other}", place):
                self.replace(index, f"(AFmutant({number}) ? .{other} : .", number)
                self.edits.append((following.end, (-1, 0), 0, ")", (number,)))

    def replace_operator(self, index, what, place):
        if number := self.add(index, what, place):
            self.operators.append((number, self.tokens[index].text))
            self.replace(index, operator_name(number), number)

    def is_whole_condition(self, block, index):
        """Whether nothing else decides a condition: made true or false, it says all that this could."""
        first = block.conditions
        if first < 0:
            return False
        end = self.next(first, len(self.tokens), {"{", ",", "else", ":"})
        return index in self.level(first, end) and not any(t.text in ("&&", "||", "?") for t in self.tokens[first:end])

    def end_condition(self, block, end):
        if block.conditions < 0:
            return
        first, block.conditions = block.conditions, -1
        if first >= end or self.tokens[first].text in ("let", "var", "case", "true") or self.tokens[first].text.startswith("#"):
            return
        always, never = (self.add(first, f"`{self.excerpt(first, end)}` always {what}", block.place) for what in ("true", "false"))
        if numbers := [*filter(None, (always, never))]:
            self.surround(first, end, f"(AFmutant({always or 0}) ? true : AFmutant({never or 0}) ? false : (", "))", *numbers)

    def end_statement(self, block, end):
        if 0 <= block.begun < end and block.kind in ("code", "switch", "closure"):
            block.statements.append((block.begun, end, block.lead, block.label))
        block.begun = -1

    def leave_out(self, block):
        """Leaves out each statement of a block in turn, where it is no value of it."""
        alone = len(block.statements) == 1 or block.kind == "switch"
        for first, end, lead, label in block.statements:
            if label or lead in KEPT or self.tokens[first].kind != "word" or self.tokens[first].text[0] in "@#$" \
                    or alone and block.returns:
                continue
            texts = [token.text for token in self.tokens[first:end]]
            is_assigned = any(re.fullmatch(r"[-+*/%|&^<>]*=", text) and text not in ("==", "<=", ">=") for text in texts)
            if block.initializer and (is_assigned or texts[:3] == ["self", ".", "init"]) \
                    or not is_assigned and "(" not in texts and "{" not in texts \
                    or block.owner == "closure" and len(block.statements) == 1 and not is_assigned:
                continue
            if number := self.add(first, f"`{self.excerpt(first, end)[:60]}` left out", block.place):
                self.surround(first, end, f"if !AFmutant({number}) {{ ", " }", number)


def operator_name(number):
    return "≺" + "".join(chr(0x2500 + int(digit)) for digit in str(number))


def library(operators):
    """The module with the switches: one number of the environment, read once."""
    lines = ["""
import Glibc

/// The mutant that holds; 0 for none.
public let AFactive: Int = getenv("AFNET_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

/// Which ones were reached, a byte for each, in a file that processes share.
nonisolated(unsafe) private let reached: UnsafeMutableRawPointer? = {
    guard let path = getenv("AFNET_MUTANTS_REACHED") else { return nil }
    let descriptor = open(path, O_RDWR)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let size = Int(lseek(descriptor, 0, SEEK_END))
    let map = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    return map == MAP_FAILED ? nil : map
}()

/// The same for C.
@_cdecl("AFmutantC")
public func AFmutantInC(_ number: Int) -> Bool { AFmutant(number) }

public func AFmutant(_ number: Int) -> Bool {
    if let reached { reached.storeBytes(of: 1, toByteOffset: number, as: UInt8.self) }
    return number == AFactive && number != 0
}

public func AFflip(_ number: Int, _ value: Bool) -> Bool { AFmutant(number) != value }

public func AFliteral<T: FixedWidthInteger>(_ more: Int, _ less: Int, _ value: T) -> T {
    AFmutant(more) ? value &+ 1 : AFmutant(less) ? value &- 1 : value
}
"""]
    for number, operator in operators:
        name = operator_name(number)
        if operator == "!":
            lines.append(f"prefix operator {name}")
            lines.append(f"public prefix func {name} (a: Bool) -> Bool {{ AFmutant({number}) ? a : !a }}")
            continue
        new, precedence, kind = OPERATORS[operator]
        lines.append(f"infix operator {name}: {precedence}")
        if kind is None:
            lines.append(f"public func {name} (a: Bool, b: @autoclosure () throws -> Bool) rethrows -> Bool "
                         f"{{ AFmutant({number}) ? try a {new} b() : try a {operator} b() }}")
            continue
        result = "T" if kind == "AdditiveArithmetic" else "Bool"
        if kind == "AdditiveArithmetic":
            # Pointers and what is added to them.
            sign, other = ("", "-") if operator == "+" else ("-", "")
            lines.append(f"@_disfavoredOverload public func {name} <T: Strideable>(a: T, b: Int) -> T where T.Stride == Int "
                         f"{{ a.advanced(by: AFmutant({number}) ? {other}b : {sign}b) }}")
        lines.append(f"public func {name} <T: {kind}>(a: T, b: T) -> {result} "
                     f"{{ AFmutant({number}) ? a {new} b : a {operator} b }}")
    return "\n".join(lines) + "\n"
