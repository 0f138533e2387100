// SPDX-License-Identifier: Apache-2.0
//
// Winograd's forms in one dimension, for one instruction set. Included once per target by
// fast.cpp. Each function multiplies by the matrix, or transposed matrix, of the same
// name in reference_winograd.cpp, with as few operations as it takes.

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

HWY_INLINE V times(float factor, V v) { return hn::Mul(hn::Set(D(), factor), v); }
/// sum + factor * v.
HWY_INLINE V add_times(V sum, float factor, V v) {
  return hn::MulAdd(hn::Set(D(), factor), v, sum);
}

/// p = a + b, a - b.
HWY_INLINE void add_and_subtract(V a, V b, V* p) {
  p[0] = hn::Add(a, b);
  p[1] = hn::Sub(a, b);
}

struct F4 {
  static constexpr int kSrc = 6, kProducts = 6, kDst = 4;
  static constexpr float kA = 5.0f / 8, kB = 3.0f / 2, kAa = kA * kA, kBb = kB * kB;
  static constexpr float kG0 = 1 / (kAa * kBb), kGa = 1 / (2 * kAa * (kAa - kBb)),
                         kGb = 1 / (2 * kBb * (kBb - kAa));

  static HWY_INLINE void source(const V* x, V* p) {
    p[0] = add_times(add_times(x[4], -(kAa + kBb), x[2]), kAa * kBb, x[0]);
    const V even_a = add_times(x[4], -kBb, x[2]);
    const V odd_a = times(kA, add_times(x[3], -kBb, x[1]));
    add_and_subtract(even_a, odd_a, p + 1);
    const V even_b = add_times(x[4], -kAa, x[2]);
    const V odd_b = times(kB, add_times(x[3], -kAa, x[1]));
    add_and_subtract(even_b, odd_b, p + 3);
    p[5] = add_times(add_times(x[5], -(kAa + kBb), x[3]), kAa * kBb, x[1]);
  }
  static HWY_INLINE void source_turned(const V* p, V* x) {
    const V sum_a = hn::Add(p[1], p[2]), difference_a = hn::Sub(p[1], p[2]);
    const V sum_b = hn::Add(p[3], p[4]), difference_b = hn::Sub(p[3], p[4]);
    x[0] = times(kAa * kBb, p[0]);
    x[1] = add_times(add_times(times(kAa * kBb, p[5]), -kA * kBb, difference_a),
                     -kB * kAa, difference_b);
    x[2] = add_times(add_times(times(-(kAa + kBb), p[0]), -kBb, sum_a), -kAa, sum_b);
    x[3] = add_times(add_times(times(-(kAa + kBb), p[5]), kA, difference_a), kB,
                     difference_b);
    x[4] = hn::Add(p[0], hn::Add(sum_a, sum_b));
    x[5] = p[5];
  }
  static HWY_INLINE void output(const V* p, V* y) {
    const V sum_a = hn::Add(p[1], p[2]), difference_a = hn::Sub(p[1], p[2]);
    const V sum_b = hn::Add(p[3], p[4]), difference_b = hn::Sub(p[3], p[4]);
    y[0] = hn::Add(p[0], hn::Add(sum_a, sum_b));
    y[1] = add_times(times(kA, difference_a), kB, difference_b);
    y[2] = add_times(times(kAa, sum_a), kBb, sum_b);
    y[3] = add_times(add_times(p[5], kAa * kA, difference_a), kBb * kB, difference_b);
  }
  static HWY_INLINE void output_turned(const V* y, V* p) {
    p[0] = y[0];
    const V even_a = add_times(y[0], kAa, y[2]);
    const V odd_a = times(kA, add_times(y[1], kAa, y[3]));
    add_and_subtract(even_a, odd_a, p + 1);
    const V even_b = add_times(y[0], kBb, y[2]);
    const V odd_b = times(kB, add_times(y[1], kBb, y[3]));
    add_and_subtract(even_b, odd_b, p + 3);
    p[5] = y[3];
  }
  static HWY_INLINE void taps(const V* w, V* p) {
    p[0] = times(kG0, w[0]);
    const V even_a = times(kGa, add_times(w[0], kAa, w[2])),
            odd_a = times(kGa * kA, w[1]);
    add_and_subtract(even_a, odd_a, p + 1);
    const V even_b = times(kGb, add_times(w[0], kBb, w[2])),
            odd_b = times(kGb * kB, w[1]);
    add_and_subtract(even_b, odd_b, p + 3);
    p[5] = w[2];
  }
  static HWY_INLINE void taps_turned(const V* p, V* w) {
    const V sum_a = times(kGa, hn::Add(p[1], p[2]));
    const V sum_b = times(kGb, hn::Add(p[3], p[4]));
    w[0] = add_times(hn::Add(sum_a, sum_b), kG0, p[0]);
    w[1] = add_times(times(kGa * kA, hn::Sub(p[1], p[2])), kGb * kB, hn::Sub(p[3], p[4]));
    w[2] = add_times(add_times(p[5], kAa, sum_a), kBb, sum_b);
  }
};

