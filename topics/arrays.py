"""Types of numpy arrays, named after their content. The functions that use an array describe its shape."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
