// SPDX-License-Identifier: Apache-2.0
//
// Principal components through the small matrix of products of saves. With the centred
// saves as the rows of X, an eigenvector e of X * transposed(X) with eigenvalue l gives
// the direction transposed(X) * e / sqrt(l), and e * sqrt(l) are the saves' coordinates
// along it.

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"
#include "convoy/landscape/plane.h"

namespace convoy {
namespace {

using Saves = std::span<const OwnedWeights* const>;
using Part = FlatBuffer OwnedWeights::*;

constexpr std::size_t kColumns = 4096;  // numbers of each save that are taken at a time
constexpr std::size_t kLeastSaves = 3;
// Rounding of saves to fp32 makes about this of a component that is none.
constexpr double kLeastShare = 1e-13;

InputError bad_saves(std::string found, std::string expected, std::string hint) {
  return {InputKind::data,
          {.where = "the saved weights",
           .found = std::move(found),
           .expected = std::move(expected),
           .hint = std::move(hint)}};
}

Eigen::MatrixXd columns_of(Saves saves, Part part, Range columns) {
  const auto rows = static_cast<Eigen::Index>(saves.size());
  Eigen::MatrixXd block(rows, static_cast<Eigen::Index>(columns.size()));
  for (Eigen::Index row = 0; row < rows; ++row) {
    const std::span numbers = (saves[static_cast<std::size_t>(row)]->*part).view(columns);
    block.row(row) =
        Eigen::Map<const Eigen::RowVectorXf>(numbers.data(), block.cols()).cast<double>();
  }
  return block;
}

template <class Work>
void for_each_block(std::size_t size, const Work& work) {
  for (std::size_t begin = 0; begin < size; begin += kColumns) {
    work(Range{begin, std::min(size, begin + kColumns)});
  }
}

Eigen::MatrixXd products_of(Saves saves) {
  const auto count = static_cast<Eigen::Index>(saves.size());
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(count, count);
  for_each_block(saves.front()->values.size(), [&](Range columns) {
    Eigen::MatrixXd block = columns_of(saves, &OwnedWeights::values, columns);
    block.rowwise() -= block.colwise().mean().eval();
    sums.noalias() += block * block.transpose();
  });
  return sums;
}

/// The factors of the saves in a direction of length one.
struct Component {
  Eigen::VectorXd factors;
  double share = 0;  // of the variance
};

Component component(const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>& solver,
                    Eigen::Index number) {
  const Eigen::Index index = solver.eigenvalues().size() - 1 - number;  // rising order
  const double value = solver.eigenvalues()[index];
  const double sum = solver.eigenvalues().cwiseMax(0).sum();
  if (!(value > kLeastShare * sum)) {
    throw bad_saves(
        number == 0 ? "weights that are all the same" : "weights that lie on one line",
        "weights that differ in two directions",
        "more steps, more runs, or --directions random");
  }
  Eigen::VectorXd vector = solver.eigenvectors().col(index);
  Eigen::Index furthest = 0;
  vector.cwiseAbs().maxCoeff(&furthest);
  if (vector[furthest] < 0) vector = -vector;
  return {vector / std::sqrt(value), value / sum};
}

void set_mean(Saves saves, Part part, FlatBuffer& dst) {
  for_each_block(dst.size(), [&](Range columns) {
    const Eigen::RowVectorXd mean = columns_of(saves, part, columns).colwise().mean();
    std::ranges::copy(mean, dst.view(columns).begin());
  });
}

void set_direction(Saves saves, Part part, const Eigen::VectorXd& factors,
                   FlatBuffer& dst) {
  for_each_block(dst.size(), [&](Range columns) {
    Eigen::MatrixXd block = columns_of(saves, part, columns);
    block.rowwise() -= block.colwise().mean().eval();
    const Eigen::RowVectorXd direction = factors.transpose() * block;
    std::ranges::copy(direction, dst.view(columns).begin());
  });
}

OwnedWeights direction_of(const LaidOutModel& model, Saves saves,
                          const Component& component) {
  OwnedWeights direction(model);
  for (const Part part : {&OwnedWeights::values, &OwnedWeights::statistics}) {
    set_direction(saves, part, component.factors, direction.*part);
  }
  return direction;
}

}  // namespace

PrincipalPlane principal_plane(const LaidOutModel& model, Saves saves) {
  if (saves.size() < kLeastSaves) {
    throw bad_saves(fmt::format("{} of them", saves.size()),
                    "at least 3 for two principal components",
                    "a larger checkpoint.saves_per_epoch, or --directions random");
  }
  const Eigen::MatrixXd products = products_of(saves);
  if (!products.allFinite()) {
    throw bad_saves("numbers that are not finite", "finite weights",
                    "the run has diverged: leave it out");
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(products);
  const Component first = component(solver, 0), second = component(solver, 1);
  OwnedWeights mean(model);
  for (const Part part : {&OwnedWeights::values, &OwnedWeights::statistics}) {
    set_mean(saves, part, mean.*part);
  }
  return {Plane(model, std::move(mean), direction_of(model, saves, first),
                direction_of(model, saves, second)),
          {first.share, second.share}};
}

}  // namespace convoy
