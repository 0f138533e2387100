// SPDX-License-Identifier: Apache-2.0
//
// The plain forms of Winograd's transforms, for reference.cpp's table.

#pragma once

#include "convoy/network/kernels/winograd.h"

namespace convoy::reference {

void source_to_products(const TileToProducts& tile);
void gradient_to_products(const TileToProducts& tile);
void output_from_products(const TileFromProducts& tile);
void add_source_gradient(const TileFromProducts& tile);
void taps_to_products(const TapsToProducts& taps);
void taps_from_products(const TapsFromProducts& taps);

}  // namespace convoy::reference
