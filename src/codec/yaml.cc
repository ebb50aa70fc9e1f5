// SPDX-License-Identifier: Apache-2.0
//
// The only file that includes yaml-cpp. Its exceptions end here.
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>

#include "codec/json.h"
#include "codec/json_reader.h"

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

void read_scalar(const YAML::Node& node, Value& value) {
    value.text = node.Scalar();
    const bool is_plain = node.Tag() == "?" || node.Tag().empty();
    if (!is_plain) {
        value.kind = Value::Kind::String;
    } else if (is_one_of(value.text, {"", "~", "null", "Null", "NULL"})) {
        value.kind = Value::Kind::Null;
    } else if (is_one_of(value.text, {"true", "True", "TRUE"})) {
        value.kind = Value::Kind::Bool;
        value.text = "true";
    } else if (is_one_of(value.text, {"false", "False", "FALSE"})) {
        value.kind = Value::Kind::Bool;
        value.text = "false";
    } else {
        value.kind = is_number(value.text) ? Value::Kind::Number : Value::Kind::String;
    }
}

void refuse_zero_bytes(const std::string& text, int line) {
    if (text.find('\0') != std::string::npos) {
        throw Refusal{line, "a text with a zero byte in it"};
    }
}

class TreeReader {
  public:
    Value read(const YAML::Node& node, int depth) {
        Value value;
        value.line = line_of(node.Mark());
        if (depth > kDepthMax) throw Refusal{value.line, "nested too deep"};
        if (++values_ > kValuesMax) throw Refusal{value.line, "too many values"};
        if (node.IsScalar()) read_scalar(node, value);
        refuse_zero_bytes(value.text, value.line);
        if (node.IsSequence()) {
            value.kind = Value::Kind::List;
            for (const auto& item : node) value.items.push_back(read(item, depth + 1));
        }
        if (node.IsMap()) {
            value.kind = Value::Kind::Map;
            std::set<std::string> seen;
            for (const auto& member : node) {
                value.members.push_back(read_member(member.first, member.second, depth));
                const std::string& name = value.members.back().name;
                if (!seen.insert(name).second) {
                    throw Refusal{line_of(member.first.Mark()), "\"" + name + "\" is given twice"};
                }
            }
        }
        return value;
    }

  private:
    Member read_member(const YAML::Node& key, const YAML::Node& content, int depth) {
        const int line = line_of(key.Mark());
        if (!key.IsScalar()) throw Refusal{line, "wanted a name before the colon"};
        refuse_zero_bytes(key.Scalar(), line);
        Member member{key.Scalar(), read(content, depth + 1)};
        // An empty value has no place of its own.
        if (content.IsNull()) member.value.line = line;
        return member;
    }

    int values_ = 0;
};

// Refuses a second document as soon as it begins. A stray bracket behind the first makes the
// library see documents without end, so they are never collected.
class OneDocument final : public YAML::EventHandler {
  public:
    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1)
            throw Refusal{line_of(mark), "wanted one document, found another one"};
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}

  private:
    int documents_ = 0;
};

void expect_one_document(const std::string& text) {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    OneDocument counter;
    while (parser.HandleNextDocument(counter)) {
    }
}

base::Result<Value> load(std::string_view text, const std::string& file_name) {
    const auto refused = [&](int line, const std::string& message) {
        return base::invalid(file_name + ":" + std::to_string(line) + ": " + message);
    };
    try {
        const std::string whole(text);
        expect_one_document(whole);
        return TreeReader{}.read(YAML::Load(whole), 0);
    } catch (const Refusal& refusal) {
        return refused(refusal.line, refusal.message);
    } catch (const YAML::Exception& error) {
        const bool is_too_deep = dynamic_cast<const YAML::DeepRecursion*>(&error) != nullptr;
        return refused(line_of(error.mark), is_too_deep ? "nested too deep" : error.msg);
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
