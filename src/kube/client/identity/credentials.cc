// SPDX-License-Identifier: Apache-2.0
#include "kube/client/identity/credentials.h"

#include <sys/stat.h>

#include <utility>

#include "codec/text/json_reader.h"
#include "codec/text/json_writer.h"
#include "codec/words/timestamp.h"

namespace berth::kube::client {
namespace {

// A token that is older than this is not given to a request any more.
constexpr base::Duration kBeforeExpiry = std::chrono::seconds(10);

// Another file, or another content: kubelet renames a new folder over the old one.
std::string mark_of(const std::string& path) {
    struct stat is;
    if (::stat(path.c_str(), &is) != 0) return {};
    return std::to_string(is.st_dev) + ":" + std::to_string(is.st_ino) + ":" +
           std::to_string(is.st_size) + ":" + std::to_string(is.st_mtim.tv_sec) + ":" +
           std::to_string(is.st_mtim.tv_nsec);
}

std::string bearer(const std::string& token) { return token.empty() ? "" : "Bearer " + token; }

// A token goes into a header: nothing that could end it.
bool is_token(std::string_view text) {
    for (const char c : text) {
        if (c <= ' ' || c > '~') return false;
    }
    return !text.empty();
}

// What the program gets: KUBERNETES_EXEC_INFO.
std::string exec_info(const ExecCommand& command) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("kind");
    json.string("ExecCredential");
    json.key("apiVersion");
    json.string(command.api_version);
    json.key("spec");
    json.begin_object();
    json.key("interactive");
    json.boolean(false);
    json.end_object();
    json.end_object();
    return text;
}

}  // namespace

Credentials::Credentials(const Access& access, ProcessRunner* runner, const ports::Clock& date)
    : token_(access.token),
      token_file_(access.token_file),
      exec_(access.exec),
      runner_(runner),
      date_(date) {
    if (exec_) exec_->environment["KUBERNETES_EXEC_INFO"] = exec_info(*exec_);
}

void Credentials::authorize(Ready ready) {
    if (!token_file_.empty()) return ready(read_file());
    const bool is_old = expiry_ && date_.now() + kBeforeExpiry >= *expiry_;
    if (!exec_ || (!token_.empty() && !is_old)) return ready(bearer(token_));
    waiting_.push_back(std::move(ready));
    if (!std::exchange(is_running_, true)) run();
}

void Credentials::renew() {
    file_mark_.clear();
    if (exec_) token_.clear();
}

base::Result<std::string> Credentials::read_file() {
    const std::string mark = mark_of(token_file_);
    if (mark.empty() || mark != file_mark_) {
        BERTH_TRY(text, read_small_file(token_file_));
        while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.pop_back();
        if (!is_token(text)) return base::invalid("\"" + token_file_ + "\" holds no token");
        token_ = std::move(text);
        file_mark_ = mark;
    }
    return bearer(token_);
}

void Credentials::run() {
    if (runner_ == nullptr) {
        return finish(base::fail(base::ErrorCode::Unavailable,
                                 "credentials come from a program, which cannot be run here"));
    }
    runner_->run(*exec_, [this](const base::Result<std::string>& printed) {
        if (!printed) return finish(tl::unexpected(printed.error()));
        auto credential = read_exec_credential(*printed);
        if (!credential) {
            credential.error().message = exec_->command + ": " + credential.error().message;
            return finish(tl::unexpected(credential.error()));
        }
        token_ = std::move(credential->token);
        expiry_ = credential->expiry;
        finish(bearer(token_));
    });
}

void Credentials::finish(const base::Result<std::string>& header) {
    is_running_ = false;
    for (const Ready& ready : std::exchange(waiting_, {})) ready(header);
}

base::Result<ExecCredential> read_exec_credential(std::string_view text) {
    ExecCredential credential;
    bool has_certificate = false;
    std::string_view key;
    codec::JsonReader reader(text);
    for (reader.begin_object(); reader.next_key(key);) {
        if (key != "status" || reader.peek() != codec::JsonReader::Type::Object) {
            reader.skip();
            continue;
        }
        for (reader.begin_object(); reader.next_key(key);) {
            if (key == "token") {
                credential.token = reader.read_text();
            } else if (key == "expirationTimestamp" &&
                       reader.peek() == codec::JsonReader::Type::String) {
                const auto expiry = codec::parse_time(reader.read_text());
                if (!expiry) return base::invalid("expirationTimestamp is not a time");
                credential.expiry = *expiry;
            } else {
                has_certificate = has_certificate || key == "clientCertificateData";
                reader.skip();
            }
        }
    }
    reader.finish();
    if (reader.is_failed()) return base::invalid("not an ExecCredential: " + reader.error());
    if (!is_token(credential.token)) {
        return base::invalid(has_certificate ? "gives a client certificate; wanted a token"
                                             : "gives no token");
    }
    return credential;
}

}  // namespace berth::kube::client
