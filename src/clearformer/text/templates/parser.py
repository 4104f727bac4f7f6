"""From tokens to the statements of a template. What is not of the language's part that is supported is refused here,
by name, before anything is evaluated.
"""

from collections.abc import Collection

from clearformer.text.templates.budget import MOST_DEPTH, TemplateError
from clearformer.text.templates.filters import FILTERS, TESTS
from clearformer.text.templates.lexer import TemplateToken, TokenKind, read_tokens
from clearformer.text.templates.methods import FUNCTIONS, METHOD_NAMES
from clearformer.text.templates.syntax import (
    Applied,
    Assignment,
    Compared,
    Conditional,
    Constant,
    Dictionary,
    Expression,
    ForBlock,
    IfBlock,
    Lookup,
    LoopExit,
    Operation,
    Sequenced,
    SliceOf,
    Statement,
    Variable,
    Written,
)

_CONSTANTS = {"true": True, "false": False, "none": None, "True": True, "False": False, "None": None}
_COMPARED = {"==", "!=", "<", ">", "<=", ">="}
_LEVELS: tuple[Collection[str], ...] = (("+", "-"), ("~",), ("*", "/", "//", "%"))  # loosest first
_END_OF_TEST = {"else", "or", "and", "is"}  # any other name is the argument of a test, as in Jinja


def parse(source: str) -> tuple[Statement, ...]:
    """The statements of a template."""
    reader = Parser(read_tokens(source))
    try:
        statements = reader.body(())
    except RecursionError:
        raise TemplateError("it nests too deeply") from None
    return statements


