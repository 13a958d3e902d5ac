// The one file that knows OpenSSL (docs/decisions/0020-http.md): records go through memory, so that
// the stream below keeps its time limits.
#include "http/tls.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "http/names.h"

namespace sextant::http {
namespace {

template <auto kFree>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Session = std::unique_ptr<SSL, Freed<SSL_free>>;

constexpr std::size_t kRecordBytes = 16U * 1024U;

// The library's own words for what went wrong last; none of them holds what was sent.
std::string tls_text() {
  std::array<char, 256> text{};
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) {
    return "the connection ended";
  }
  ERR_error_string_n(code, text.data(), text.size());
  const char* const reason = ERR_reason_error_string(code);
  return reason == nullptr ? text.data() : reason;
}

class TlsStream final : public Stream {
 public:
  TlsStream(std::unique_ptr<Stream> below, Context context, Session session, BIO* in, BIO* out)
      : below_(std::move(below)),
        context_(std::move(context)),
        session_(std::move(session)),
        in_(in),
        out_(out) {}

  Result<void> shake_hands(const Patience& patience) {
    for (;;) {
      ERR_clear_error();
      const int done = SSL_do_handshake(session_.get());
      const int why = SSL_get_error(session_.get(), done);
      // What was said may be the reason for refusing, which the other end may hear.
      const Result<void> sent = flushed(patience);
      if (done == 1) {
        return sent;
      }
      if (why != SSL_ERROR_WANT_READ) {
        return refused_handshake();
      }
      SEXTANT_CHECK_OK(sent);
      SEXTANT_TRY(const bool came, filled(patience));
      if (!came) {
        return external("the connection ended within the TLS handshake");
      }
    }
  }

  Result<std::size_t> read(std::span<char> into, const Patience& patience) override {
    for (;;) {
      ERR_clear_error();
      std::size_t got = 0;
      const int done = SSL_read_ex(session_.get(), into.data(), into.size(), &got);
      if (done == 1) {
        return got;
      }
      const int why = SSL_get_error(session_.get(), done);
      if (why == SSL_ERROR_ZERO_RETURN) {
        return 0U;
      }
      if (why != SSL_ERROR_WANT_READ) {
        return external(fmt::format("the TLS connection broke: {}", tls_text()));
      }
      SEXTANT_CHECK_OK(flushed(patience));
      SEXTANT_TRY(const bool came, filled(patience));
      if (!came) {
        return 0U;  // many servers end so; HTTP tells whether the message is whole
      }
    }
  }

  Result<void> write(std::string_view bytes, const Patience& patience) override {
    while (!bytes.empty()) {
      ERR_clear_error();
      std::size_t taken = 0;
      const std::size_t piece = std::min(bytes.size(), kRecordBytes);
      const int done = SSL_write_ex(session_.get(), bytes.data(), piece, &taken);
      SEXTANT_CHECK_OK(flushed(patience));
      if (done == 1) {
        bytes.remove_prefix(taken);
        continue;
      }
      if (SSL_get_error(session_.get(), done) != SSL_ERROR_WANT_READ) {
        return external(fmt::format("the TLS connection broke: {}", tls_text()));
      }
      SEXTANT_TRY(const bool came, filled(patience));
      if (!came) {
        return external("the TLS connection ended while sending");
      }
    }
    return {};
  }

  [[nodiscard]] bool is_gone() const override { return below_->is_gone(); }

 private:
  [[nodiscard]] Result<void> refused_handshake() const {
    const long verdict = SSL_get_verify_result(session_.get());
    if (verdict != X509_V_OK) {
      const char* const why = X509_verify_cert_error_string(verdict);
      ERR_clear_error();
      return external(fmt::format("its certificate is not trusted: {}", why));
    }
    return external(fmt::format("no TLS handshake: {}", tls_text()));
  }

  // What the library wants sent is sent.
  Result<void> flushed(const Patience& patience) {
    std::array<char, kRecordBytes> piece{};
    for (;;) {
      const int got = BIO_read(out_, piece.data(), static_cast<int>(piece.size()));
      if (got <= 0) {
        return {};
      }
      SEXTANT_CHECK_OK(below_->write({piece.data(), static_cast<std::size_t>(got)}, patience));
    }
  }

  // Something came in; false where the other end has closed.
  Result<bool> filled(const Patience& patience) {
    std::array<char, kRecordBytes> piece{};
    SEXTANT_TRY(const std::size_t got, below_->read(piece, patience));
    if (got == 0) {
      return false;
    }
    BIO_write(in_, piece.data(), static_cast<int>(got));
    return true;
  }

  std::unique_ptr<Stream> below_;
  Context context_;
  Session session_;
  BIO* in_;   // the session's
  BIO* out_;  // the session's
};

Result<Context> client_context(const std::filesystem::path& authorities) {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  Context context(SSL_CTX_new(TLS_client_method()));
  if (context == nullptr) {
    return external(fmt::format("TLS does not start: {}", tls_text()));
  }
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (SSL_CTX_load_verify_file(context.get(), authorities.c_str()) != 1) {
    return external(fmt::format("no certificates of authorities can be read: {}", tls_text()),
                    authorities.string());
  }
  return context;
}

}  // namespace

Result<std::unique_ptr<Stream>> secured(std::unique_ptr<Stream> plain, const TlsTo& to,
                                        const Patience& patience) {
  SEXTANT_TRY(Context context, client_context(to.authorities));
  Session session(SSL_new(context.get()));
  BIO* const in = BIO_new(BIO_s_mem());
  BIO* const out = BIO_new(BIO_s_mem());
  if (session == nullptr || in == nullptr || out == nullptr) {
    BIO_free(in);
    BIO_free(out);
    return external("TLS does not start: no memory");
  }
  SSL_set_bio(session.get(), in, out);
  SSL_set_connect_state(session.get());
  std::string name = to.host;
  const bool is_named =
      is_address(to.host)
          ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session.get()), to.host.c_str()) == 1
          : SSL_set1_host(session.get(), to.host.c_str()) == 1 &&
                SSL_ctrl(session.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                         name.data()) == 1;
  if (!is_named) {
    return external(fmt::format("TLS does not start: {}", tls_text()));
  }
  auto stream = std::make_unique<TlsStream>(std::move(plain), std::move(context),
                                            std::move(session), in, out);
  SEXTANT_CHECK_OK(stream->shake_hands(patience));
  return stream;
}

}  // namespace sextant::http
