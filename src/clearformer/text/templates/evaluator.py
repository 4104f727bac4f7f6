"""A template's statements carried out over plain data, within a budget of steps and characters."""

from collections.abc import Mapping, Sequence
from typing import Any

from clearformer.text.templates.budget import Budget, TemplateError
from clearformer.text.templates.filters import FILTERS, TESTS
from clearformer.text.templates.methods import call_function, call_method, known_function
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
from clearformer.text.templates.values import (
    UNDEFINED,
    LoopPlace,
    Namespace,
    Undefined,
    concatenated,
    cut,
    is_number,
    items_of,
    kind_of,
    look_up,
    plain,
    shown,
)


def evaluate(statements: Sequence[Statement], given: Mapping[str, Any]) -> str:
    """What a template writes. given: plain data by name."""
    evaluator = Evaluator({name: plain(value) for name, value in given.items()})
    try:
        evaluator.carry_out(statements)
    except RecursionError:
        raise TemplateError("it nests too deeply") from None
    except TemplateError as error:
        raise TemplateError(f"line {evaluator.line}: {error}") from None
    except (ValueError, TypeError, ArithmeticError, LookupError) as error:  # Python's own methods refuse an argument
        raise TemplateError(f"line {evaluator.line}: {error}") from None
    return "".join(evaluator.written)


class _Left(Exception):  # noqa: N818 - not an error: a loop is left, or its next turn begun
    def __init__(self, *, breaks: bool) -> None:
        self.breaks = breaks