struct F2 {
  static constexpr int kSrc = 4, kProducts = 4, kDst = 2;

  static HWY_INLINE void source(const V* x, V* p) {
    p[0] = hn::Sub(x[0], x[2]);
    p[1] = hn::Add(x[1], x[2]);
    p[2] = hn::Sub(x[2], x[1]);
    p[3] = hn::Sub(x[1], x[3]);
  }
  static HWY_INLINE void source_turned(const V* p, V* x) {
    x[0] = p[0];
    x[1] = hn::Add(hn::Sub(p[1], p[2]), p[3]);
    x[2] = hn::Sub(hn::Add(p[1], p[2]), p[0]);
    x[3] = hn::Neg(p[3]);
  }
  static HWY_INLINE void output(const V* p, V* y) {
    y[0] = hn::Add(p[0], hn::Add(p[1], p[2]));
    y[1] = hn::Sub(hn::Sub(p[1], p[2]), p[3]);
  }
  static HWY_INLINE void output_turned(const V* y, V* p) {
    p[0] = y[0];
    p[1] = hn::Add(y[0], y[1]);
    p[2] = hn::Sub(y[0], y[1]);
    p[3] = hn::Neg(y[1]);
  }
  static HWY_INLINE void taps(const V* w, V* p) {
    const V even = times(0.5f, hn::Add(w[0], w[2])), odd = times(0.5f, w[1]);
    p[0] = w[0];
    add_and_subtract(even, odd, p + 1);
    p[3] = w[2];
  }
  static HWY_INLINE void taps_turned(const V* p, V* w) {
    const V sum = times(0.5f, hn::Add(p[1], p[2]));
    w[0] = hn::Add(p[0], sum);
    w[1] = times(0.5f, hn::Sub(p[1], p[2]));
    w[2] = hn::Add(sum, p[3]);
  }
};

struct Z2 {
  static constexpr int kSrc = 2, kProducts = 3, kDst = 2;

  static HWY_INLINE void source(const V* x, V* p) {
    p[0] = hn::Add(x[0], x[1]);
    p[1] = x[1];
    p[2] = x[0];
  }
  static HWY_INLINE void source_turned(const V* p, V* x) {
    x[0] = hn::Add(p[0], p[2]);
    x[1] = hn::Add(p[0], p[1]);
  }
  static HWY_INLINE void output(const V* p, V* y) {
    y[0] = hn::Add(p[0], p[1]);
    y[1] = hn::Add(p[0], p[2]);
  }
  static HWY_INLINE void output_turned(const V* y, V* p) {
    p[0] = hn::Add(y[0], y[1]);
    p[1] = y[0];
    p[2] = y[1];
  }
  static HWY_INLINE void taps(const V* w, V* p) {
    p[0] = w[1];
    p[1] = hn::Sub(w[2], w[1]);
    p[2] = hn::Sub(w[0], w[1]);
  }
  static HWY_INLINE void taps_turned(const V* p, V* w) {
    w[0] = p[2];
    w[1] = hn::Sub(p[0], hn::Add(p[1], p[2]));
    w[2] = p[1];
  }
};

