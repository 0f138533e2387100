# SPDX-License-Identifier: Apache-2.0
# The first two principal components of rows, by NumPy's singular values.
import json, sys
import numpy

rows = numpy.array(json.load(sys.stdin)["rows"])
centred = rows - rows.mean(axis=0)
u, s, _ = numpy.linalg.svd(centred, full_matrices=False)
coordinates = u[:, :2] * s[:2]
for column in coordinates.T:
    if column[numpy.abs(column).argmax()] < 0:
        column *= -1
json.dump({"coordinates": coordinates.tolist(),
           "explained": (s[:2] ** 2 / (s ** 2).sum()).tolist()}, sys.stdout)
