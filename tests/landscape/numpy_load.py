# SPDX-License-Identifier: Apache-2.0
# What numpy.load reads of a file.
import json, sys
import numpy

array = numpy.load(json.load(sys.stdin)["path"])
json.dump({"dtype": str(array.dtype), "rows": array.tolist()}, sys.stdout)
