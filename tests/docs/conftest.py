"""What several tests of pages need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def quiet_kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Kernels of Jupyter that write nothing into the home folder."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp(name.lower())))
        patch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
        yield
