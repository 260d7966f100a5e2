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
    kind: str                       # code, type, switch, enum, accessors, group, closure
    owner: str = ""                 # what its brace belongs to
    place: str = ""
    begun: int = -1                 # the first token of the statement under way
    lead: str = ""                  # its first word that is no modifier
    pending: str = ""               # a control word whose brace is still to come
    conditions: int = -1            # where the condition under way begins
    equals: bool = False            # a depth-0 `=` was seen in the statement
    label: bool = False             # in the label of a case
    header: bool = False            # in the head of a declaration
    where: bool = False
    statements: list = field(default_factory=list)
    returns: bool = False           # a value is expected of it
    initializer: bool = False
    parameters: int = -1            # the `in` after those of a closure


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
    """Finds the mutants of one source and writes them into it."""

    def __init__(self, path, text, number, cases, left_out, tokens=tokens_of):
        self.path, self.text, self.cases, self.left_out = path, text, cases, left_out
        self.tokens = tokens(text)
        self.number = number            # the next one
        self.mutants, self.edits = [], []  # edits: (offset, order, length, new text, mutants)
        self.operators = []             # (number, operator)
        self.lines = text.split("\n")
        self.seen = {}

    # MARK: Mutants

    def add(self, token, what, place):
        """A new mutant's number; None if it is left out."""
        line = self.text.count("\n", 0, token.start) + 1
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

    def replace(self, token, new, *numbers):
        self.edits.append((token.start, 1, token.end - token.start, new, numbers))

    def surround(self, first, last, before, after, *numbers):
        self.edits.append((first.start, 0, 0, before, numbers))
        self.edits.append((last.end, -1, 0, after, numbers))

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
        blocks = [Block("type")]
        tokens = self.tokens
        for index, token in enumerate(tokens):
            block = blocks[-1]
            previous = tokens[index - 1] if index else None
            following = tokens[index + 1] if index + 1 < len(tokens) else None
            braced = block.kind != "group"
            if index <= block.parameters:
                # What stands there names things, and decides nothing.
                continue
            if token.kind == "close":
                self.end_condition(block, previous)
                self.end_statement(block, index - 1)
                if token.text == "}":
                    self.close(block)
                blocks.pop()
                continue
            if braced and self.begins_statement(block, token, previous):
                self.end_statement(block, index - 1)
                self.begin_statement(block, index)
            if token.kind == "open":
                blocks.append(self.opened(blocks, token, previous))
                if blocks[-1].kind == "closure":
                    blocks[-1].parameters = self.end_of_parameters(index)
                if blocks[-1].kind != "group":
                    self.end_condition(block, previous)
                continue
            if braced:
                self.read(block, index, token, previous, following)
            if self.is_code(blocks):
                self.mutate(blocks, token, previous, following)
        return self.mutants

    def begins_statement(self, block, token, previous):
        if block.begun < 0:
            return True
        if previous and previous.text == ";":
            return True
        if not token.newline or block.label:
            return False
        if token.kind == "operator" and (token.text not in ("!", "-", "&") or previous.kind == "operator"):
            return False
        if token.text in ("else", "{", "where", "catch", "?", ":", ",", "throws", "in") or token.kind == "mark":
            return False
        if previous.kind == "operator" and previous.text not in ("!", "?") or previous.text in (",", "(", "[", ":"):
            return False
        if block.pending in ("guard", "if", "while", "for") and block.lead == block.pending:
            return False
        return previous.text not in ("throw", "in", "else", "try", "await")

    def begin_statement(self, block, index):
        block.begun, block.equals, block.header, block.where = index, False, False, False
        words = self.tokens[index:index + 12]
        lead, skip = "", 0
        for token in words:
            if skip:
                skip += {"(": 1, ")": -1}.get(token.text, 0)
                if skip == 1:
                    skip = 0
                continue
            if token.text in MODIFIERS or token.text.startswith("@"):
                continue
            if token.text == "(" and lead == "":
                skip = 2  # the arguments of a modifier or an attribute
                continue
            lead = token.text
            break
        if words[0].kind == "open":
            lead = words[0].text
        block.lead = lead
        block.header = lead in HEADED
        block.label = lead in ("case", "default") and block.kind in ("switch", "enum")
        block.pending = ""
        block.conditions = -1

    def read(self, block, index, token, previous, following):
        text = token.text
        if token.kind == "operator" and text == "=":
            block.equals = True
        if block.label:
            if text == "where":
                block.where, block.conditions = True, index + 1
            elif text in (":", ",") and block.where:
                self.end_condition(block, previous)
                block.where = False
            if text == ":" and block.kind == "switch":
                block.label, block.begun = False, -1
            return
        if token.kind != "word" or block.header:
            if text == "," and block.conditions >= 0:
                self.end_condition(block, previous)
                block.conditions = index + 1
            return
        if text in CONTROL and previous and previous.text != ".":
            if text == "else":
                if block.pending == "guard":
                    self.end_condition(block, previous)
                block.pending = "else"
            else:
                block.pending = text
                if text in ("if", "guard", "while"):
                    block.conditions = index + 1
        elif text == "where" and block.pending == "for":
            block.conditions = index + 1

    def opened(self, blocks, token, previous):
        block = blocks[-1]
        place = block.place
        if token.text != "{":
            return Block("group", place=place)
        if block.kind == "group":
            return Block("closure", "closure", place, returns=True)
        lead, name = block.lead, ""
        if block.pending:
            kind = "switch" if block.pending == "switch" else "code"
            # As a value, every branch is one.
            returns = block.equals or lead == "return" or (block.returns and lead in ("if", "switch"))
            owner, block.pending = block.pending, ""
            return Block(kind, owner, place, returns=returns, initializer=block.initializer)
        if lead in TYPES:
            name = self.named(block)
            block.header = False
            kind = "enum" if lead == "enum" else "type"
            return Block(kind, lead, f"{place}.{name}".strip("."))
        if lead in ("func", "init", "deinit", "subscript"):
            name = lead if lead != "func" else self.named(block)
            block.header = False
            head = self.tokens[block.begun:self.tokens.index(token, block.begun)]
            returns = any(t.text == "->" for t in head) or lead == "subscript"
            return Block("code", lead, f"{place}.{name}".strip("."), returns=returns, initializer=lead == "init")
        if lead in ("var", "let") and not block.equals:
            return Block("code", lead, f"{place}.{self.named(block)}".strip("."), returns=True)
        if lead in ACCESSORS:
            return Block("code", lead, place, returns=lead == "get")
        return Block("closure", "closure", place, returns=True)

    def end_of_parameters(self, opening):
        """The `in` on the line of a closure's brace; -1 without one."""
        depth = 0
        for index in range(opening + 1, len(self.tokens)):
            token = self.tokens[index]
            if token.newline or token.text in ("{", "}", "for"):
                break
            depth += {"open": 1, "close": -1}.get(token.kind, 0)
            if token.text == "in" and depth == 0:
                return index
        return -1

    def named(self, block):
        words = self.tokens[block.begun:block.begun + 12]
        for one, two in zip(words, words[1:]):
            if one.text == block.lead:
                return two.text
        return ""

    def is_code(self, blocks):
        for block in reversed(blocks):
            if block.kind == "group":
                continue
            if block.header or block.lead in UNTOUCHED or block.lead.startswith("#"):
                return False
            if block.kind == "enum" and block.lead == "case":
                return False
            return block.kind in ("code", "closure", "switch") or block.equals
        return False

    # MARK: Changes

    def mutate(self, blocks, token, previous, following):
        block = next(b for b in reversed(blocks) if b.kind != "group")
        place, label = block.place, block.label and not block.where
        if token.kind == "number" and previous.text != "." and re.fullmatch(r"\d[\d_]*|0x[\dA-Fa-f_]+", token.text):
            more = self.add(token, f"{token.text} to {token.text} + 1", place)
            less = self.add(token, f"{token.text} to {token.text} - 1", place)
            if more or less:
                self.replace(token, f"AFliteral({more or 0}, {less or 0}, {token.text})", *filter(None, (more, less)))
        elif token.text in ("true", "false") and token.kind == "word" and not label:
            other = "false" if token.text == "true" else "true"
            if number := self.add(token, f"{token.text} to {other}", place):
                self.replace(token, f"AFflip({number}, {token.text})", number)
        elif label:
            return
        elif token.kind == "operator" and token.text in OPERATORS and self.is_binary(token, previous, following):
            if following.text == "nil" or previous.text == "nil" or following.kind == "string":
                return
            if token.text in ("==", "!=") and self.is_whole_condition(block, token):
                return
            new = OPERATORS[token.text][0]
            if number := self.add(token, f"{token.text} to {new}", place):
                self.operators.append((number, token.text))
                self.replace(token, operator_name(number), number)
        elif token.text == "!" and following and following.start == token.end and (
                previous.end < token.start or previous.kind == "open"):
            if block.conditions >= 0 and self.tokens[block.conditions] is token and \
                    blocks[-1] is block and self.is_whole_condition(block, token):
                return
            if number := self.add(token, "! left out", place):
                self.operators.append((number, "!"))
                self.replace(token, operator_name(number), number)
        elif token.kind == "operator" and token.text == "." and following and following.kind == "word" and \
                following.text in self.cases and following.start == token.end and (
                    previous.end < token.start or previous.kind == "open"):
            index = self.tokens.index(following)
            if index + 1 < len(self.tokens) and self.tokens[index + 1].start == following.end and \
                    self.tokens[index + 1].text[0] in "(.":
                return
            if any(t.text in ("case", "is") for t in self.tokens[max(0, index - 3):index - 1]):
                return
            other = self.cases[following.text]
            if number := self.add(token, f".{following.text} to .{other}", place):
                self.replace(token, f"(AFmutant({number}) ? .{other} : .", number)
                self.edits.append((following.end, -2, 0, ")", (number,)))

    def is_binary(self, token, previous, following):
        return previous.end < token.start and following is not None and following.start > token.end

    def is_whole_condition(self, block, token):
        """Whether nothing else decides a condition: made true or false, it says all that this could."""
        if block.conditions < 0:
            return False
        depth = 0
        for other in self.tokens[block.conditions:]:
            if other.kind == "open":
                if other.text == "{" and depth == 0:
                    break
                depth += 1
            elif other.kind == "close":
                depth -= 1
            if depth < 0 or depth == 0 and other.text in (",", "else", ":"):
                break
            if other.text in ("&&", "||", "?"):
                return False
            if depth > 0 and other is token:
                return False
        return True

    def end_condition(self, block, last):
        if block.conditions < 0:
            return
        first, block.conditions = block.conditions, -1
        begun = self.tokens[first]
        if begun.text in ("let", "var", "case", "true") or begun.text.startswith("#") or begun.start >= last.end:
            return
        always = self.add(begun, f"`{self.excerpt(begun, last)}` always true", block.place)
        never = self.add(begun, f"`{self.excerpt(begun, last)}` always false", block.place)
        numbers = [*filter(None, (always, never))]
        if numbers:
            self.surround(begun, last, f"(AFmutant({always or 0}) ? true : AFmutant({never or 0}) ? false : (", "))",
                          *numbers)

    def excerpt(self, first, last):
        return " ".join(re.sub(r"\s//[^\n]*", "", self.text[first.start:last.end]).split())

    def end_statement(self, block, last):
        if block.begun < 0 or block.kind == "group":
            return
        first, block.begun = block.begun, -1
        if last < first or block.kind not in ("code", "switch", "closure"):
            return
        block.statements.append((first, last, block.lead, block.label))

    def close(self, block):
        """Leaves out each statement of a block in turn, where it is no value of it."""
        alone = len(block.statements) == 1 or block.kind == "switch"
        for first, last, lead, label in block.statements:
            begun, ended = self.tokens[first], self.tokens[last]
            if label or lead in CONTROL | DECLARATIONS | UNTOUCHED | ACCESSORS | {"return", "throw", "break", "continue",
                                                                   "fallthrough", "default"}:
                continue
            if begun.kind != "word" or begun.text.startswith(("@", "#", "$")) or alone and block.returns:
                continue
            texts = [t.text for t in self.tokens[first:last + 1]]
            assigned = any(re.fullmatch(r"[-+*/%|&^<>]*=", t) and t not in ("==", "<=", ">=", "!=") for t in texts)
            if block.initializer and (assigned or texts[:3] == ["self", ".", "init"]) or not assigned and "(" not in texts and "{" not in texts:
                continue
            if block.owner == "closure" and len(block.statements) == 1 and not assigned:
                continue
            if number := self.add(begun, f"`{self.excerpt(begun, ended)[:60]}` left out",
                                  block.place):
                self.surround(begun, ended, f"if !AFmutant({number}) {{ ", " }", number)


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
