// SPDX-License-Identifier: Apache-2.0
//
// The page of several runs.

function comparisonSections(runs) {
  return [];
}
