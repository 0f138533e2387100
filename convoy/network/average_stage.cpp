// SPDX-License-Identifier: Apache-2.0

#include "convoy/network/average_stage.h"

#include <algorithm>

namespace convoy {
namespace {

bool spans_overlap(const std::vector<AverageSpan>& spans) {
  return std::ranges::adjacent_find(spans, [](const auto& one, const auto& next) {
           return next.begin < one.end;
         }) != spans.end();
}

float part_of(const AverageSpan& rows, const AverageSpan& columns) {
  return 1.0f / static_cast<float>(rows.count * columns.count);
}

}  // namespace

AverageStage::AverageStage(const StageContext& context, AverageWindows windows, Shape src,
                           Shape dst)
    : windows_(std::move(windows)),
      src_(src),
      dst_(dst),
      overlap_(spans_overlap(windows_.rows) || spans_overlap(windows_.columns)) {
  context.ask_for_buffer((src.pixels() + dst.pixels()) * kPack);
}

void AverageStage::average(const AverageSpan& rows, const AverageSpan& columns,
                           const float* plane, float* mean) const {
  float sums[kPack] = {};
  for (int y = rows.begin; y < rows.end; ++y) {
    const float* row = plane + static_cast<std::size_t>(y) * src_.width * kPack;
    for (int x = columns.begin; x < columns.end; ++x) {
      for (int i = 0; i < kPack; ++i) sums[i] += row[x * kPack + i];
    }
  }
  const float part = part_of(rows, columns);
  for (int i = 0; i < kPack; ++i) mean[i] = sums[i] * part;
}

void AverageStage::pass_back(const AverageSpan& rows, const AverageSpan& columns,
                             const float* gradient, float* plane) const {
  const float part = part_of(rows, columns);
  float parts[kPack];
  for (int i = 0; i < kPack; ++i) parts[i] = part * gradient[i];
  for (int y = rows.begin; y < rows.end; ++y) {
    float* row = plane + static_cast<std::size_t>(y) * src_.width * kPack;
    for (int x = columns.begin; x < columns.end; ++x) {
      float* pixel = row + x * kPack;
      if (!overlap_) {
        std::copy_n(parts, kPack, pixel);
        continue;
      }
      for (int i = 0; i < kPack; ++i) pixel[i] += parts[i];
    }
  }
}

void AverageStage::forward(const Pass& pass, Activations sources,
                           const Activation& result) {
  const auto channels = static_cast<std::size_t>(src_.channels);
  const std::size_t src_plane = src_.pixels() * kPack, dst_plane = dst_.pixels() * kPack;
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int thread) {
    float* buffer = pass.fp32_buffer(thread);
    const float* from = sources[0].values.read(plane * src_plane, src_plane, buffer);
    float* means = result.values.target(plane * dst_plane, buffer + src_plane);
    float* to = means;
    for (const AverageSpan& rows : windows_.rows) {
      for (const AverageSpan& columns : windows_.columns) {
        average(rows, columns, from, to);
        to += kPack;
      }
    }
    result.values.store(plane * dst_plane, dst_plane, means);
  });
}

void AverageStage::backward(const Pass& pass, Activations sources,
                            const Activation& dst) {
  if (sources[0].gradient == nullptr) return;
  const auto channels = static_cast<std::size_t>(src_.channels);
  const std::size_t src_plane = src_.pixels() * kPack, dst_plane = dst_.pixels() * kPack;
  pass.team.run(pass.packs(src_) * channels, [&](std::size_t plane, int thread) {
    float* buffer = pass.fp32_buffer(thread);
    const float* from =
        dst.gradient.read(plane * dst_plane, dst_plane, buffer + src_plane);
    float* to = sources[0].gradient.target(plane * src_plane, buffer);
    std::fill_n(to, src_plane, 0.0f);
    for (const AverageSpan& rows : windows_.rows) {
      for (const AverageSpan& columns : windows_.columns) {
        pass_back(rows, columns, from, to);
        from += kPack;
      }
    }
    sources[0].gradient.store(plane * src_plane, src_plane, to);
  });
}

}  // namespace convoy