/// One pixel and one product, whichever tap it is.
struct OnePixel {
  static constexpr int kSrc = 1, kProducts = 1, kDst = 1;

  static HWY_INLINE void source(const V* x, V* p) { p[0] = x[0]; }
  static HWY_INLINE void source_turned(const V* p, V* x) { x[0] = p[0]; }
  static HWY_INLINE void output(const V* p, V* y) { y[0] = p[0]; }
  static HWY_INLINE void output_turned(const V* y, V* p) { p[0] = y[0]; }
};

struct Z1 : OnePixel {
  static HWY_INLINE void taps(const V* w, V* p) { p[0] = w[1]; }
  static HWY_INLINE void taps_turned(const V* p, V* w) {
    w[0] = hn::Zero(D());
    w[1] = p[0];
    w[2] = hn::Zero(D());
  }
};

struct S4 {
  static constexpr int kSrc = 9, kProducts = 9, kDst = 4;
  static constexpr float kC = 1.0f / 2, kD = 3.0f / 2, kCc = kC * kC, kDd = kD * kD;
  static constexpr float kGc = 1 / (2 * kC * (kCc - kDd)),
                         kGd = 1 / (2 * kD * (kDd - kCc));

  static HWY_INLINE void source(const V* x, V* p) {
    const V odd_c = add_times(x[6], -kDd, x[2]);
    const V even_c = times(kC, add_times(x[4], -kDd, x[0]));
    add_and_subtract(odd_c, even_c, p);
    const V odd_d = add_times(x[6], -kCc, x[2]);
    const V even_d = times(kD, add_times(x[4], -kCc, x[0]));
    add_and_subtract(odd_d, even_d, p + 2);
    p[4] = add_times(add_times(x[8], -(kCc + kDd), x[4]), kCc * kDd, x[0]);
    for (int i = 0; i < 4; ++i) p[5 + i] = x[1 + 2 * i];
  }
  static HWY_INLINE void source_turned(const V* p, V* x) {
    const V sum_c = hn::Add(p[0], p[1]), difference_c = hn::Sub(p[0], p[1]);
    const V sum_d = hn::Add(p[2], p[3]), difference_d = hn::Sub(p[2], p[3]);
    x[0] = add_times(add_times(times(kCc * kDd, p[4]), -kC * kDd, difference_c),
                     -kD * kCc, difference_d);
    x[2] = add_times(times(-kDd, sum_c), -kCc, sum_d);
    x[4] = add_times(add_times(times(-(kCc + kDd), p[4]), kC, difference_c), kD,
                     difference_d);
    x[6] = hn::Add(sum_c, sum_d);
    x[8] = p[4];
    for (int i = 0; i < 4; ++i) x[1 + 2 * i] = p[5 + i];
  }
  static HWY_INLINE void output(const V* p, V* y) {
    const V sum_c = hn::Add(p[0], p[1]), difference_c = hn::Sub(p[0], p[1]);
    const V sum_d = hn::Add(p[2], p[3]), difference_d = hn::Sub(p[2], p[3]);
    y[0] = hn::Add(p[5], hn::Add(sum_c, sum_d));
    y[1] = add_times(add_times(p[6], kC, difference_c), kD, difference_d);
    y[2] = add_times(add_times(p[7], kCc, sum_c), kDd, sum_d);
    y[3] = add_times(add_times(hn::Add(p[4], p[8]), kCc * kC, difference_c), kDd * kD,
                     difference_d);
  }
  static HWY_INLINE void output_turned(const V* y, V* p) {
    const V even_c = add_times(y[0], kCc, y[2]);
    const V odd_c = times(kC, add_times(y[1], kCc, y[3]));
    add_and_subtract(even_c, odd_c, p);
    const V even_d = add_times(y[0], kDd, y[2]);
    const V odd_d = times(kD, add_times(y[1], kDd, y[3]));
    add_and_subtract(even_d, odd_d, p + 2);
    p[4] = y[3];
    for (int i = 0; i < 4; ++i) p[5 + i] = y[i];
  }
  static HWY_INLINE void taps(const V* w, V* p) {
    const V first_c = times(kGc, w[0]), last_c = times(kGc * kC, w[2]);
    add_and_subtract(last_c, first_c, p);
    const V first_d = times(kGd, w[0]), last_d = times(kGd * kD, w[2]);
    add_and_subtract(last_d, first_d, p + 2);
    p[4] = w[2];
    for (int i = 0; i < 4; ++i) p[5 + i] = w[1];
  }
  static HWY_INLINE void taps_turned(const V* p, V* w) {
    w[0] = add_times(times(kGc, hn::Sub(p[0], p[1])), kGd, hn::Sub(p[2], p[3]));
    w[1] = hn::Add(hn::Add(p[5], p[6]), hn::Add(p[7], p[8]));
    w[2] = add_times(add_times(p[4], kGc * kC, hn::Add(p[0], p[1])), kGd * kD,
                     hn::Add(p[2], p[3]));
  }
};

