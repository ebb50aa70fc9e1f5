// SPDX-License-Identifier: Apache-2.0
#include "api/http/problem.h"

#include "codec/api/json_api.h"

namespace berth::api {
namespace {

using base::ErrorCode;

ErrorCode code_of(int status) {
    switch (status) {
        case 401:
        case 403: return ErrorCode::Forbidden;
        case 404: return ErrorCode::NotFound;
        case 409:
        case 412: return ErrorCode::Conflict;
        case 429: return ErrorCode::Exhausted;
        case 503: return ErrorCode::Unavailable;
        case 504: return ErrorCode::Timeout;
        default: return status < 500 ? ErrorCode::Invalid : ErrorCode::Internal;
    }
}

Response problem_with(const base::Error& error, int status, std::string_view hint) {
    Response response;
    response.status = status;
    response.content_type = "application/problem+json";
    response.body = codec::problem_json(error, status, hint);
    return response;
}

}  // namespace

int status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::Invalid: return 400;
        case ErrorCode::NotFound: return 404;
        case ErrorCode::Exists:
        case ErrorCode::Conflict: return 409;
        case ErrorCode::Forbidden: return 403;
        case ErrorCode::Exhausted:  // the disk
        case ErrorCode::Unavailable: return 503;
        case ErrorCode::Timeout: return 504;
        case ErrorCode::Internal: return 500;
    }
    return 500;
}

Response problem(const base::Error& error, std::string_view hint) {
    return problem_with(error, status_of(error.code), hint);
}

Response busy(int status, std::string detail, std::int64_t retry_after_seconds) {
    Response response = problem(status, std::move(detail));
    response.headers.emplace_back("Retry-After", std::to_string(retry_after_seconds));
    return response;
}

Response refused(const base::Error& error, std::string_view hint) {
    return problem_with(error, error.code == ErrorCode::Invalid ? 422 : status_of(error.code),
                        hint);
}

Response problem(int status, std::string detail, std::string_view hint) {
    return problem_with({code_of(status), std::move(detail)}, status, hint);
}

}  // namespace berth::api
