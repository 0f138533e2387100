// SPDX-License-Identifier: Apache-2.0
//
// Max pooling for one instruction set. Included once per target by fast.cpp.

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

using ChosenTag = hn::Rebind<std::uint8_t, D>;

// Square windows of two and three are compiled on their own (kWindow), so that their
// loops unroll; 0 stands for any other.

template <int kWindow>
void pool_row_by(const PoolRow& pool) {
  const D d;
  const int window = kWindow > 0 ? kWindow : pool.window;
  const int size = window * (kWindow > 0 ? kWindow : pool.high());
  const V clamp_min = hn::Set(d, pool.clamp_min);
  for (int x = 0; x < pool.columns; ++x) {
    for (int v = 0; v < kPack; v += kWidth) {
      const float* HWY_RESTRICT src =
          pool.src + static_cast<std::size_t>(x) * pool.stride * kPack + v;
      V best = hn::LoadU(d, src), argmax = hn::Zero(d);
      for (int i = 1; i < size; ++i) {
        const V value =
            hn::LoadU(d, src + i / window * pool.src_row + i % window * kPack);
        // Not "value > best": not-a-number must win, and stay.
        const auto keep = hn::Or(hn::Le(value, best), hn::IsNaN(best));
        best = hn::IfThenElse(keep, best, value);
        argmax = hn::IfThenElse(keep, argmax, hn::Set(d, static_cast<float>(i)));
      }
      hn::StoreU(at_least(clamp_min, best), d, pool.dst + x * kPack + v);
      hn::StoreU(hn::DemoteTo(ChosenTag(), hn::ConvertTo(IndexTag(), argmax)),
                 ChosenTag(), pool.argmax + x * kPack + v);
    }
  }
}

template <int kWindow>
void unpool_row_by(const UnpoolRow& pool) {
  const D d;
  const int window = kWindow > 0 ? kWindow : pool.window;
  const int size = window * (kWindow > 0 ? kWindow : pool.high());
  for (int x = 0; x < pool.columns; ++x) {
    for (int v = 0; v < kPack; v += kWidth) {
      float* HWY_RESTRICT src =
          pool.src_gradient + static_cast<std::size_t>(x) * pool.stride * kPack + v;
      const V gradient = hn::LoadU(d, pool.dst_gradient + x * kPack + v);
      const V argmax = hn::ConvertTo(
          d,
          hn::PromoteTo(IndexTag(), hn::LoadU(ChosenTag(), pool.argmax + x * kPack + v)));
      for (int i = 0; i < size; ++i) {
        float* element = src + i / window * pool.src_row + i % window * kPack;
        const auto here = hn::Eq(argmax, hn::Set(d, static_cast<float>(i)));
        V sum = hn::IfThenElseZero(here, gradient);
        if (pool.accumulate) sum = hn::Add(sum, hn::LoadU(d, element));
        hn::StoreU(sum, d, element);
      }
    }
  }
}

void pool_row(const PoolRow& pool) {
  if (pool.window == 2 && pool.high() == 2) return pool_row_by<2>(pool);
  if (pool.window == 3 && pool.high() == 3) return pool_row_by<3>(pool);
  pool_row_by<0>(pool);
}

void unpool_row(const UnpoolRow& pool) {
  if (pool.window == 2 && pool.high() == 2) return unpool_row_by<2>(pool);
  if (pool.window == 3 && pool.high() == 3) return unpool_row_by<3>(pool);
  unpool_row_by<0>(pool);
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
