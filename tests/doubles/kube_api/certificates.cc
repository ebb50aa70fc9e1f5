// SPDX-License-Identifier: Apache-2.0
#include "doubles/kube_api/certificates.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/check.h"

namespace berth::tests::kube_api {
namespace {

struct Free {
    void operator()(X509* it) const { X509_free(it); }
    void operator()(EVP_PKEY* it) const { EVP_PKEY_free(it); }
    void operator()(BIO* it) const { BIO_free(it); }
    void operator()(X509_EXTENSION* it) const { X509_EXTENSION_free(it); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

template <typename Write>
std::string pem_of(Write write) {
    const Owned<BIO> memory(BIO_new(BIO_s_mem()));
    BERTH_CHECK(write(memory.get()) == 1, "OpenSSL writes what it has made");
    char* text = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &text);
    return {text, static_cast<std::size_t>(size)};
}

Owned<X509> begin_certificate(const std::string& common_name, EVP_PKEY* key, long serial) {
    Owned<X509> made(X509_new());
    X509_set_version(made.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial);
    X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made.get()), 86'400);
    X509_set_pubkey(made.get(), key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                               0);
    return made;
}

void extend(X509* certificate, int what, const std::string& value) {
    const Owned<X509_EXTENSION> made(X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str()));
    BERTH_CHECK(made != nullptr, "the extension is written as OpenSSL reads it");
    X509_add_ext(certificate, made.get(), -1);
}

Owned<EVP_PKEY> make_key() { return Owned<EVP_PKEY>(EVP_EC_gen("P-256")); }

std::string pem_of(X509* certificate) {
    return pem_of([&](BIO* to) { return PEM_write_bio_X509(to, certificate); });
}

}  // namespace

struct Authority::Made {
    ~Made() {
        EVP_PKEY_free(key);
        X509_free(certificate);
    }
    EVP_PKEY* key = nullptr;
    X509* certificate = nullptr;
};

Authority::Authority() : made_(std::make_unique<Made>()) {
    made_->key = make_key().release();
    X509* certificate = begin_certificate("authority", made_->key, 1).release();
    made_->certificate = certificate;
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    extend(certificate, NID_basic_constraints, "critical,CA:TRUE");
    X509_sign(certificate, made_->key, EVP_sha256());
    pem_ = pem_of(certificate);
}

Authority::~Authority() = default;

Signed Authority::sign(const std::string& common_name, const std::string& names) const {
    const auto key = make_key();
    const auto certificate = begin_certificate(common_name, key.get(), 2);
    X509_set_issuer_name(certificate.get(), X509_get_subject_name(made_->certificate));
    if (!names.empty()) extend(certificate.get(), NID_subject_alt_name, names);
    X509_sign(certificate.get(), made_->key, EVP_sha256());
    return {pem_of(certificate.get()), pem_of([&](BIO* to) {
                return PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr,
                                                nullptr);
            })};
}

}  // namespace berth::tests::kube_api
