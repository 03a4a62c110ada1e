"""Settings for starting a browser and for its appearance to pages. This module does not import the browser code."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

_QUIET_ARGUMENTS = (
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)

# Features of Chromium that are turned off.
_DISABLED_FEATURES = (
    # Features that Playwright turns off itself. A browser uses only the last list it is given, so ours repeats them.
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "TcpPortRandomizationWin",
    "ThirdPartyStoragePartitioning",
    "msEdgeUpdateLaunchServicesPreferredVersion",
    "msForceBrowserSignIn",
    # The drop-down list of the address bar is a page of its own, with a process of its own for every window:
    # nobody sees it, and it used a third of a browser's resources.
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
)


@dataclass(frozen=True, slots=True)
class Limits:
    """The longest waits, in seconds: for a browser to start (`launch`), for a click or a key (`act`), for a call to a
    page (`call`) and for a call to a frame inside a page (`frame`)."""

    launch: float = 60.0
    act: float = 8.0
    # A page that lays out a long reply does not respond meanwhile, on a busy machine for half a minute; giving it up
    # sooner would lose attempts because of what a system said.
    call: float = 60.0
    frame: float = 10.0  # advertisements are slow, and nobody waits for them


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class BrowserSettings:
    """Settings of a browser (executable, headless, sandbox, proxy, arguments) and of each of its windows (the rest).

    - `executable`: the browser's path, or None for Playwright's own Chromium.
    - `sandbox`: None uses a sandbox if possible (not as root).
    - `proxy`: an address such as `http://user:password@host:port`; `socks5` is also allowed as the scheme.
    - `viewport`: width and height in CSS pixels.
    - `storage_state`: a file with the cookies and local storage of a log-in made by hand.
    - `trace`: whether to record a trace from the start. `secrets` are the values to remove from the trace.
    - `by_hand`: whether a person uses the window, so that windows opened by the page stay open.
    - `colours`: the colour scheme requested from pages.
    - `witness`: whether to record the received content as well.
    """

    executable: Path | None = None
    headless: bool = True
    sandbox: bool | None = None
    proxy: str | None = None
    arguments: tuple[str, ...] = ()
    locale: str | None = None
    timezone: str | None = None
    viewport: tuple[int, int] = (1280, 800)
    user_agent: str | None = None
    storage_state: Path | None = None
    trace: bool = False
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    by_hand: bool = False
    colours: Literal["light", "dark"] = "light"
    ignore_https_errors: bool = False
    witness: bool = False
    limits: Limits = LIMITS

    @property
    def with_sandbox(self) -> bool:
        return os.geteuid() != 0 if self.sandbox is None else self.sandbox

    def launch_options(self) -> dict[str, Any]:
        """Return the arguments for Playwright's `launch`."""
        return {
            "executable_path": self.executable,
            "headless": self.headless,
            "timeout": self.limits.launch * 1000,
            "args": [*_QUIET_ARGUMENTS, f"--disable-features={','.join(_DISABLED_FEATURES)}", *self.arguments],
            "proxy": self._proxy_options() if self.proxy else None,
            # The calling program decides when to end; an interrupted turn must still be recorded.
            "handle_sigint": False,
            "handle_sigterm": False,
            "handle_sighup": False,
        }

    def _proxy_options(self) -> dict[str, str]:
        parts = urlsplit(self.proxy or "")
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        proxy = {"server": f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")}
        if parts.username:
            proxy["username"] = unquote(parts.username)
        if parts.password:
            proxy["password"] = unquote(parts.password)
        return proxy

    def context_options(self) -> dict[str, Any]:
        """Return the arguments for Playwright's `new_context`."""
        return {
            "viewport": {"width": self.viewport[0], "height": self.viewport[1]},
            "color_scheme": self.colours,
            "locale": self.locale,
            "timezone_id": self.timezone,
            "user_agent": self.user_agent,
            "storage_state": self.storage_state,
            "ignore_https_errors": self.ignore_https_errors,
            "accept_downloads": False,
        }
