"""Types of numpy arrays, named after their content. Shapes are given where an array is used."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]
