"""`harvest completion`: print a script that lets a shell complete the command line."""

import click
from click.shell_completion import get_completion_class

# By this environment variable the shell asks for completions.
VARIABLE = "_HARVEST_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print a script that completes the command line in a shell.

    It completes commands, options and files.

    \b
    bash:  harvest completion bash > ~/.local/share/bash-completion/completions/harvest
    zsh:   harvest completion zsh > a folder of $fpath, as _harvest
    fish:  harvest completion fish > ~/.config/fish/completions/harvest.fish
    """
    completer = get_completion_class(shell)
    assert completer is not None
    click.echo(completer(context.find_root().command, {}, "harvest", VARIABLE).source())
