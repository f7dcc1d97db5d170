"""How comments are written in the languages that editors know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

__all__ = ("CommentSyntax", "syntax_of")


@dataclass(frozen=True, slots=True)
class CommentSyntax:
    """A language's marks.

    Attributes:
        line: those that reach to the end of the line.
        block: those with an end.
    """

    line: tuple[str, ...] = ()
    block: tuple[tuple[str, str], ...] = ()


_C_BLOCK: Final = ("/*", "*/")
_XML_BLOCK: Final = ("<!--", "-->")
_HASH: Final = CommentSyntax(("#",))
_C: Final = CommentSyntax(("//",), (_C_BLOCK,))
_XML: Final = CommentSyntax((), (_XML_BLOCK,))
_DASHES: Final = CommentSyntax(("--",), (_C_BLOCK,))
_LISP: Final = CommentSyntax((";",), (("#|", "|#"),))
_PERCENT: Final = CommentSyntax(("%",))
_ML: Final = CommentSyntax((), (("(*", "*)"),))
_HASKELL: Final = CommentSyntax(("--",), (("{-", "-}"),))
_TEMPLATE: Final = CommentSyntax((), (("{#", "#}"), ("{{!--", "--}}"), ("{{/*", "*/}}"), ("<%--", "--%>"), _XML_BLOCK))
_WEB: Final = CommentSyntax(("//",), (_XML_BLOCK, _C_BLOCK))

# In a language that is not listed, any of these may be the mark.
_ANY: Final = CommentSyntax(
    ("#", "//", "--", ";", "%", '"', "'", "!"), (_C_BLOCK, _XML_BLOCK, ("(*", "*)"), ("{-", "-}"))
)

_FAMILIES: Final[tuple[tuple[CommentSyntax, str], ...]] = (
    (
        _HASH,
        (
            "python ruby perl sh shellscript bash zsh fish yaml toml r elixir dockerfile makefile make cmake conf nim "
            "properties gitignore ignore git-commit git-rebase puppet awk tcl starlark bazel just meson robotframework "
            "graphql crystal mojo"
        ),
    ),
    (
        _C,
        (
            "c cpp objective-c objective-cpp cuda cuda-cpp csharp java javascript javascriptreact typescript "
            "typescriptreact go rust swift kotlin scala dart groovy d zig jsonc json5 json less scss proto proto3 glsl "
            "hlsl wgsl shaderlab solidity verilog systemverilog v vala haxe odin gleam jsonnet cue bicep"
        ),
    ),
    (CommentSyntax((), (_C_BLOCK,)), "css"),
    (CommentSyntax(("//", "#"), (_C_BLOCK,)), "php terraform hcl nix"),
    (_XML, "html xml xsl xsd svg markdown mdx xhtml"),
    (_WEB, "vue svelte astro razor"),
    (_TEMPLATE, "jinja jinja-html django-html twig handlebars erb eruby gotmpl htmldjango jsp"),
    (_DASHES, "sql mysql pgsql plsql ada vhdl"),
    (CommentSyntax(("--",), (("--[[", "]]"),)), "lua luau"),
    (_HASKELL, "haskell elm purescript idris agda dhall"),
    (_LISP, "lisp commonlisp common-lisp clojure scheme racket emacs-lisp fennel"),
    (CommentSyntax((";", "#")), "ini asm nasm gas dosini systemd autohotkey"),
    (_PERCENT, "latex tex bibtex erlang prolog matlab octave"),
    (_ML, "ocaml sml coq pascal"),
    (CommentSyntax(("//",), (("(*", "*)"),)), "fsharp"),
    (CommentSyntax(("#",), (("<#", "#>"),)), "powershell"),
    (CommentSyntax(("#",), (("#=", "=#"),)), "julia"),
    (CommentSyntax(('"', "#")), "vim"),
    (CommentSyntax(("'", "REM ", "Rem ", "rem ")), "vb vbnet visualbasic"),
    (CommentSyntax(("REM ", "rem ", "Rem ", "::")), "bat dosbatch"),
    (CommentSyntax(("!",)), "fortran fortran90 fortran-modern fortran_free-form"),
    (CommentSyntax((".. ",)), "restructuredtext rst"),
    (CommentSyntax(("# ",)), "org"),
    (CommentSyntax(("//",)), "asciidoc typst dot"),
    (CommentSyntax(("*>",)), "cobol"),
)
_BY_LANGUAGE: Final = {language: syntax for syntax, names in _FAMILIES for language in names.split()}


def syntax_of(language_id: str) -> CommentSyntax:
    """Return the marks of a language by the editor's name for it."""
    return _BY_LANGUAGE.get(language_id.lower(), _ANY)
