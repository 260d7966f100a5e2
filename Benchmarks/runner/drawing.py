"""An SVG file, made by hand: readable on light and dark ground, and the same for the same data."""
from xml.sax.saxutils import escape

# (on light ground, on dark ground); each has a contrast of at least 3:1 there.
COLOURS = {
    "ink": ("#1f2328", "#e6edf3"),
    "faint": ("#59636e", "#9aa4af"),
    "grid": ("#d8dee4", "#30363d"),
    "ground": ("#ffffff", "#0d1117"),
    "grey": ("#6a737d", "#9aa4af"),
    "blue": ("#0b62c4", "#58a6ff"),
    "teal": ("#0a7d70", "#2fc4b2"),
    "purple": ("#7a3fc0", "#bc9cff"),
    "pink": ("#b0398c", "#f286d0"),
    "green": ("#1a7f37", "#56d364"),
    "orange": ("#b35900", "#f0983a"),
    "brown": ("#8a5a44", "#d3a58a"),
    "cyan": ("#0a7ea4", "#56d4f2"),
    "olive": ("#737300", "#c8c845"),
    "indigo": ("#4338ca", "#a5b4fc"),
    "red": ("#c0252f", "#ff7b72"),
}
CHARACTER = 6.6  # the widest a character of 12 px is on average


def rules(ground):
    """One class per colour for what is filled and one for what is drawn: not every viewer knows variables."""
    return " ".join(f".f-{name} {{ fill: {pair[ground]} }} .s-{name} {{ stroke: {pair[ground]} }}"
                    for name, pair in COLOURS.items())


def style():
    return (f"{rules(0)} @media (prefers-color-scheme: dark) {{ {rules(1)} }} path {{ fill: none }} "
            "text { font: 12px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif } "
            "text.title { font-size: 16px; font-weight: 600 } text.strong { font-weight: 600 }")


def short(value):
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0")


class Drawing:
    def __init__(self, width, title, subtitle):
        self.width, self.title, self.parts = width, title, []
        self.text(16, 26, title, weight="title")
        self.text(16, 45, subtitle, colour="faint")

    def text(self, x, y, words, anchor="start", weight="", colour="ink"):
        look = f"f-{colour} {weight}".strip()
        self.parts.append(f'<text x="{short(x)}" y="{short(y)}" text-anchor="{anchor}" class="{look}">'
                          f"{escape(words)}</text>")

    def line(self, x1, y1, x2, y2, colour="grid", width=1):
        self.parts.append(f'<line x1="{short(x1)}" y1="{short(y1)}" x2="{short(x2)}" y2="{short(y2)}" '
                          f'class="s-{colour}" stroke-width="{width}"/>')

    def path(self, points, colour, dashes=None):
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        words = " L ".join(f"{short(x)} {short(y)}" for x, y in points)
        self.parts.append(f'<path d="M {words}" class="s-{colour}" stroke-width="2"{dash}/>')

    def bar(self, x, y, width, height, colour, tip):
        self.parts.append(f'<rect x="{short(x)}" y="{short(y)}" width="{short(max(1, width))}" '
                          f'height="{short(height)}" rx="2" class="f-{colour}"><title>{escape(tip)}</title></rect>')

    def dot(self, x, y, colour, tip, hollow=False):
        fill = "ground" if hollow else colour
        self.parts.append(f'<circle cx="{short(x)}" cy="{short(y)}" r="4" class="f-{fill} s-{colour}" '
                          f'stroke-width="2"><title>{escape(tip)}</title></circle>')

    def break_mark(self, x, y, height):
        """Two slanted cuts: the bar goes on beyond the axis."""
        for offset in (0, 6):
            self.line(x + offset, y + height + 2, x + offset + 5, y - 2, "ground", 3)

    def render(self, height):
        body = "\n".join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {short(height)}" '
                f'width="{self.width}" height="{short(height)}" role="img" aria-label="{escape(self.title)}">\n'
                f"<style>{style()}</style>\n"
                f'<rect width="{self.width}" height="{short(height)}" class="f-ground"/>\n{body}\n</svg>\n')


# MARK: Scales

def nice_step(span, most):
    """The smallest of 1, 2, 5, 10, … that divides the span at most that often."""
    step = 10.0 ** -6
    while True:
        for factor in (1, 2, 5):
            if span / (step * factor) <= most:
                return step * factor
        step *= 10


def ticks(top, most=6):
    step = nice_step(top, most)
    return [step * index for index in range(int(top / step + 1e-9) + 1)]


def log_ticks(low, high):
    """1, 2, 5 of each decade between the two."""
    found, decade = [], 1e-6
    while decade <= high:
        found += [decade * factor for factor in (1, 2, 5) if low <= decade * factor <= high]
        decade *= 10
    return found


def spread(positions, gap):
    """The positions, in their order, moved apart until they are at least a gap away from each other."""
    order = sorted(range(len(positions)), key=lambda index: positions[index])
    moved = list(positions)
    for _ in range(200):
        quiet = True
        for above, below in zip(order, order[1:]):
            lack = gap - (moved[below] - moved[above])
            if lack > 0.01:
                moved[above] -= lack / 2
                moved[below] += lack / 2
                quiet = False
        if quiet:
            break
    return moved
