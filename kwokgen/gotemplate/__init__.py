"""Go's text/template as KWOK reads it: what is wrong with one before an object is put in, and the parts of a right one.

The grammar, and the words of mistakes, are those of https://pkg.go.dev/text/template/parse (Go 1.26).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from kwokgen.gotemplate._tokens import Braces, TemplateError, Token, pieces

LITERALS = {"true", "false", "nil"}
OPENING = {"if", "range", "with", "block", "define"}
KEYWORDS = OPENING | {"else", "end", "template", "break", "continue"}
COMPARISONS = {"eq", "ne", "lt", "le", "gt", "ge"}
DEEPEST = 100
NO_COMMAND = {"dot", "number", "string", "char"}


class Mistake(NamedTuple):
    """What is wrong, and how many characters stand before it."""

    offset: int
    message: str


class Action(NamedTuple):
    """What stands in braces: `keyword` is empty for a pipeline, `sets` the variable that this gives a value to."""

    keyword: str
    words: tuple[str, ...]
    sets: str = ""


class Template(NamedTuple):
    """Its texts and actions in order; none where it ends with a mistake of the grammar."""

    pieces: tuple[str | Action, ...]
    mistakes: tuple[Mistake, ...]


class _Block(NamedTuple):
    """An action that is not ended yet, and the variables that are known after it."""

    keyword: str
    offset: int
    variables: tuple[str, ...]
    outside: tuple[str, ...]
    otherwise: bool = False


def parse(text: str, functions: Collection[str], variables: Collection[str] = ()) -> Template:
    """A template that may call `functions`, and use variables such as `$capacity` that are set before it."""
    parser = _Parser(functions, ["$", *variables])
    try:
        found = tuple(parser.piece(piece) for piece in pieces(text))
        parser.finish()
    except TemplateError as error:
        return Template((), (*parser.mistakes, Mistake(error.offset, error.message)))
    return Template(found, tuple(parser.mistakes))


class _Parser:
    """What is known at one place of a template on the way through it."""

    def __init__(self, functions: Collection[str], variables: list[str]) -> None:
        self.functions, self.variables = functions, variables
        self.mistakes: list[Mistake] = []
        self.blocks: list[_Block] = []
        self.defined: set[str] = set()
        self.used: list[Token] = []
        self.depth = 0

    def piece(self, piece: str | Braces) -> str | Action:
        if isinstance(piece, str) or piece.comment:
            return piece if isinstance(piece, str) else ""
        words = tuple(token.text for token in piece.tokens)
        if not words or words[0] not in KEYWORDS:
            return Action("", words, self._pipeline(piece.tokens, "command", piece.offset))
        first, *rest = piece.tokens
        of_keyword = {"else": self._else, "end": self._end, "template": self._template}
        of_keyword |= {"break": self._leave, "continue": self._leave}
        of_keyword.get(first.text, self._open)(rest, first)
        return Action(words[0], words[1:])

    def finish(self) -> None:
        if self.blocks:
            last = self.blocks[-1]
            raise TemplateError(last.offset, f"unexpected EOF: {{{{{last.keyword}}}}} has no end")
        undefined = (token for token in self.used if token.text[1:-1] not in self.defined)
        self.mistakes += [Mistake(token.offset, f"template {token.text} not defined") for token in undefined]

    def _open(self, tokens: Sequence[Token], keyword: Token) -> None:
        outside = tuple(self.variables)
        if keyword.text == "define" and self.blocks:
            raise TemplateError(keyword.offset, "unexpected <define> in command")
        if keyword.text in {"define", "block"}:
            self.defined.add(_name(tokens, keyword).text[1:-1])
            tokens = tokens[1:]
        if keyword.text == "define" and tokens:
            raise TemplateError(tokens[0].offset, f"unexpected {tokens[0].text!r} in define clause")
        if keyword.text != "define":
            self._pipeline(tokens, keyword.text, keyword.offset)
        if keyword.text in {"define", "block"}:
            self.variables = ["$"]
        self.blocks.append(_Block(keyword.text, keyword.offset, tuple(self.variables), outside))

    def _template(self, tokens: Sequence[Token], keyword: Token) -> None:
        self.used.append(_name(tokens, keyword))
        if tokens[1:]:
            self._pipeline(tokens[1:], "template", keyword.offset)

    def _else(self, tokens: Sequence[Token], keyword: Token) -> None:
        if not self.blocks or self.blocks[-1].otherwise or self.blocks[-1].keyword in {"block", "define"}:
            raise TemplateError(keyword.offset, "unexpected {{else}}")
        block = self.blocks.pop()
        self.variables = list(block.variables)
        if tokens:
            if tokens[0].text != block.keyword or block.keyword == "range":
                raise TemplateError(tokens[0].offset, f"unexpected {tokens[0].text} in else of {block.keyword}")
            self._pipeline(tokens[1:], block.keyword, keyword.offset)
        self.blocks.append(block._replace(variables=tuple(self.variables), otherwise=not tokens))

    def _end(self, tokens: Sequence[Token], keyword: Token) -> None:
        if tokens or not self.blocks:
            raise TemplateError(
                keyword.offset, f"unexpected {tokens[0].text} in end" if tokens else "unexpected {{end}}"
            )
        self.variables = list(self.blocks.pop().outside)

    def _leave(self, tokens: Sequence[Token], keyword: Token) -> None:
        if tokens or not any(block.keyword == "range" for block in self.blocks):
            raise TemplateError(keyword.offset, f"{{{{{keyword.text}}}}} outside {{{{range}}}}")

    def _pipeline(self, tokens: Sequence[Token], context: str, offset: int) -> str:
        """Checks one, and gives the variable that it sets."""
        names, rest = _declared(tokens, context)
        # Go finds out that a variable is not there to be set when it sets it.
        if names and tokens[len(tokens) - len(rest) - 1].text == "=":
            self._variable(names[0])
        left = self._commands(rest, context, offset)
        if left:
            raise TemplateError(left[0].offset, "unexpected right paren")
        self.variables += [name.text for name in names]
        return names[-1].text if names else ""

    def _commands(self, tokens: Sequence[Token], context: str, offset: int) -> Sequence[Token]:
        """Goes through the commands up to a closing parenthesis, which is left."""
        if not tokens or tokens[0].sort in {"pipe", "close"}:
            raise TemplateError(tokens[0].offset if tokens else offset, f"missing value for {context}")
        tokens, stage = self._command(tokens), 1
        while tokens and tokens[0].sort == "pipe":
            pipe, *tokens = tokens
            stage += 1
            if not tokens or tokens[0].sort in {"pipe", "close"}:
                raise TemplateError(pipe.offset, f"missing command for {context}")
            if tokens[0].sort in NO_COMMAND or tokens[0].text in LITERALS:
                raise TemplateError(tokens[0].offset, f"non executable command in pipeline stage {stage}")
            tokens = self._command(tokens)
        return tokens

    def _command(self, tokens: Sequence[Token]) -> Sequence[Token]:
        operands = []
        while tokens and tokens[0].sort not in {"pipe", "close"}:
            operands.append(tokens[0])
            tokens, end = self._operand(tokens)
            if tokens and tokens[0].sort not in {"pipe", "close"} and tokens[0].offset == end:
                raise TemplateError(end, f"unexpected {tokens[0].text!r} in operand")
        first = operands[0]
        # Inside of these a field may be of something else than the object.
        whole = not any(block.keyword in OPENING - {"if"} for block in self.blocks)
        if whole and first.text in COMPARISONS and {each.sort for each in operands[1:3]} == {"field", "number"}:
            message = f"{first.text}: incompatible types for comparison: a number of the object is no Go number"
            self.mistakes.append(Mistake(first.offset, message))
        return tokens

    def _operand(self, tokens: Sequence[Token]) -> tuple[Sequence[Token], int]:
        """Goes over one, with the fields that follow it, and says where it ends."""
        first, rest, end = tokens[0], tokens[1:], tokens[0].end
        if first.sort == "open":
            self.depth += 1
            if self.depth > DEEPEST:
                raise TemplateError(first.offset, f"more than {DEEPEST} parentheses in each other")
            rest = self._commands(rest, "parenthesized pipeline", first.offset)
            self.depth -= 1
            if not rest:
                raise TemplateError(first.offset, "unclosed left paren")
            end, rest = rest[0].end, rest[1:]
        elif first.sort == "variable":
            self._variable(first)
        elif first.sort == "word":
            self._function(first)
        elif first.sort in {"comma", "set"}:
            raise TemplateError(first.offset, f"unexpected {first.text!r} in operand")
        while rest and rest[0].sort == "field" and rest[0].offset == end:
            end, rest = rest[0].end, rest[1:]
        return rest, end

    def _variable(self, token: Token) -> None:
        if token.text not in self.variables:
            raise TemplateError(token.offset, f'undefined variable "{token.text}"')

    def _function(self, token: Token) -> None:
        if token.text in KEYWORDS:
            raise TemplateError(token.offset, f"unexpected <{token.text}> in operand")
        if token.text not in LITERALS and token.text not in self.functions:
            self.mistakes.append(Mistake(token.offset, f'function "{token.text}" not defined'))


def _name(tokens: Sequence[Token], keyword: Token) -> Token:
    if not tokens or tokens[0].sort != "string":
        raise TemplateError(keyword.offset, f"{keyword.text} needs a name in quotes")
    return tokens[0]


def _declared(tokens: Sequence[Token], context: str) -> tuple[Sequence[Token], Sequence[Token]]:
    """The variables that a pipeline sets, and the rest of it."""
    sorts = [token.sort for token in tokens[:4]]
    if context == "range" and sorts == ["variable", "comma", "variable", "set"]:
        return (tokens[0], tokens[2]), tokens[4:]
    return (tokens[:1], tokens[2:]) if sorts[:2] == ["variable", "set"] else ((), tokens)
