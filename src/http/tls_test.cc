#include "http/tls.h"

#include <array>
#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/scratch_folder_testing.h"
#include "http/client.h"
#include "http/raw_server_testing.h"

namespace sextant::http {
namespace {

// A server of one connection with a certificate of its own making, for the name and address told.
class TlsServer {
 public:
  TlsServer(const char* alternative_name, std::string answer) : answer_(std::move(answer)) {
    key_ = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
    certificate_ = X509_new();
    X509_set_version(certificate_, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate_), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate_), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate_), 36000);
    X509_set_pubkey(certificate_, key_);
    X509_NAME* const name = X509_get_subject_name(certificate_);
    const std::array<unsigned char, 5> common{'t', 'e', 's', 't', 0};
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, common.data(), -1, -1, 0);
    X509_set_issuer_name(certificate_, name);
    for (const auto& [kind, value] : {std::pair{NID_basic_constraints, "critical,CA:TRUE"},
                                      std::pair{NID_subject_alt_name, alternative_name}}) {
      X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value);
      X509_add_ext(certificate_, extension, -1);
      X509_EXTENSION_free(extension);
    }
    X509_sign(certificate_, key_, nullptr);
    listen_on_loopback();
    thread_ = std::thread([this] { serve(); });
  }
  ~TlsServer() {
    shutdown(listener_, SHUT_RDWR);
    close(listener_);
    thread_.join();
    X509_free(certificate_);
    EVP_PKEY_free(key_);
  }
  TlsServer(const TlsServer&) = delete;
  TlsServer(TlsServer&&) = delete;
  TlsServer& operator=(const TlsServer&) = delete;
  TlsServer& operator=(TlsServer&&) = delete;

  [[nodiscard]] Url url() const { return {.is_secure = true, .host = "127.0.0.1", .port = port_}; }
  // The file of authorities that knows this server.
  [[nodiscard]] std::filesystem::path authorities(const ScratchFolder& folder) const {
    const std::filesystem::path path = folder.path() / "authorities.pem";
    BIO* const file = BIO_new_file(path.c_str(), "w");
    PEM_write_bio_X509(file, certificate_);
    BIO_free(file);
    return path;
  }

 private:
  void listen_on_loopback() {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    void* const any = &address;
    bind(listener_, static_cast<sockaddr*>(any), size);
    listen(listener_, 4);
    getsockname(listener_, static_cast<sockaddr*>(any), &size);
    port_ = ntohs(address.sin_port);
  }
  void serve() {
    SSL_CTX* const context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_use_certificate(context, certificate_);
    SSL_CTX_use_PrivateKey(context, key_);
    for (int one = accept(listener_, nullptr, nullptr); one >= 0;
         one = accept(listener_, nullptr, nullptr)) {
      SSL* const session = SSL_new(context);
      SSL_set_fd(session, one);
      if (SSL_accept(session) == 1) {
        std::array<char, 4096> request{};
        static_cast<void>(SSL_read(session, request.data(), static_cast<int>(request.size())));
        SSL_write(session, answer_.data(), static_cast<int>(answer_.size()));
        SSL_shutdown(session);
      }
      SSL_free(session);
      close(one);
    }
    SSL_CTX_free(context);
  }

  std::string answer_;
  EVP_PKEY* key_ = nullptr;
  X509* certificate_ = nullptr;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

const char* const kAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecure";

TEST(Tls, AServerThatAnAuthorityKnowsIsSpokenTo) {
  const ScratchFolder folder;
  const std::string long_body(300000, 'y');
  const TlsServer server("IP:127.0.0.1",
                         "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + long_body);
  const auto reply = reply_to({.method = "POST", .target = "/", .body = "x"}, server.url(),
                              {.authorities = server.authorities(folder)});
  ASSERT_TRUE(reply) << to_text(reply.error());
  EXPECT_EQ(reply->body, long_body);
}

TEST(Tls, OneThatNoneKnowsIsNot) {
  const ScratchFolder folder;
  const TlsServer server("IP:127.0.0.1", kAnswer);
  const TlsServer other("IP:127.0.0.1", kAnswer);
  const auto reply = reply_to({}, server.url(), {.authorities = other.authorities(folder)});
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("its certificate is not trusted: "), std::string::npos)
      << reply.error().what;
}

TEST(Tls, ACertificateOfAnotherHostIsNotTaken) {
  const ScratchFolder folder;
  const TlsServer server("DNS:api.example.com", kAnswer);
  const auto reply = reply_to({}, server.url(), {.authorities = server.authorities(folder)});
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().what.find("mismatch"), std::string::npos) << reply.error().what;
}

TEST(Tls, AFileOfAuthoritiesThatCannotBeReadIsNamed) {
  const ScratchFolder folder;
  const std::string path = folder.write("authorities.pem", "no certificate");
  const TlsServer server("IP:127.0.0.1", kAnswer);
  const auto reply = reply_to({}, server.url(), {.authorities = path});
  ASSERT_FALSE(reply);
  EXPECT_EQ(reply.error().where, path);
}

TEST(Tls, WhoSpeaksNoTlsIsAnError) {
  const ScratchFolder folder;
  const TlsServer known("IP:127.0.0.1", kAnswer);
  RawServer server({"…"});
  Url url = server.url();
  url.is_secure = true;
  const ClientOptions options{.authorities = known.authorities(folder), .connect_limit = 20_ms};
  EXPECT_FALSE(reply_to({}, url, options));
}

}  // namespace
}  // namespace sextant::http
