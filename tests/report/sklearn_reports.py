# SPDX-License-Identifier: Apache-2.0
"""scikit-learn's classification reports, to hold ours to.

  sklearn_reports.py matrices FILE.json              {"names", "matrix"} of each -> texts
  sklearn_reports.py predictions FILE.csv FILE.json  of the CSV, names from the eval.json
"""

import csv
import json
import sys

from sklearn.metrics import classification_report


def report(truths, predictions, names):
    return classification_report(truths, predictions, labels=range(len(names)),
                                 target_names=names, digits=3, zero_division=0)


def of_matrix(case):
    truths, predictions = [], []
    for truth, row in enumerate(case["matrix"]):
        for predicted, count in enumerate(row):
            truths += [truth] * count
            predictions += [predicted] * count
    return report(truths, predictions, case["names"])


def of_predictions(table, names):
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    return report([int(row["true"]) for row in rows],
                  [int(row["predicted"]) for row in rows], names)


if sys.argv[1] == "matrices":
    with open(sys.argv[2]) as file:
        print(json.dumps([of_matrix(case) for case in json.load(file)]))
else:
    with open(sys.argv[3]) as file:
        names = [one["name"] for one in json.load(file)["classes"]]
    print(of_predictions(sys.argv[2], names), end="")
