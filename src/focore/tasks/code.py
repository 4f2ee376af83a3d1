"""The program in an answer that may also have words around it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

FENCE = re.compile(r"```[ \t]*([\w+-]*)[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
STOPS = ("[DONE]", "<|", "```")


def blocks(text: str) -> list[str]:
    """The fenced blocks; the last one may lack its end."""
    return [match[2] for match in FENCE.finditer(text)]


def defines(code: str, name: str) -> bool:
    """Whether some line begins the definition of a function or class of that name."""
    return re.search(rf"^(?:async\s+)?(?:def|class)\s+{re.escape(name)}\b", code, re.M) is not None


def program(text: str, names: Sequence[str] = ()) -> str:
    """The code of an answer: the first block that defines one of the names, or all of it."""
    found = blocks(text)
    for code in found:
        if any(defines(code, name) for name in names):
            return code
    return found[0] if found else _unfenced(text)


def completed(prompt: str, text: str, name: str) -> str:
    """A prompt that ends in a function's head, with the answer: the whole function, or its body."""
    code = program(text, [name])
    indented = code.lstrip("\n")[:1].isspace()
    if defines(code, name) and not indented:
        return f"{prompt}\n\n{code}"
    return prompt + body(code)


def body(code: str) -> str:
    """The lines up to the first that is not indented."""
    kept = []
    for line in code.splitlines():
        if line.strip() and not line[0].isspace():
            break
        kept.append(line)
    return "\n".join(kept) + "\n" if kept else code


def _unfenced(text: str) -> str:
    for stop in STOPS:
        text = text.partition(stop)[0]
    return text


def _parsed(code: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # references have escapes that newer Pythons dislike
        return ast.parse(code)


def names_of(code: str) -> list[str]:
    """The functions, classes and variables that a program defines at its top."""
    names = []
    for node in _parsed(code).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
    return names


def imports_of(code: str) -> str:
    """The import statements at the top of a program."""
    kept = [n for n in _parsed(code).body if isinstance(n, (ast.Import, ast.ImportFrom))]
    return "\n".join(ast.unparse(node) for node in kept)


def names_in(code: str) -> set[str]:
    """The names that a program mentions."""
    return {node.id for node in ast.walk(_parsed(code)) if isinstance(node, ast.Name)}
