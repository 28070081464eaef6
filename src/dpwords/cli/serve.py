"""dpwords serve"""

from __future__ import annotations

from threading import Thread

import click

from dpwords.cli.terminal import note


@click.command(short_help="See on a page in your browser what privacy costs.")
@click.option("--port", type=int, default=8642, show_default=True, help="The port of the page; 0 for any free one.")
@click.option("--no-browser", is_flag=True, help="Do not open the page in a browser.")
def serve(port: int, no_browser: bool) -> None:
    """Open a page on this machine to see what privacy costs: words, runs on a grid, odds, and your own data.

    The page talks to this command only, at the loopback address; no data leaves the machine, nothing is logged, and no
    private word is written to disk. It runs until Ctrl-C. It needs the extra web: pip install 'dpwords[web]'.

    \b
    Examples:
      dpwords serve
      dpwords serve --port 9000 --no-browser
    """
    from dpwords.web.server import serve as run

    def ready(address: str) -> None:
        note(f"the page is at {address} (Ctrl-C ends it)")
        if not no_browser:
            import webbrowser

            Thread(
                target=webbrowser.open, args=(address,), daemon=True
            ).start()  # some browsers keep their caller waiting

    run(port, ready)
