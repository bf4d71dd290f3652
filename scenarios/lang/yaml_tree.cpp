#include "scenarios/lang/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <istream>
#include <map>
#include <streambuf>
#include <unordered_map>
#include <utility>

#include "scenarios/lang/utf8_check.hpp"
#include "scenarios/lang/yaml_messages.hpp"

namespace simverbs::scenarios {

namespace {

/// Ends the parse; the diagnostic has been added.
struct ParseAbandoned {};

/// Lets a stream read a string_view without a copy.
class ViewBuffer : public std::streambuf {
  public:
    explicit ViewBuffer(std::string_view text) {
        // The buffer is only read; setg's interface is not const-correct.
        char* begin = const_cast<char*>(text.data());
        setg(begin, begin, begin + text.size());
    }
};

/// Builds the tree from the parser's events.
class TreeBuilder : public YAML::EventHandler {
  public:
    TreeBuilder(std::shared_ptr<const std::string> file, DiagnosticSink& sink) : file_(std::move(file)), sink_(sink) {}

    [[nodiscard]] const std::shared_ptr<YamlValue>& root() const { return root_; }
    /// Where the last text in quotes begins, if there is one.
    [[nodiscard]] const SourcePosition& last_quoted() const { return last_quoted_; }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add_leaf(mark, anchor, YamlKind::Null, {}); }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        check_tag(mark, tag);
        add_leaf(mark, anchor, YamlKind::Scalar, text, tag == "!");
        if (tag == "!") last_quoted_ = place(mark);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) abandon(mark, "the alias stands inside the value that it refers to");
        attach(found->second, place(mark));
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(mark, anchor, YamlKind::Sequence);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        check_tag(mark, tag);
        open(mark, anchor, YamlKind::Map);
    }
    void OnMapEnd() override { close(); }

  private:
    struct OpenValue {
        std::shared_ptr<YamlValue> value;
        YAML::anchor_t anchor = 0;
        bool has_key = false;
        std::string key;
        SourcePosition key_position;
        std::unordered_map<std::string, int> lines;  ///< key → the line that has it
    };

    [[nodiscard]] SourcePosition place(const YAML::Mark& mark) const { return {file_, mark.line + 1, mark.column + 1}; }

    [[noreturn]] void abandon(const YAML::Mark& mark, std::string problem, std::string expected = {}) {
        sink_.add(place(mark), {}, std::move(problem), std::move(expected));
        throw ParseAbandoned{};
    }

    void check_tag(const YAML::Mark& mark, const std::string& tag) {
        if (tag.empty() || tag == "?" || tag == "!") return;
        sink_.add(place(mark), {}, fmt::format("the YAML tag {} has no meaning here", in_quotes(tag)),
                  "a value without a tag");
    }

    std::shared_ptr<YamlValue> made(const YAML::Mark& mark, YamlKind kind) const {
        auto value = std::make_shared<YamlValue>();
        value->kind = kind;
        value->position = place(mark);
        return value;
    }

    void add_leaf(const YAML::Mark& mark, YAML::anchor_t anchor, YamlKind kind, const std::string& text,
                  bool is_quoted = false) {
        auto leaf = made(mark, kind);
        leaf->text = text;
        leaf->is_quoted = is_quoted;
        if (anchor != 0) anchors_[anchor] = leaf;
        attach(leaf, leaf->position);
    }

    void open(const YAML::Mark& mark, YAML::anchor_t anchor, YamlKind kind) {
        if (open_.size() >= static_cast<std::size_t>(kMaxDepth)) {
            abandon(mark, "nested too deeply", fmt::format("at most {} levels", kMaxDepth));
        }
        if (!open_.empty()) check_key_kind(open_.back(), kind, place(mark));
        open_.push_back(OpenValue{made(mark, kind), anchor, false, {}, {}, {}});
    }

    void close() {
        OpenValue done = std::move(open_.back());
        open_.pop_back();
        if (done.anchor != 0) anchors_[done.anchor] = done.value;
        attach(done.value, done.value->position);
    }

    void check_key_kind(const OpenValue& parent, YamlKind kind, const SourcePosition& position) {
        if (parent.value->kind != YamlKind::Map || parent.has_key || kind == YamlKind::Scalar) return;
        sink_.add(position, {}, fmt::format("a key is {}", kind_name(kind)), "a name");
        throw ParseAbandoned{};
    }

    void attach(const std::shared_ptr<YamlValue>& value, const SourcePosition& position) {
        if (open_.empty()) {
            root_ = value;
            return;
        }
        OpenValue& parent = open_.back();
        if (parent.value->kind == YamlKind::Sequence) {
            add_weight(*parent.value, *value, position);
            parent.value->items.push_back(value);
        } else if (!parent.has_key) {
            check_key_kind(parent, value->kind, position);
            begin_entry(parent, value->text, position);
        } else {
            parent.has_key = false;
            add_weight(*parent.value, *value, position);
            if (parent.lines.try_emplace(parent.key, parent.key_position.line).second) {
                parent.value->entries.push_back(YamlEntry{std::move(parent.key), parent.key_position, value});
            }
        }
    }

    void begin_entry(OpenValue& parent, const std::string& key, const SourcePosition& position) {
        parent.has_key = true;
        parent.key = key;
        parent.key_position = position;
        const auto first = parent.lines.find(key);
        if (first == parent.lines.end()) return;
        sink_.add(position, {}, fmt::format("the key {} is given twice", in_quotes(key)), {},
                  fmt::format("the first is in line {}", first->second));
    }

    void add_weight(YamlValue& parent, const YamlValue& child, const SourcePosition& position) {
        parent.weight += child.weight;
        if (parent.weight <= kMaxValues) return;
        sink_.add(position, {}, "too many values (aliases count each time)", fmt::format("at most {}", kMaxValues));
        throw ParseAbandoned{};
    }

    std::shared_ptr<const std::string> file_;
    DiagnosticSink& sink_;
    std::shared_ptr<YamlValue> root_;
    std::vector<OpenValue> open_;
    std::map<YAML::anchor_t, std::shared_ptr<YamlValue>> anchors_;
    SourcePosition last_quoted_;
};

