"""Docs/Benchmarks: a page whose figures, plots and data come from one file."""
from pathlib import Path

from . import plots
from .machine import REPOSITORY, note
from .results import Results, load, save
from .tables import markdown

FOLDER = REPOSITORY / "Docs" / "Benchmarks"
PAGE, DATA = FOLDER / "README.md", FOLDER / "results.json"
BEGIN, END = "<!-- results: begin, written by ./dev bench --publish -->", "<!-- results: end -->"
CAPTIONS = {"peers": "What others take, as a multiple of what ours takes", "bars": "The share of each bar that is used"}


def generated(results):
    names = plots.file_names(results)

    def image(name):
        file = f"{name}.svg"
        return [f"![{CAPTIONS.get(name, f'Plot of {name.upper()}')}]({file})", ""] if file in names else []
    return markdown(results, image)


def page_with(page, text):
    """The page with its part between the markers replaced."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"a page has lost its markers: {BEGIN} … {END}")
    return f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}"


def publish(path):
    document = load(path)
    results = Results(document)
    if document["quick"]:
        note("this is a quick run: publish a full one before anyone decides by it")
    for name, reason in document["failures"].items():
        note(f"this run is not whole: {name}: {reason}")
    text = page_with(PAGE.read_text(), generated(results))
    if path.resolve() != DATA.resolve():
        save(document, DATA)
    drawn = plots.draw_all(results, FOLDER)
    PAGE.write_text(text)
    print("\n".join(str(Path(file).relative_to(REPOSITORY)) for file in [PAGE, DATA, *drawn]))


def stale():
    """The published files that do not follow from the published data."""
    if not DATA.exists():
        return []
    results = Results(load(DATA))
    missing = [FOLDER / name for name in plots.file_names(results) if not (FOLDER / name).exists()]
    text = page_with(PAGE.read_text(), generated(results))
    return missing + ([PAGE] if PAGE.read_text() != text else [])
