// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/kernels/pool.h"

#include "convoy/network/kernels/reference_arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convoy/network/kernels/pool.cpp"
#include "convoy/network/kernels/targets.h"

#if CONVOY_VECTORS
#include "convoy/network/kernels/arithmetic_inl.h"

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

const PoolKernels kPool = {pool_row, unpool_row};

}  // namespace HWY_NAMESPACE
}  // namespace convoy
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace convoy::reference {
namespace {

void pool_row(const PoolRow& pool) {
  for (int x = 0; x < pool.columns; ++x) {
    for (int image = 0; image < kPack; ++image) {
      const float* src = pool.src + x * pool.stride * kPack + image;
      float best = src[0];
      int argmax = 0;
      for (int i = 1; i < pool.high() * pool.window; ++i) {
        const float value = src[i / pool.window * pool.src_row + i % pool.window * kPack];
        if (value <= best || best != best) continue;  // not-a-number wins and stays
        best = value;
        argmax = i;
      }
      pool.dst[x * kPack + image] = at_least(pool.clamp_min, best);
      pool.argmax[x * kPack + image] = static_cast<std::uint8_t>(argmax);
    }
  }
}

void unpool_row(const UnpoolRow& pool) {
  for (int x = 0; x < pool.columns; ++x) {
    for (int image = 0; image < kPack; ++image) {
      const float gradient = pool.dst_gradient[x * kPack + image];
      const int argmax = pool.argmax[x * kPack + image];
      for (int i = 0; i < pool.high() * pool.window; ++i) {
        const int r = i / pool.window, s = i % pool.window;
        float& element =
            pool.src_gradient[r * pool.src_row + (x * pool.stride + s) * kPack + image];
        const float passed = argmax == i ? gradient : 0.0f;
        element = pool.accumulate ? passed + element : passed;
      }
    }
  }
}

}  // namespace

const PoolKernels kPool = {pool_row, unpool_row};

}  // namespace convoy::reference

CONVOY_KERNELS_OF(PoolKernels, pool_kernels, kPool)
#endif
