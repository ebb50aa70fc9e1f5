// SPDX-License-Identifier: Apache-2.0
//
// The only file that includes yaml-cpp. Its exceptions end here.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "codec/text/json.h"
#include "codec/text/json_reader.h"

namespace berth::codec {
namespace {

// Aliases may repeat a part of the text; these bounds keep a small text from becoming a huge tree.
constexpr int kDepthMax = 100;
constexpr int kValuesMax = 2'000'000;

struct Refusal {
    int line;
    std::string message;
};

int line_of(const YAML::Mark& mark) { return mark.is_null() ? 1 : mark.line + 1; }

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, text) != words.end();
}

// Exactly the numbers of JSON; all else, "007" and "0x1f" too, stays text.
bool is_number(std::string_view text) {
    return !text.empty() && JsonReader(text).read_number_text() == text;
}

Value scalar_of(const std::string& tag, const std::string& text, int line) {
    if (text.find('\0') != std::string::npos) throw Refusal{line, "a text with a zero byte in it"};
    Value value;
    value.line = line;
    value.text = text;
    const bool is_plain = tag == "?" || tag.empty();
    if (!is_plain) {
        value.kind = Value::Kind::String;
    } else if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) {
        value.kind = Value::Kind::Null;
    } else if (is_one_of(text, {"true", "True", "TRUE"})) {
        value.kind = Value::Kind::Bool;
        value.text = "true";
    } else if (is_one_of(text, {"false", "False", "FALSE"})) {
        value.kind = Value::Kind::Bool;
        value.text = "false";
    } else {
        value.kind = is_number(text) ? Value::Kind::Number : Value::Kind::String;
    }
    return value;
}

// Builds the tree while the library reads the text, once. It refuses as soon as something is wrong:
// a loose bracket behind the document makes the library see documents without end.
class TreeBuilder final : public YAML::EventHandler {
  public:
    Value take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1)
            throw Refusal{line_of(mark), "wanted one document, found another one"};
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        Part part;
        part.value.line = line_of(mark);
        take_part(std::move(part), anchor);
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& text) override {
        Part part{scalar_of(tag, text, line_of(mark))};
        if (!wants_name()) return take_part(std::move(part), anchor);
        take_name(text, part.value.line);
        keep(anchor, part);
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto kept = kept_.find(anchor);
        // It stands within what it stands for.
        if (kept == kept_.end()) throw Refusal{line_of(mark), "nested too deep"};
        const Value& value = kept->second.value;
        const bool is_name = wants_name() && value.is_scalar() && value.kind != Value::Kind::Null;
        if (is_name) return take_name(value.text, value.line);
        take_part(kept->second, YAML::NullAnchor);
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) override {
        open(Value::Kind::List, line_of(mark), anchor);
    }
    void OnSequenceEnd() override { close(); }
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value) override {
        open(Value::Kind::Map, line_of(mark), anchor);
    }
    void OnMapEnd() override { close(); }

  private:
    struct Part {
        Value value;
        int values = 1;  // it and what is in it
        int levels = 0;  // below it
    };
    // A list or map whose end has not come.
    struct Open {
        Part part;
        YAML::anchor_t anchor;
        std::set<std::string> names;
        const std::string* name = nullptr;  // of the member that comes
        int line = 0;  // of that name
    };

    bool wants_name() const {
        return !open_.empty() && open_.back().part.value.kind == Value::Kind::Map &&
               open_.back().name == nullptr;
    }
    void take_name(const std::string& name, int line) {
        Open& in = open_.back();
        const auto [place, is_new] = in.names.insert(name);
        if (!is_new) throw Refusal{line, "\"" + name + "\" is given twice"};
        in.name = &*place;
        in.line = line;
    }
    // Before anything is made of it.
    void check(const Part& part) {
        const int line = part.value.line;
        if (wants_name()) throw Refusal{line, "wanted a name before the colon"};
        if (std::ssize(open_) + part.levels > kDepthMax) throw Refusal{line, "nested too deep"};
        count(part);
    }
    void count(const Part& part) {
        values_ += part.values;
        if (values_ > kValuesMax) throw Refusal{part.value.line, "too many values"};
    }
    void open(Value::Kind kind, int line, YAML::anchor_t anchor) {
        Open begun{.part = {}, .anchor = anchor, .names = {}};
        begun.part.value.kind = kind;
        begun.part.value.line = line;
        check(begun.part);
        open_.push_back(std::move(begun));
    }
    void close() {
        Open ended = std::move(open_.back());
        open_.pop_back();
        keep(ended.anchor, ended.part);
        add(std::move(ended.part));
    }
    void take_part(Part part, YAML::anchor_t anchor) {
        check(part);
        keep(anchor, part);
        add(std::move(part));
    }
    // What an alias may stand for is counted as often as it is held.
    void keep(YAML::anchor_t anchor, const Part& part) {
        if (anchor == YAML::NullAnchor) return;
        count(part);
        kept_[anchor] = part;
    }
    void add(Part part) {
        if (open_.empty()) {
            root_ = std::move(part.value);
            return;
        }
        Open& in = open_.back();
        in.part.values += part.values;
        in.part.levels = std::max(in.part.levels, part.levels + 1);
        if (in.part.value.kind == Value::Kind::List) {
            in.part.value.items.push_back(std::move(part.value));
            return;
        }
        // An empty value has no place of its own.
        if (part.value.kind == Value::Kind::Null) part.value.line = in.line;
        in.part.value.members.push_back({*std::exchange(in.name, nullptr), std::move(part.value)});
    }

    Value root_;
    std::vector<Open> open_;
    std::map<YAML::anchor_t, Part> kept_;
    int values_ = 0;
    int documents_ = 0;
};

base::Result<Value> load(std::string_view text, const std::string& file_name) {
    const auto refused = [&](int line, const std::string& message) {
        return base::invalid(file_name + ":" + std::to_string(line) + ": " + message);
    };
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        TreeBuilder builder;
        while (parser.HandleNextDocument(builder)) {
        }
        return builder.take();
    } catch (const Refusal& refusal) {
        return refused(refusal.line, refusal.message);
    } catch (const YAML::Exception& error) {
        return refused(line_of(error.mark), error.msg);
    }
}

}  // namespace

base::Result<Value> parse_yaml(std::string_view text, std::string_view file_name) {
    const auto start = text.find_first_not_of(" \t\r\n");
    const bool may_be_json =
        start != std::string_view::npos && (text[start] == '{' || text[start] == '[');
    if (may_be_json) {
        auto json = parse_json(text, file_name);
        if (json) return json;
        auto yaml = load(text, std::string(file_name));
        // Of two refusals the one of the language that was meant: JSON quotes its names.
        const auto next = text.find_first_not_of(" \t\r\n", start + 1);
        const bool is_json = next != std::string_view::npos && text[next] == '"';
        return yaml || !is_json ? yaml : json;
    }
    return load(text, std::string(file_name));
}

}  // namespace berth::codec
