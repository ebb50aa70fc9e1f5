// SPDX-License-Identifier: Apache-2.0
//
// Certificates for an API server on loopback and its clients, valid for a day.
#pragma once

#include <memory>
#include <string>

namespace berth::tests::kube_api {

struct Signed {
    std::string certificate_pem;
    std::string key_pem;
};

class Authority {
  public:
    Authority();
    ~Authority();
    const std::string& pem() const { return pem_; }
    // `names` as OpenSSL writes them: "IP:127.0.0.1,DNS:kube"; empty for a client.
    Signed sign(const std::string& common_name, const std::string& names) const;

  private:
    struct Made;
    std::unique_ptr<Made> made_;
    std::string pem_;
};

}  // namespace berth::tests::kube_api
