"""Help that fits a screen: `-h` and `--help` list the options of every day, and `-hh` lists all of them."""

from typing import Any

import click

# Options that many commands share, and that few people need every day.
_SHARED = {
    *("--level", "--replications", "--seed", "--guard", "--schema", "--judges", "--judgments", "--nuggets", "--force"),
    "--sources",
    *("--csv", "--latex", "--long", "--prometheus", "--junit", "--webhook-env", "--github", "--keys-in-clear"),
}
WHOLE = "harvest.whole_help"
"""The key in the `meta` of a context under which True asks for the whole help."""


class ShortHelp(click.Command):
    """A command with a short help. Options that many commands share, and those in `rare`, are left out of it, as are
    the paragraphs of the description after the first `paragraphs`. The whole help has them under “More options”. Shared
    options in `common` are listed after all."""

    def __init__(self, *arguments: Any, rare: str = "", common: str = "", paragraphs: int = 99, **others: Any) -> None:
        super().__init__(*arguments, **others)
        self.own_rare = set(rare.split())
        self._rare = (_SHARED | self.own_rare).difference(common.split())
        self._paragraphs = paragraphs

    def get_help_option(self, ctx: click.Context) -> click.Option:
        def show(context: click.Context, _: click.Parameter, times: int) -> None:
            if times and not context.resilient_parsing:
                context.meta[WHOLE] = times > 1
                click.echo(context.get_help(), color=context.color)
                context.exit()

        names, rare = self.get_help_option_names(ctx), sum(map(self._is_rare, self.params))
        more = f" -hh lists {rare} more options." if rare else ""
        return click.Option(
            names, count=True, is_eager=True, expose_value=False, callback=show, help=f"Show this message.{more}"
        )

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        whole = self.help
        if whole is not None and not ctx.meta.get(WHOLE):
            self.help = "\n\n".join(whole.split("\n\n")[: self._paragraphs])
        super().format_help_text(ctx, formatter)
        self.help = whole

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        parts: dict[bool, list[tuple[str, str]]] = {False: [], True: []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if record is not None and isinstance(one, click.Option):
                parts[self._is_rare(one)].append(record)
        for heading, records in zip(("Options", "More options"), parts.values(), strict=True):
            if records and (heading == "Options" or ctx.meta.get(WHOLE)):
                with formatter.section(heading):
                    formatter.write_dl(records)

    def _is_rare(self, one: click.Parameter) -> bool:
        return not self._rare.isdisjoint(one.opts)
