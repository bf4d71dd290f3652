// What every page that simverbs writes has in common: escaping, and putting text, style, data and scripts into one
// file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace simverbs::scenarios::report {

/// `text` as the content of an element or of a quoted attribute. Control characters and bytes that are not UTF-8 become
/// U+FFFD; line feeds and tabs stay.
[[nodiscard]] std::string escape_html(std::string_view text);

/// `data` as the content of a <script type="application/json">: compact; no "<" stands in it.
[[nodiscard]] std::string script_json(const nlohmann::json& data);

/// What goes into a page's template. All but `title` is put in as it stands.
struct PageParts {
    std::string_view html_template;  ///< with the marks @TITLE@ @STYLE@ @BODY@ @DATA@ @LIBRARY@ @SCRIPT@, in this order
    std::string_view title;          ///< any text
    std::string_view style;
    std::string_view body;
    std::string_view data;     ///< of script_json
    std::string_view library;  ///< script of others, may be empty
    std::string_view script;
};

/// The whole page. Marks that stand in the parts themselves are left alone.
[[nodiscard]] std::string fill_page(const PageParts& parts);

}  // namespace simverbs::scenarios::report
