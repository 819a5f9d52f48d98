"""Loading and rendering of template files; every block of a file is one chat turn."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, cast

from jinja2 import FileSystemLoader, StrictUndefined, Template, TemplateError, meta, nodes
from jinja2.exceptions import TemplateNotFound, TemplateSyntaxError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dhd.errors import ConfigError
from dhd.prompts.text import defuse, fence, one_line
from dhd.requests import Turn

ChatRole = Literal["system", "user", "assistant"]
Block = Callable[[Context], Iterable[str]]

BASE_FOLDER: Final = "resources/prompts"
"""Folder that has every template, relative to the project root."""

_REFERENCES: Final = (nodes.Include, nodes.Extends, nodes.Import, nodes.FromImport)


class ChatTemplate:
    """A compiled template file and the chat turns that its blocks give, in order."""

    def __init__(self, template: Template, turns: Iterable[tuple[ChatRole, str]]) -> None:
        self._template = template
        self._blocks: list[tuple[ChatRole, Block]] = [
            (role, template.blocks[name]) for role, name in turns
        ]

    def render(self, variables: Mapping[str, Any]) -> list[Turn]:
        """Return one turn per block.

        Raises
        ------
        ConfigError
            The template uses a value that does not exist or includes a missing file.
        """
        context = self._template.new_context(dict(variables), shared=True)
        with errors_name_the_file(self._template.filename or ""):
            return [Turn(role, "".join(block(context)).strip()) for role, block in self._blocks]


class TemplateFolder:
    """The templates of a study: its own folder first, then the base folder.

    Turns come from the blocks of a file, never from splitting rendered text, and values
    are put in after compilation: no value can add a turn or run as a template.

    Parameters
    ----------
    own, base
        Folder of the study, and folder that has every template.

    Raises
    ------
    ConfigError
        One of the folders does not exist.
    """

    def __init__(self, own: Path, base: Path) -> None:
        for folder in (own, base):
            if not folder.is_dir():
                raise ConfigError(f"prompts.folder: {folder} is not a folder")
        self._folders = f"{own} or {base}" if own != base else str(base)
        self._loader = FileSystemLoader([own, base])
        self._names = frozenset(self._loader.list_templates())
        self._environment = ImmutableSandboxedEnvironment(
            loader=self._loader,
            undefined=StrictUndefined,
            autoescape=False,
            auto_reload=False,
            cache_size=-1,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_finalize,
        )
        self._environment.filters |= {"fence": fence, "one_line": one_line}

    def load(self, name: str, block: ChatRole, variables: Collection[str]) -> ChatTemplate:
        """Return the block ``system`` or ``user`` of the template ``name``, which has both.

        Raises
        ------
        ConfigError
            The file is missing, has a syntax error or other blocks, or uses a variable
            that is not among ``variables``.
        """
        template = self._compile(name, variables)
        _require_blocks(template, ("system", "user"))
        return ChatTemplate(template, [(block, block)])

    def load_worked(self, name: str, variables: Collection[str]) -> ChatTemplate | None:
        """Return the worked turns in ``name``, None where no folder has this file.

        Its blocks are user_1, assistant_1, user_2, assistant_2, …

        Raises
        ------
        ConfigError
            As for ``load``; the blocks must be pairs counted from 1.
        """
        if name not in self._names:
            return None
        template = self._compile(name, variables)
        roles: tuple[ChatRole, ChatRole] = ("user", "assistant")
        pairs = max(1, len(template.blocks) // 2)
        turns = [(role, f"{role}_{pair}") for pair in range(1, pairs + 1) for role in roles]
        _require_blocks(template, [block for _, block in turns])
        return ChatTemplate(template, turns)

    def texts(self, patterns: Iterable[str]) -> dict[str, str]:
        """Return the text of some templates and of all that they may include, by name.

        An included name that is put together at rendering stands for all that fit it.

        Parameters
        ----------
        patterns
            Names of templates, in which ``*`` stands for anything.

        Raises
        ------
        ConfigError
            One of them has a syntax error.
        """
        found: dict[str, str] = {}
        left = list(patterns)
        while left:
            pattern = left.pop()
            for name in sorted(fnmatch.filter(self._names - found.keys(), pattern)):
                with errors_name_the_file(f"a template in {self._folders}"):
                    found[name], path, _ = self._loader.get_source(self._environment, name)
                    tree = self._environment.parse(found[name], name, path)
                references = cast("Iterator[nodes.Include]", tree.find_all(_REFERENCES))
                left.extend(_pattern(node.template) for node in references)
        return dict(sorted(found.items()))

    def _compile(self, name: str, variables: Collection[str]) -> Template:
        with errors_name_the_file(f"a template in {self._folders}"):
            source, filename, _ = self._loader.get_source(self._environment, name)
            used = meta.find_undeclared_variables(self._environment.parse(source, name, filename))
            template = self._environment.get_template(name)
        unknown = sorted(used - set(variables))
        if unknown:
            raise ConfigError(
                f"{filename}: unknown variable {', '.join(unknown)}; "
                f"this template may use: {', '.join(sorted(variables))}"
            )
        return template


@contextmanager
def errors_name_the_file(place: str) -> Iterator[None]:
    """Turn template errors into ``ConfigError`` with file and line, or ``place``."""
    try:
        yield
    except TemplateNotFound as error:
        raise ConfigError(f"{place}: template {error.name} is missing") from error
    except TemplateSyntaxError as error:
        raise ConfigError(f"{error.filename}, line {error.lineno}: {error.message}") from error
    except TemplateError as error:
        raise ConfigError(f"{place}: {error.message}") from error


def _pattern(name: nodes.Node) -> str:
    """Return the pattern of a name in a template: ``*`` for what is known at rendering alone."""
    match name:
        case nodes.Const(value=value):
            return str(value)
        case nodes.Concat(nodes=parts):
            return "".join(map(_pattern, parts))
    return "*"


def _finalize(value: Any) -> Any:
    return defuse(value) if isinstance(value, str) else value


def _require_blocks(template: Template, wanted: Collection[str]) -> None:
    if set(template.blocks) != set(wanted):
        raise ConfigError(
            f"{template.filename}: blocks must be {', '.join(wanted)}; "
            f"found: {', '.join(template.blocks) or 'none'}"
        )