class Evaluator:
    """The names that are known, the innermost last, and what has been written so far."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.scopes = [given]
        self.written: list[str] = []
        self.length = 0
        self.line = 1
        self.budget = Budget()

    # --- statements --------------------------------------------------------------------------------------------------

    def carry_out(self, statements: Sequence[Statement]) -> None:
        for one in statements:
            self.budget.spend()
            self.line = one.line
            if isinstance(one, Written):
                self.write(shown(self.value(one.value), self.budget))
            elif isinstance(one, IfBlock):
                self.carry_out(one.then if self.value(one.condition) else one.otherwise)
            elif isinstance(one, ForBlock):
                self.loop(one)
            elif isinstance(one, Assignment):
                self.assign(one)
            else:
                assert isinstance(one, LoopExit)
                raise _Left(breaks=one.breaks)

    def write(self, text: str) -> None:
        self.length += len(text)
        self.budget.room_for_text(self.length)
        self.written.append(text)

    def loop(self, block: ForBlock) -> None:
        items = items_of(self.value(block.items), self.budget)
        if block.condition is not None:
            items = [item for item in items if self.passes(block, item)]
        finished = False  # Jinja's else stands for a loop no turn of which reached its end
        for index, item in enumerate(items):
            self.scopes.append({**self.bound(block.targets, item), "loop": LoopPlace(items, index)})
            try:
                self.carry_out(block.body)
                finished = True
            except _Left as left:
                if left.breaks:
                    break
            finally:
                self.scopes.pop()
        if not finished:
            self.carry_out(block.otherwise)

    def passes(self, block: ForBlock, item: Any) -> bool:
        """Whether a loop's condition lets an item in."""
        assert block.condition is not None
        self.budget.spend()
        self.scopes.append(self.bound(block.targets, item))
        try:
            return bool(self.value(block.condition))
        finally:
            self.scopes.pop()

    def bound(self, targets: tuple[str, ...], item: Any) -> dict[str, Any]:
        """An item under the names of a loop."""
        if len(targets) == 1:
            return {targets[0]: item}
        if not isinstance(item, list | tuple) or len(item) != len(targets):
            raise TemplateError(f"{kind_of(item)} cannot be shared out to {', '.join(targets)}")
        return dict(zip(targets, item, strict=True))

    def assign(self, one: Assignment) -> None:
        value = self.body_text(one.value) if isinstance(one.value, tuple) else self.value(one.value)
        if one.attribute is None:
            self.scopes[-1][one.name] = value
            return
        home = self.name(one.name)
        if not isinstance(home, Namespace):
            raise TemplateError(f"{one.name}.{one.attribute} cannot be set: {one.name} is no namespace")
        home.fields[one.attribute] = value

    def body_text(self, body: tuple[Statement, ...]) -> str:
        """What a block writes, as a text."""
        outer, self.written = self.written, []
        self.scopes.append({})
        try:
            self.carry_out(body)
            text = "".join(self.written)
        finally:
            self.scopes.pop()
            self.written = outer
        self.length -= len(text)
        return text

    # --- expressions -------------------------------------------------------------------------------------------------

    def value(self, one: Expression) -> Any:
        self.budget.spend()
        if isinstance(one, Constant):
            return one.value
        if isinstance(one, Variable):
            return self.name(one.name)
        if isinstance(one, Lookup):
            return look_up(self.value(one.of), self.value(one.key), by_name=one.by_name)
        if isinstance(one, Applied):
            return self.applied(one)
        if isinstance(one, Compared):
            return self.compared(one)
        if isinstance(one, Conditional):
            if self.value(one.condition):
                return self.value(one.then)
            return UNDEFINED if one.otherwise is None else self.value(one.otherwise)
        if isinstance(one, Operation):
            return self.operated(one)
        return self.collected(one)

    def name(self, name: str) -> Any:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return known_function(name)

    def collected(self, one: Sequenced | Dictionary | SliceOf) -> Any:
        """A list, a dictionary, or a part of something."""
        if isinstance(one, SliceOf):
            start, stop, step = (None if part is None else self.value(part) for part in (one.start, one.stop, one.step))
            return cut(self.value(one.of), (start, stop, step), self.budget)
        made: Any
        if isinstance(one, Sequenced):
            items = [self.value(item) for item in one.items]
            made = items if one.is_list else tuple(items)
        else:
            made = {self.value(key): self.value(item) for key, item in one.pairs}
        self.budget.weigh(made)
        return made

    def applied(self, one: Applied) -> Any:
        arguments = [self.value(argument) for argument in one.arguments]
        named = {name: self.value(argument) for name, argument in one.named}
        if one.kind == "function":
            return call_function(one.name, arguments, named, self.budget)
        assert one.of is not None
        of = self.value(one.of)
        if one.kind == "method":
            if isinstance(of, Undefined):
                raise TemplateError(f"the method {one.name!r} is asked of something that is not defined")
            return call_method(of, one.name, arguments, named, self.budget)
        table = FILTERS if one.kind == "filter" else TESTS
        if isinstance(of, str):
            self.budget.room_for_text(len(of))
        return table[one.name](of, self.budget, *arguments, **named)

    def operated(self, one: Operation) -> Any:
        left = self.value(one.left)
        if one.sign == "not":
            return not left
        if one.sign in ("and", "or"):
            assert one.right is not None
            return left if bool(left) == (one.sign == "or") else self.value(one.right)
        if one.right is None:
            if not is_number(left):
                raise TemplateError(f"{kind_of(left)} has no sign")
            return -left if one.sign == "-" else +left
        right = self.value(one.right)
        if one.sign == "~":
            return concatenated((left, right), self.budget)
        made = self.reckoned(one.sign, left, right)
        self.budget.weigh(made)
        return made

    def reckoned(self, sign: str, left: Any, right: Any) -> Any:
        """Arithmetic; texts and lists can be added and repeated, where the result is not too long."""
        if sign == "+" and type(left) is type(right) and isinstance(left, str | list | tuple):
            self.budget.room_for_text(len(left) + len(right))
            return left + right
        if sign == "*" and isinstance(left, str | list | tuple) and type(right) is int:
            self.budget.room_for_text(len(left) * max(0, right))
            return left * right
        if not (is_number(left) and is_number(right)):
            raise TemplateError(f"{sign!r} does not join {kind_of(left)} and {kind_of(right)}")
        if sign == "+":
            return left + right
        if sign == "-":
            return left - right
        if sign == "*":
            return left * right
        if right == 0:
            raise TemplateError("it divides by zero")
        return left / right if sign == "/" else left // right if sign == "//" else left % right

    def compared(self, one: Compared) -> bool:
        left = self.value(one.first)
        for sign, expression in one.rest:
            right = self.value(expression)
            if not self.holds(left, sign, right):
                return False
            left = right
        return True

    def holds(self, left: Any, sign: str, right: Any) -> bool:
        """Whether one comparison is true."""
        self.budget.weigh(left)
        self.budget.weigh(right)
        if sign in ("==", "!="):
            return bool(left == right) == (sign == "==")
        if sign in ("in", "not in"):
            return self.contains(right, left) == (sign == "in")
        if not (is_number(left) and is_number(right)) and not (isinstance(left, str) and isinstance(right, str)):
            raise TemplateError(f"{kind_of(left)} is neither more nor less than {kind_of(right)}")
        return bool({"<": left < right, ">": left > right, "<=": left <= right, ">=": left >= right}[sign])

    def contains(self, whole: Any, part: Any) -> bool:
        if isinstance(whole, Undefined):
            return False
        if not isinstance(whole, str | list | tuple | dict) or (isinstance(whole, str) and not isinstance(part, str)):
            raise TemplateError(f"{kind_of(part)} cannot be looked for in {kind_of(whole)}")
        return part in whole