struct S2 {
  static constexpr int kSrc = 5, kProducts = 5, kDst = 2;

  static HWY_INLINE void source(const V* x, V* p) {
    p[0] = hn::Sub(x[0], x[2]);
    p[1] = x[2];
    p[2] = hn::Sub(x[4], x[2]);
    p[3] = x[1];
    p[4] = x[3];
  }
  static HWY_INLINE void source_turned(const V* p, V* x) {
    x[0] = p[0];
    x[1] = p[3];
    x[2] = hn::Sub(p[1], hn::Add(p[0], p[2]));
    x[3] = p[4];
    x[4] = p[2];
  }
  static HWY_INLINE void output(const V* p, V* y) {
    y[0] = hn::Add(p[3], hn::Add(p[0], p[1]));
    y[1] = hn::Add(p[4], hn::Add(p[1], p[2]));
  }
  static HWY_INLINE void output_turned(const V* y, V* p) {
    p[0] = y[0];
    p[1] = hn::Add(y[0], y[1]);
    p[2] = y[1];
    p[3] = y[0];
    p[4] = y[1];
  }
  static HWY_INLINE void taps(const V* w, V* p) {
    p[0] = w[0];
    p[1] = hn::Add(w[0], w[2]);
    p[2] = w[2];
    p[3] = w[1];
    p[4] = w[1];
  }
  static HWY_INLINE void taps_turned(const V* p, V* w) {
    w[0] = hn::Add(p[0], p[1]);
    w[1] = hn::Add(p[3], p[4]);
    w[2] = hn::Add(p[1], p[2]);
  }
};

struct S1 {
  static constexpr int kSrc = 2, kProducts = 2, kDst = 1;

  static HWY_INLINE void source(const V* x, V* p) { p[0] = x[0], p[1] = x[1]; }
  static HWY_INLINE void source_turned(const V* p, V* x) { x[0] = p[0], x[1] = p[1]; }
  static HWY_INLINE void output(const V* p, V* y) { y[0] = hn::Add(p[0], p[1]); }
  static HWY_INLINE void output_turned(const V* y, V* p) { p[0] = p[1] = y[0]; }
  static HWY_INLINE void taps(const V* w, V* p) { p[0] = w[1], p[1] = w[2]; }
  static HWY_INLINE void taps_turned(const V* p, V* w) {
    w[0] = hn::Zero(D());
    w[1] = p[0];
    w[2] = p[1];
  }
};

/// Calls work with the form as a type.
template <class Work>
HWY_INLINE void with_form(WinogradForm form, const Work& work) {
  switch (form) {
    case WinogradForm::f4:
      return work(F4());
    case WinogradForm::f2:
      return work(F2());
    case WinogradForm::z2:
      return work(Z2());
    case WinogradForm::z1:
      return work(Z1());
    case WinogradForm::s4:
      return work(S4());
    case WinogradForm::s2:
      return work(S2());
    case WinogradForm::s1:
      return work(S1());
    case WinogradForm::p1:
    case WinogradForm::p2:
      return work(OnePixel());
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
