"""frontrank demo: the whole story on a small generated web."""

from __future__ import annotations

import click

from frontrank.cli.screen import percent, progress, show_json
from frontrank.cli.simulate import show

WEB = "synthetic:pages=50000,hosts=400,text=0,trap=5000,seed=7"
ORDERINGS = ("random", "dfs", "bfs", "backlink", "largest-site", "fica:k=700", "opic", "rankmass", "fpr", "fpr:m=100")
SHARE = "0.1"


@click.command(name="demo")
@click.option("--out", default="frontrank-demo", show_default=True, metavar="DIR", help="Where the results go.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures for a program.")
def command(out: str, as_json: bool) -> None:
    """Generate a web of 50,000 pages with a spider trap, crawl it with ten orderings, and show which found the best pages."""
    from frontrank.runs import check_target, compare
    from frontrank.sources import load

    check_target(out)
    with progress() as tell:
        web = load(WEB)
        runs = compare(web, ORDERINGS, progress=tell, source=WEB, command="frontrank demo")
        tell("writing the report", 0, 0)
        runs.save(out)
    figures = runs.json()
    if as_json:
        show_json({**figures, "report": f"{out}/report.html"})
        return
    hot = {spec: value["hot"][SHARE] or 0.0 for spec, value in figures["policies"].items()}
    best = max(hot, key=lambda spec: hot[spec])
    print(f"A web of {web.pages:,} pages on {len(web.host_names or ()):,} hosts, one of them a trap of 5,000 calendar pages.")
    print(f"A crawler may fetch {float(SHARE):.0%} of it. How many of the best pages does it get?\n")
    for spec, share in sorted(hot.items(), key=lambda item: -item[1]):
        print(f"  {spec:<14}{'█' * round(50 * share):<51}{percent(share):>6}")
    print(f"\n{best} got {percent(hot[best])} of the {web.pages // 10:,} best pages, breadth-first {percent(hot['bfs'])}.\n")
    show(runs)
    print(f"\nThe report with all curves: {out}/report.html (open it in a browser)")
    print("Next: frontrank simulate YOUR-WEB --policy all --seeds random:100@1    (docs/tutorial.md)")
