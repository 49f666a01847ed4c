"""`incenter methods`: what there is, and what each rule needs."""


def methods() -> None:
    """List the rules: what each needs, and what it does in one line."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    import incenter
    from incenter.study.comparison import keeps_state

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("name", style="bold", no_wrap=True)
    table.add_column("from")
    table.add_column("memory")
    table.add_column("needs")
    table.add_column("what it does", ratio=1)
    for name in incenter.methods.names():
        rule = incenter.methods.by_name(name)
        needs = sorted(rule.needs) + (["own step"] if rule.own_optimizer else [])
        table.add_row(
            name,
            "Gram" if rule.gram_only else "rows",
            "yes" if keeps_state(name) else Text("no", style="dim"),
            ", ".join(needs) or Text("-", style="dim"),
            summary(type(rule)),
        )
    console = Console()
    console.print(table)
    console.print(
        "[dim]from: the Gram matrix of the gradients alone, or their rows. memory: the state of one step goes into the "
        "next. needs, beside gradients: the losses' values; a key to draw at random; the traces of the losses' tangent "
        "kernels; own step: it is an optimiser itself, to be stepped plainly and never under Adam.[/dim]"
    )


def summary(rule: type) -> str:
    """The first sentence of the class's docstring."""
    paragraph = (rule.__doc__ or "").strip().split("\n\n")[0]
    return " ".join(paragraph.split()).split(". ")[0].split("; ")[0].rstrip(".")
