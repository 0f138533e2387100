// SPDX-License-Identifier: Apache-2.0
//
// The few fields we take from the XML that S3 answers with, by pugixml.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// The text of <root><field>...; "" if the document is damaged, or another.
std::string xml_field(std::string_view xml, const char* root, const char* field);

/// The texts of all <root><item><field>....
std::vector<std::string> xml_fields(std::string_view xml, const char* root,
                                    const char* item, const char* field);

/// A text as content of an element.
std::string xml_escaped(std::string_view text);

}  // namespace convoy
