// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/settings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace berth::cli {
namespace {

constexpr std::string_view kKey = "project";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

std::filesystem::path settings_file() {
    const std::string config = variable("XDG_CONFIG_HOME");
    const std::filesystem::path home = config.starts_with("/")
                                           ? std::filesystem::path(config)
                                           : std::filesystem::path(variable("HOME")) / ".config";
    return home / "berth" / "config.toml";
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_project_line(std::string_view line) {
    const std::size_t equals = line.find('=');
    return equals != line.npos && trimmed(line.substr(0, equals)) == kKey;
}

std::string unquoted(std::string_view text) {
    text = trimmed(text);
    if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0]) {
        text = text.substr(1, text.size() - 2);
    }
    return std::string(text);
}

}  // namespace

std::string default_project() {
    if (const std::string project = variable("BERTH_PROJECT"); !project.empty()) return project;
    std::ifstream file(settings_file());
    for (std::string line; std::getline(file, line);) {
        if (is_project_line(line)) return unquoted(line.substr(line.find('=') + 1));
    }
    return {};
}

base::Status save_default_project(const std::string& name) {
    const std::filesystem::path path = settings_file();
    std::ostringstream kept;
    std::ifstream old(path);
    for (std::string line; std::getline(old, line);) {
        if (!is_project_line(line)) kept << line << "\n";
    }
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    std::ofstream file(path, std::ios::trunc);
    file << "project = \"" << name << "\"\n" << kept.str();
    file.close();
    if (file.good()) return {};
    return base::fail(base::ErrorCode::Unavailable, "cannot write " + path.string());
}

}  // namespace berth::cli
