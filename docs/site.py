"""What mkdocs does beside its own work: pages of the project that are not in docs/ become pages of the site, and links to
other files of the repository lead to where it is published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parent.parent
PROJECT = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
}
LINK = re.compile(r"(\]\()([^)#\s:]+)(#[\w-]*)?\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from mkdocs.structure.files import File

    for source, page in PROJECT.items():
        files.append(File.generated(config, page, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links are written as they work in the repository; here they lead to the same page of the site, or to the repository."""
    uri = page.file.src_uri
    source = ROOT / next((name for name, generated in PROJECT.items() if generated == uri), f"docs/{uri}")
    up = "../" * uri.count("/")

    def followed(match: re.Match[str]) -> str:
        target = (source.parent / match[2]).resolve()
        if not target.exists():
            return match[0]  # which mkdocs reports
        if (target / "README.md").exists():
            target /= "README.md"
        name = target.relative_to(ROOT).as_posix()
        if name in PROJECT:
            to = up + PROJECT[name]
        elif name.startswith("docs/") and target.suffix in (".md", ".svg", ".png"):
            to = up + name.removeprefix("docs/")
        else:
            to = f"{(config.repo_url or '').rstrip('/')}/{'tree' if target.is_dir() else 'blob'}/main/{name}"
        return f"{match[1]}{to}{match[3] or ''})"

    parts, at = [], 0
    for code in CODE.finditer(markdown):
        parts += [LINK.sub(followed, markdown[at : code.start()]), code[0]]
        at = code.end()
    return "".join(parts) + LINK.sub(followed, markdown[at:])


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The theme's search is a dialog without a name, and its link to the repository asks GitHub how many stars that has."""
    named = output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    return named.replace(' data-md-component="source"', "")
