// SPDX-License-Identifier: Apache-2.0
//
// Winograd's transforms as matrices, in double precision: the forms' definition.

#pragma once

#include <utility>

#include "convoy/network/kernels/winograd.h"

namespace convoy::winograd_matrices {

/// A small matrix, or its transpose.
class Matrix {
 public:
  template <int kRows, int kColumns>
  explicit Matrix(const double (&elements)[kRows][kColumns])
      : rows(kRows), columns(kColumns), first_(elements[0]), row_(kColumns), column_(1) {}

  double at(int i, int j) const { return first_[i * row_ + j * column_]; }

  Matrix turned() const {
    Matrix other = *this;
    std::swap(other.rows, other.columns);
    std::swap(other.row_, other.column_);
    return other;
  }

  int rows, columns;

 private:
  const double* first_;
  int row_, column_;
};

// f4: the points are 0, A, -A, B, -B and infinity.
inline constexpr double kA = 5.0 / 8, kB = 3.0 / 2, kAa = kA * kA, kBb = kB * kB;
inline constexpr double kG0 = 1 / (kAa * kBb), kGa = 1 / (2 * kAa * (kAa - kBb)),
                        kGb = 1 / (2 * kBb * (kBb - kAa));
inline constexpr double kF4Source[6][6] = {
    {kAa * kBb, 0, -(kAa + kBb), 0, 1, 0}, {0, -kA* kBb, -kBb, kA, 1, 0},
    {0, kA* kBb, -kBb, -kA, 1, 0},         {0, -kB* kAa, -kAa, kB, 1, 0},
    {0, kB* kAa, -kAa, -kB, 1, 0},         {0, kAa* kBb, 0, -(kAa + kBb), 0, 1}};
inline constexpr double kF4Output[4][6] = {{1, 1, 1, 1, 1, 0},
                                           {0, kA, -kA, kB, -kB, 0},
                                           {0, kAa, kAa, kBb, kBb, 0},
                                           {0, kAa* kA, -kAa* kA, kBb* kB, -kBb* kB, 1}};
inline constexpr double kF4Taps[6][3] = {{kG0, 0, 0},
                                         {kGa, kGa* kA, kGa* kAa},
                                         {kGa, -kGa* kA, kGa* kAa},
                                         {kGb, kGb* kB, kGb* kBb},
                                         {kGb, -kGb* kB, kGb* kBb},
                                         {0, 0, 1}};

// f2: the points are 0, 1, -1 and infinity.
inline constexpr double kF2Source[4][4] = {
    {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
inline constexpr double kF2Output[2][4] = {{1, 1, 1, 0}, {0, 1, -1, -1}};
inline constexpr double kF2Taps[4][3] = {
    {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};

// z2: two pixels between two zeros see a 2 x 2 Toeplitz matrix of the taps:
//   w1 x0 + w2 x1 = w1 (x0 + x1) + (w2 - w1) x1
//   w0 x0 + w1 x1 = w1 (x0 + x1) + (w0 - w1) x0
inline constexpr double kZ2Source[3][2] = {{1, 1}, {0, 1}, {1, 0}};
inline constexpr double kZ2Output[2][3] = {{1, 1, 0}, {1, 0, 1}};
inline constexpr double kZ2Taps[3][3] = {{0, 1, 0}, {0, -1, 1}, {1, -1, 0}};

// z1: one pixel sees the middle tap alone.
inline constexpr double kZ1Source[1][1] = {{1}};
inline constexpr double kZ1Output[1][1] = {{1}};
inline constexpr double kZ1Taps[1][3] = {{0, 1, 0}};

// s4: a stride of two. Even pixels see the outer taps, at the points C, -C, D, -D and
// infinity; pixels 1, 3, 5 and 7 the middle one.
inline constexpr double kC = 1.0 / 2, kD = 3.0 / 2, kCc = kC * kC, kDd = kD * kD;
inline constexpr double kGc = 1 / (2 * kC * (kCc - kDd)),
                        kGd = 1 / (2 * kD * (kDd - kCc));
inline constexpr double kS4Source[9][9] = {{-kC * kDd, 0, -kDd, 0, kC, 0, 1},
                                           {kC * kDd, 0, -kDd, 0, -kC, 0, 1},
                                           {-kD * kCc, 0, -kCc, 0, kD, 0, 1},
                                           {kD * kCc, 0, -kCc, 0, -kD, 0, 1},
                                           {kCc * kDd, 0, 0, 0, -(kCc + kDd), 0, 0, 0, 1},
                                           {0, 1},
                                           {0, 0, 0, 1},
                                           {0, 0, 0, 0, 0, 1},
                                           {0, 0, 0, 0, 0, 0, 0, 1}};
inline constexpr double kS4Output[4][9] = {
    {1, 1, 1, 1, 0, 1},
    {kC, -kC, kD, -kD, 0, 0, 1},
    {kCc, kCc, kDd, kDd, 0, 0, 0, 1},
    {kCc * kC, -kCc* kC, kDd* kD, -kDd* kD, 1, 0, 0, 0, 1}};
inline constexpr double kS4Taps[9][3] = {
    {kGc, 0, kGc* kC},  {-kGc, 0, kGc* kC}, {kGd, 0, kGd* kD},
    {-kGd, 0, kGd* kD}, {0, 0, 1},          {0, 1, 0},
    {0, 1, 0},          {0, 1, 0},          {0, 1, 0}};

// s2: a stride of two. Pixels 0, 2, 4 see the outer taps, pixels 1 and 3 the middle one:
//   w0 x0 + w2 x2 = w0 (x0 - x2) + (w0 + w2) x2
//   w0 x2 + w2 x4 = w2 (x4 - x2) + (w0 + w2) x2
inline constexpr double kS2Source[5][5] = {{1, 0, -1, 0, 0},
                                           {0, 0, 1, 0, 0},
                                           {0, 0, -1, 0, 1},
                                           {0, 1, 0, 0, 0},
                                           {0, 0, 0, 1, 0}};
inline constexpr double kS2Output[2][5] = {{1, 1, 0, 1, 0}, {0, 1, 1, 0, 1}};
inline constexpr double kS2Taps[5][3] = {
    {1, 0, 0}, {1, 0, 1}, {0, 0, 1}, {0, 1, 0}, {0, 1, 0}};

// s1: two pixels after a zero see the middle and the last tap.
inline constexpr double kS1Source[2][2] = {{1, 0}, {0, 1}};
inline constexpr double kS1Output[1][2] = {{1, 1}};
inline constexpr double kS1Taps[2][3] = {{0, 1, 0}, {0, 0, 1}};

// p1 and p2: one tap.
inline constexpr double kOne[1][1] = {{1}};

/// B^T, A^T and G of the formula in winograd.h.
struct Form {
  Matrix source, output, taps;
};

inline Form form_of(WinogradForm form) {
  switch (form) {
    case WinogradForm::f4:
      return {Matrix(kF4Source), Matrix(kF4Output), Matrix(kF4Taps)};
    case WinogradForm::f2:
      return {Matrix(kF2Source), Matrix(kF2Output), Matrix(kF2Taps)};
    case WinogradForm::z2:
      return {Matrix(kZ2Source), Matrix(kZ2Output), Matrix(kZ2Taps)};
    case WinogradForm::z1:
      return {Matrix(kZ1Source), Matrix(kZ1Output), Matrix(kZ1Taps)};
    case WinogradForm::s4:
      return {Matrix(kS4Source), Matrix(kS4Output), Matrix(kS4Taps)};
    case WinogradForm::s2:
      return {Matrix(kS2Source), Matrix(kS2Output), Matrix(kS2Taps)};
    case WinogradForm::s1:
      return {Matrix(kS1Source), Matrix(kS1Output), Matrix(kS1Taps)};
    default:
      return {Matrix(kOne), Matrix(kOne), Matrix(kOne)};
  }
}

/// Element (i, j) of L x L^T, where x(r, s) is element (r, s) of x.
template <class Element>
double transformed(const Matrix& left, int i, int j, const Element& x) {
  double sum = 0;
  for (int r = 0; r < left.columns; ++r) {
    for (int s = 0; s < left.columns; ++s) sum += left.at(i, r) * left.at(j, s) * x(r, s);
  }
  return sum;
}

}  // namespace convoy::winograd_matrices
