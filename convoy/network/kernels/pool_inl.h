// SPDX-License-Identifier: Apache-2.0
//
// Max pooling for one instruction set. Included once a target by fast.cpp.

HWY_BEFORE_NAMESPACE();
namespace convoy {
namespace HWY_NAMESPACE {

using ChosenTag = hn::Rebind<std::uint8_t, D>;
using IndexTag = hn::Rebind<std::int32_t, D>;

void pool_row(const PoolRow& pool) {
  const D d;
  const V none = hn::Set(d, pool.relu ? static_cast<float>(kNoneChosen) : 0.0f);
  const V lowest = hn::Set(d, pool.relu ? 0.0f : -std::numeric_limits<float>::infinity());
  for (int x = 0; x < pool.columns; ++x) {
    for (int v = 0; v < kPack; v += kWidth) {
      const float* HWY_RESTRICT src =
          pool.src + static_cast<std::size_t>(x) * pool.step * kPack + v;
      V best = lowest, chosen = none;
      for (int r = 0; r < pool.window; ++r) {
        for (int s = 0; s < pool.window; ++s) {
          const V value = hn::LoadU(d, src + r * pool.src_row + s * kPack);
          // Not "value > best": not-a-number must win.
          const auto keep = hn::Le(value, best);
          best = hn::IfThenElse(keep, best, value);
          chosen = hn::IfThenElse(keep, chosen,
                                  hn::Set(d, static_cast<float>(r * pool.window + s)));
        }
      }
      hn::StoreU(best, d, pool.dst + x * kPack + v);
      hn::StoreU(hn::DemoteTo(ChosenTag(), hn::ConvertTo(IndexTag(), chosen)),
                 ChosenTag(), pool.chosen + x * kPack + v);
    }
  }
}

void unpool_row(const UnpoolRow& pool) {
  const D d;
  for (int x = 0; x < pool.columns; ++x) {
    for (int v = 0; v < kPack; v += kWidth) {
      float* HWY_RESTRICT src =
          pool.src_gradient + static_cast<std::size_t>(x) * pool.step * kPack + v;
      const V gradient = hn::LoadU(d, pool.dst_gradient + x * kPack + v);
      const V chosen = hn::ConvertTo(
          d,
          hn::PromoteTo(IndexTag(), hn::LoadU(ChosenTag(), pool.chosen + x * kPack + v)));
      for (int r = 0; r < pool.window; ++r) {
        for (int s = 0; s < pool.window; ++s) {
          const auto here =
              hn::Eq(chosen, hn::Set(d, static_cast<float>(r * pool.window + s)));
          float* element = src + r * pool.src_row + s * kPack;
          const V sum =
              hn::Add(hn::LoadU(d, element), hn::IfThenElseZero(here, gradient));
          hn::StoreU(sum, d, element);
        }
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