/// What begins with this line (from 0); empty if there is none.
std::string_view from_line(std::string_view text, int line) {
    for (; line > 0; --line) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return {};
        text.remove_prefix(end + 1);
    }
    return text;
}

/// Does the indentation of this line (from 0) contain a tab?
bool is_indented_by_tab(std::string_view text, int line) {
    text = from_line(text, line);
    const std::size_t first = text.find_first_not_of(' ');
    return first != std::string_view::npos && text[first] == '\t';
}

/// Is the quotation mark that is the first one after `begin` closed? The parser takes the end of the file for one.
bool is_quote_closed(std::string_view text, const SourcePosition& begin) {
    text = from_line(text, begin.line - 1);
    // An anchor may stand before it.
    const std::size_t open =
        text.find_first_of("'\"", std::min(text.size(), static_cast<std::size_t>(begin.column - 1)));
    if (open == std::string_view::npos) return true;
    for (std::size_t at = open + 1; at < text.size(); ++at) {
        if (text[at] == '\\' && text[open] == '"') {
            ++at;
        } else if (text[at] == text[open]) {
            const bool is_doubled = text[open] == '\'' && at + 1 < text.size() && text[at + 1] == '\'';
            if (!is_doubled) return true;
            ++at;
        }
    }
    return false;
}

YamlPtr parse_checked_text(std::string_view text, const std::shared_ptr<const std::string>& file,
                           DiagnosticSink& sink) {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    TreeBuilder builder(file, sink);
    if (!parser.HandleNextDocument(builder) || builder.root() == nullptr || builder.root()->kind == YamlKind::Null) {
        sink.add({file, 1, 1}, {}, "the file is empty", "a map of keys and values");
        return nullptr;
    }
    if (const SourcePosition& quoted = builder.last_quoted(); quoted.line > 0 && !is_quote_closed(text, quoted)) {
        sink.add(quoted, {}, "YAML syntax: the quotation mark is not closed");
    }
    TreeBuilder second(file, sink);
    if (parser.HandleNextDocument(second)) {
        const SourcePosition place = second.root() ? second.root()->position : SourcePosition{file, 0, 0};
        sink.add(place, {}, "a second YAML document begins", "one document in a file");
    }
    return builder.root();
}

}  // namespace

const YamlValue* YamlValue::find(std::string_view key) const noexcept {
    for (const YamlEntry& entry : entries) {
        if (entry.key == key) return entry.value.get();
    }
    return nullptr;
}

std::string_view kind_name(YamlKind kind) noexcept {
    switch (kind) {
        case YamlKind::Null:
            return "nothing";
        case YamlKind::Scalar:
            return "a single value";
        case YamlKind::Sequence:
            return "a list";
        case YamlKind::Map:
            return "a map";
    }
    return "";
}

YamlPtr parse_yaml(std::string_view text, std::string_view file_name, DiagnosticSink& sink) {
    const auto file = std::make_shared<const std::string>(file_name);
    if (text.size() > kMaxFileBytes) {
        sink.add({file, 0, 0}, {}, "the file is too large", fmt::format("at most {} MiB", kMaxFileBytes >> 20));
        return nullptr;
    }
    if (const auto bad = find_bad_text(text)) {
        sink.add({file, bad->line, bad->column}, {},
                 fmt::format("the byte 0x{:02x} does not belong in a text file", bad->byte), "UTF-8 text");
        return nullptr;
    }
    const std::size_t errors_before = sink.count();
    YamlPtr root;
    try {
        root = parse_checked_text(text, file, sink);
    } catch (const ParseAbandoned&) {
        return nullptr;
    } catch (const YAML::Exception& error) {
        const bool placed = !error.mark.is_null();
        sink.add({file, placed ? error.mark.line + 1 : 0, placed ? error.mark.column + 1 : 0}, {},
                 "YAML syntax: " + (placed && is_indented_by_tab(text, error.mark.line)
                                        ? std::string("a tab indents this line (use spaces)")
                                        : plain_yaml_message(error.msg)));
    } catch (const std::exception& error) {
        sink.add({file, 0, 0}, {}, std::string("YAML syntax: ") + error.what());
    }
    return sink.count() == errors_before ? root : nullptr;
}

}  // namespace simverbs::scenarios
