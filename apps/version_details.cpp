// SPDX-License-Identifier: Apache-2.0

#include "apps/version_details.h"

#include <archive.h>
#include <curl/curl.h>
#include <fmt/format.h>
#include <matio.h>
#include <openssl/crypto.h>
#include <png.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "convoy/base/version.h"
#include "convoy/comm/connect.h"
#include "convoy/events/library.h"
#include "convoy/images/jpeg_file.h"
#include "convoy/network/kernels/kernel_sets.h"
#include "convoy/system/cpu.h"
#include "version_info.h"

namespace convoy {

std::string version_details() {
  const CpuInfo cpu = cpu_info();
  std::string text = fmt::format("convoy {}\n", version());
  text += fmt::format("compiler   GCC {}\n", __VERSION__);
  text += fmt::format("processor  {}, {} cores, {}\n", cpu.name, cpu.cores, cpu.features);
  text += fmt::format("kernels    {} ({})\n", names_of(available_kernel_sets()),
                      kernel_library());
  text += fmt::format("           {}; {} for precision=bf16\n",
                      names_of(available_kernel_sets(Products::bf16_amx)),
                      names_of(available_kernel_sets(Products::bf16_dot)));
  text += fmt::format(
      "libraries  fmt {}.{}.{}, nlohmann-json {}.{}.{}, yaml-cpp {}, CLI11 {}\n",
      FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
      NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
      NLOHMANN_JSON_VERSION_PATCH, CONVOY_YAML_CPP_VERSION, CONVOY_CLI11_VERSION);
  text += fmt::format("           {}\n", OpenSSL_version(OPENSSL_VERSION));
  text +=
      fmt::format("           zlib {}, {}\n", zlibVersion(), archive_version_string());
  text += fmt::format("           {}\n", curl_version());
  text += fmt::format("           matio {}, libpng {}, {}, pugixml {}.{}, {}, {}\n",
                      MATIO_VERSION_STR, PNG_LIBPNG_VER_STRING, jpeg_library(),
                      PUGIXML_VERSION / 1000, PUGIXML_VERSION / 10 % 100,
                      transport_library(), event_library());
  return text;
}

}  // namespace convoy