class Parser:
    """Reads tokens from left to right; every method leaves off behind what it has read."""

    def __init__(self, tokens: list[TemplateToken]) -> None:
        self.tokens, self.place, self.depth, self.loops = tokens, 0, 0, 0

    # --- tokens ------------------------------------------------------------------------------------------------------

    @property
    def next(self) -> TemplateToken:
        return self.tokens[self.place]

    def take(self) -> TemplateToken:
        token = self.next
        self.place += 1
        return token

    def sees(self, kind: TokenKind, *texts: str) -> bool:
        return self.next.kind == kind and (not texts or self.next.text in texts)

    def skip(self, kind: TokenKind, *texts: str) -> bool:
        """Whether that comes next; if so, it is read."""
        found = self.sees(kind, *texts)
        self.place += found
        return found

    def want(self, kind: TokenKind, *texts: str) -> TemplateToken:
        if not self.sees(kind, *texts):
            wanted = " or ".join(map(repr, texts)) if texts else f"a {kind}"
            raise self.error(f"{wanted} should stand where {self.next.text[:40]!r} stands")
        return self.take()

    def error(self, what: str) -> TemplateError:
        return TemplateError(f"line {self.next.line}: {what}")

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self.error(f"it nests more than {MOST_DEPTH} deep")

    # --- statements --------------------------------------------------------------------------------------------------

    def body(self, ends: tuple[str, ...]) -> tuple[Statement, ...]:
        """Statements up to a tag that is one of `ends`, of which the brace is read; without any, to the end."""
        self.deeper()
        found: list[Statement] = []
        while not self.sees("end"):
            token = self.take()
            if token.kind == "text":
                found.append(Written(token.line, Constant(token.text)))
            elif token.text == "{{":
                found.append(Written(token.line, self.expression()))
                self.want("close")
            elif ends and self.sees("name", *ends):
                self.depth -= 1
                return tuple(found)
            else:
                found += self.tag(self.want("name"))
        if ends:
            raise self.error(f"{' or '.join(ends)} is missing")
        self.depth -= 1
        return tuple(found)

    def tag(self, name: TemplateToken) -> tuple[Statement, ...]:
        """What stands behind {%, up to the tag that ends it."""
        if name.text == "if":
            return (self.if_block(name.line),)
        if name.text == "for":
            return (self.for_block(name.line),)
        if name.text == "set":
            return (self.assignment(name.line),)
        if name.text == "generation":  # marks the answer for programs that want to know; it changes no text
            self.want("close")
            inner = self.body(("endgeneration",))
            self.end_tag()
            return inner
        if name.text in ("break", "continue") and self.loops:
            self.want("close")
            return (LoopExit(name.line, name.text == "break"),)
        raise TemplateError(f"line {name.line}: the tag {name.text!r} is not supported here")

    def end_tag(self) -> None:
        self.take()
        self.want("close")

    def if_block(self, line: int) -> IfBlock:
        condition = self.expression()
        self.want("close")
        then = self.body(("elif", "else", "endif"))
        word = self.take()
        otherwise: tuple[Statement, ...] = ()
        if word.text == "elif":
            self.deeper()
            otherwise = (self.if_block(word.line),)
            self.depth -= 1
            return IfBlock(line, condition, then, otherwise)
        self.want("close")
        if word.text == "else":
            otherwise = self.body(("endif",))
            self.end_tag()
        return IfBlock(line, condition, then, otherwise)

    def for_block(self, line: int) -> ForBlock:
        targets = [self.want("name").text]
        while self.skip("sign", ","):
            targets.append(self.want("name").text)
        self.want("name", "in")
        items = self.either()
        condition = self.expression() if self.skip("name", "if") else None
        self.want("close")
        self.loops += 1
        body = self.body(("else", "endfor"))
        self.loops -= 1
        otherwise: tuple[Statement, ...] = ()
        if self.sees("name", "else"):
            self.end_tag()
            otherwise = self.body(("endfor",))
        self.end_tag()
        return ForBlock(line, tuple(targets), items, condition, body, otherwise)

    def assignment(self, line: int) -> Assignment:
        name = self.want("name").text
        attribute = self.want("name").text if self.skip("sign", ".") else None
        if self.skip("sign", "="):
            value: Expression | tuple[Statement, ...] = self.expression()
            self.want("close")
            return Assignment(line, name, attribute, value)
        self.want("close")
        loops, self.loops = self.loops, 0
        value = self.body(("endset",))
        self.loops = loops
        self.end_tag()
        return Assignment(line, name, attribute, value)

    # --- expressions, loosest first ----------------------------------------------------------------------------------

    def expression(self) -> Expression:
        self.deeper()
        found = self.either()
        while self.skip("name", "if"):
            condition = self.either()
            otherwise = self.expression() if self.skip("name", "else") else None
            found = Conditional(condition, found, otherwise)
        self.depth -= 1
        return found

    def either(self) -> Expression:
        left = self.both()
        while self.skip("name", "or"):
            left = Operation("or", left, self.both())
        return left

    def both(self) -> Expression:
        left = self.negated()
        while self.skip("name", "and"):
            left = Operation("and", left, self.negated())
        return left

    def negated(self) -> Expression:
        nots = 0
        while self.skip("name", "not"):
            nots += 1
        found = self.comparison()
        for _ in range(nots):
            found = Operation("not", found)
        return found

    def comparison(self) -> Expression:
        first = self.arithmetic(0)
        rest: list[tuple[str, Expression]] = []
        while True:
            if self.next.kind == "sign" and self.next.text in _COMPARED:
                sign = self.take().text
            elif self.skip("name", "in"):
                sign = "in"
            elif self.sees("name", "not") and self.tokens[self.place + 1].text == "in":
                self.place += 2
                sign = "not in"
            else:
                return Compared(first, tuple(rest)) if rest else first
            rest.append((sign, self.arithmetic(0)))

    def arithmetic(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self.applied()
        left = self.arithmetic(level + 1)
        while self.next.kind == "sign" and self.next.text in _LEVELS[level]:
            left = Operation(self.take().text, left, self.arithmetic(level + 1))
        return left

    def applied(self) -> Expression:
        """A value with the filters and tests behind it; a minus before it belongs to the value."""
        found = self.signed()
        while True:
            if self.skip("sign", "|"):
                found = self.named_call("filter", self.want("name").text, found, FILTERS)
            elif self.skip("name", "is"):
                found = self.test(found)
            else:
                return found

    def signed(self) -> Expression:
        if self.sees("sign", "-", "+"):
            self.deeper()
            sign = self.take().text
            found: Expression = Operation(sign, self.signed())
            self.depth -= 1
            return found
        return self.postfixed(self.primary())

    def test(self, of: Expression) -> Expression:
        negated = self.skip("name", "not")
        name = self.want("name").text
        if name not in TESTS:
            raise self.error(f"the test {name!r} is not supported here")
        found: Expression
        starts = self.next.kind in ("string", "number") or self.sees("sign", "[", "{")
        if starts or (self.next.kind == "name" and self.next.text not in _END_OF_TEST):
            found = Applied("test", name, of, (self.postfixed(self.primary()),), ())
        else:
            found = self.named_call("test", name, of, TESTS)
        if self.sees("name", "is"):
            raise self.error("a test stands behind a test")
        return Operation("not", found) if negated else found

    def named_call(self, kind: str, name: str, of: Expression | None, known: Collection[str]) -> Applied:
        """Arguments, where there are some; a name that is not known is refused."""
        if name not in known:
            raise self.error(f"the {kind} {name!r} is not supported here")
        arguments: list[Expression] = []
        named: list[tuple[str, Expression]] = []
        if self.skip("sign", "("):
            while not self.skip("sign", ")"):
                if self.sees("name") and self.tokens[self.place + 1].text == "=":
                    key = self.take().text
                    self.take()
                    named.append((key, self.expression()))
                elif named:
                    raise self.error("an argument without a name stands behind one with a name")
                else:
                    arguments.append(self.expression())
                if not self.sees("sign", ")"):
                    self.want("sign", ",")
        return Applied(kind, name, of, tuple(arguments), tuple(named))

    def postfixed(self, found: Expression) -> Expression:
        while True:
            if self.skip("sign", "."):
                name = self.want("name").text
                if self.sees("sign", "("):
                    found = self.named_call("method", name, found, METHOD_NAMES)
                else:
                    found = Lookup(found, Constant(name), by_name=True)
            elif self.skip("sign", "["):
                found = self.subscript(found)
            elif self.sees("sign", "("):
                raise self.error("only functions and methods can be called")
            else:
                return found

    def subscript(self, of: Expression) -> Expression:
        parts: list[Expression | None] = [None]
        while not self.skip("sign", "]"):
            if self.skip("sign", ":"):
                parts.append(None)
            elif parts[-1] is None:
                parts[-1] = self.expression()
            else:
                raise self.error(f"{self.next.text!r} inside square brackets is not understood")
        if len(parts) > 3 or (len(parts) == 1 and parts[0] is None):
            raise self.error("what stands inside square brackets is not understood")
        if len(parts) == 1 and parts[0] is not None:
            return Lookup(of, parts[0], by_name=False)
        return SliceOf(of, *[*parts, None][:3])

    def primary(self) -> Expression:
        token = self.take()
        if token.kind == "name":
            if token.text in _CONSTANTS:
                return Constant(_CONSTANTS[token.text])
            if self.sees("sign", "("):
                return self.named_call("function", token.text, None, FUNCTIONS)
            return Variable(token.text)
        if token.kind == "string":
            text = token.text
            while self.sees("string"):
                text += self.take().text
            return Constant(text)
        if token.kind == "number":
            if len(token.text) > 18:
                raise self.error(f"the number {token.text[:20]}… is too long")
            return Constant(float(token.text) if "." in token.text else int(token.text))
        if token.kind == "sign" and token.text in "([{":
            return self.bracketed(token.text)
        self.place -= 1
        raise self.error(f"{token.text[:40]!r} is not understood here")

    def bracketed(self, opened: str) -> Expression:
        """(a), (a, b), [a, b] or {a: b}."""
        closed = {"(": ")", "[": "]", "{": "}"}[opened]
        items: list[Expression] = []
        pairs: list[tuple[Expression, Expression]] = []
        comma = False
        while not self.skip("sign", closed):
            item = self.expression()
            if opened == "{":
                self.want("sign", ":")
                pairs.append((item, self.expression()))
            items.append(item)
            comma = self.skip("sign", ",")
            if not comma and not self.sees("sign", closed):
                self.want("sign", ",", closed)
        if opened == "{":
            return Dictionary(tuple(pairs))
        if opened == "(" and len(items) == 1 and not comma:
            return items[0]
        return Sequenced(tuple(items), is_list=opened == "[")
