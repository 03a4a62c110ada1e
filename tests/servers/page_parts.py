"""What the awkward pages are made of that others wrote: editors of code, and the toasts of libraries; from npm."""

from __future__ import annotations

from tests.servers.npm_package import NpmPackage

__all__ = ["part"]

_PACKAGES = (
    NpmPackage(
        "@codemirror/view",
        "6.43.15",
        "HHsfpqFeHyXLs983pSRe38Xajs0vFWZQ2BuX0m7Ki8w3jZ5iD8cuR3lBz2/5/X53Dhf32SBHKh6rtSTB6tKeGw==",
        ("dist/index.js",),
    ),
    NpmPackage(
        "@codemirror/state",
        "6.7.6",
        "kAz+AncRtKuIknedxT1bq4XwXv4UowhbkHU1myPrtVb/jZtImWuV5BXzv5vK6i3kYACsdiZiQKFQQ5Mq7elW8w==",
        ("dist/index.js",),
    ),
    NpmPackage(
        "style-mod",
        "4.1.3",
        "i/n8VsZydrugj3Iuzll8+x/00GH2vnYsk1eomD8QiRrSAeW6ItbCQDtfXCeJHd0iwiNagqjQkvpvREEPtW3IoQ==",
        ("src/style-mod.js",),
    ),
    NpmPackage(
        "w3c-keyname",
        "2.2.8",
        "dpojBhNsCNN7T82Tm7k26A6G9ML3NkhDsnw9n/eoxSRlVBB4CEtIQ/KTCLI2Fwf3ataSXRhYFkQi3SlnFwPvPQ==",
        ("index.js",),
    ),
    NpmPackage(
        "crelt",
        "1.0.7",
        "aK6BbWfhf4U/wCcLHKPJl/xa6VkVstRaPywWtMKGwuOLc/wZTyQYuoxgvZnNsBvv7Kg3YTBQYYBCggcviQczuA==",
        ("index.js",),
    ),
    NpmPackage(
        "@marijn/find-cluster-break",
        "1.0.4",
        "Wy0V7+SGUjnF9/TkiM1hKVDPj7jKXduPNboMVtHTA8dySMURWqfg/JZ9E2Sq8JgSJmkl7k7Qe9FLeMSrSraWmQ==",
        ("src/index.js",),
    ),
    NpmPackage(
        "codemirror",
        "5.65.19",
        "+aFkvqhaAVr1gferNMuN8vkTSrWIFvzlMV9I2KBLCWS2WpZ2+UAkZjlMZmEuT+gcXTi6RrGQCkWq1/bDtGqhIA==",
        ("lib/codemirror.js", "lib/codemirror.css"),
    ),
    NpmPackage(
        "notyf",
        "3.10.0",
        "Mtnp+0qiZxgrH+TzVlzhWyZceHdAZ/UWK0/ju9U0HQeDpap1mZ8cC7H5wSI5mwgni6yeAjaxsTw0sbMK+aSuHw==",
        ("notyf.min.js", "notyf.min.css"),
    ),
    NpmPackage(
        "sonner",
        "2.0.8",
        "UM/ByIoFra8yzV75n1o0Puu0bw5U/9UNnDacrJNspekBewIfsQ3D6ez1nvlWpt7aTsO6rujQtifBpycwIivqlg==",
        ("dist/index.mjs",),
    ),
    NpmPackage(
        "react",
        "18.3.1",
        "wS+hAgJShR0KhEvPJArfuPVN1+Hz1t0Y6n5jLrGQbkb4urgPE/0Rve+1kMB1v/oWgHgm4WIcV+i7F2pTVj+2iQ==",
        ("umd/react.production.min.js",),
    ),
    NpmPackage(
        "react-dom",
        "18.3.1",
        "5m4nQKp+rZRb09LNH59GM4BxTh9251/ylbKIbpe7TpGxfJ+9kv6BLkLBXIjjspbgbnIBNqlI23tRnTWT0snUIw==",
        ("umd/react-dom.production.min.js",),
    ),
)


def part(path: str) -> bytes | None:
    """The file `PACKAGE/FILE`; None for what is not among them."""
    for package in _PACKAGES:
        name, _, file = path.partition(f"{package.name}/")
        if not name and file in package.files:
            return (package.folder() / file).read_bytes()
    return None
