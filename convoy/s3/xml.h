// SPDX-License-Identifier: Apache-2.0
//
// Reads the few fields that we need from S3's XML answers, with pugixml.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// Returns the text of <root><field>...; "" if the document is damaged or another one.
std::string xml_field(std::string_view xml, const char* root, const char* field);

/// Returns the texts of all <root><item><field>....
std::vector<std::string> xml_fields(std::string_view xml, const char* root,
                                    const char* item, const char* field);

/// Escapes a text as content of an element.
std::string xml_escaped(std::string_view text);

}  // namespace convoy
