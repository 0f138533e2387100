// SPDX-License-Identifier: Apache-2.0

#include "convoy/s3/xml.h"

#include <pugixml.hpp>

namespace convoy {
namespace {

/// Returns the root element if it has this name, otherwise an empty node.
pugi::xml_node root_of(pugi::xml_document& document, std::string_view xml,
                       const char* name) {
  if (!document.load_buffer(xml.data(), xml.size())) return {};
  return document.child(name);
}

}  // namespace

std::string xml_field(std::string_view xml, const char* root, const char* field) {
  pugi::xml_document document;
  return root_of(document, xml, root).child_value(field);
}

std::vector<std::string> xml_fields(std::string_view xml, const char* root,
                                    const char* item, const char* field) {
  pugi::xml_document document;
  std::vector<std::string> texts;
  for (const pugi::xml_node node : root_of(document, xml, root).children(item)) {
    texts.emplace_back(node.child_value(field));
  }
  return texts;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace convoy
