// Tls: the certificate and key a server shows, replaced while it runs.
//
// The HTTP library asks for them at each handshake through a callback that carries no context, so
// there is one identity per process.
//
//   [tls-1] An identity never changes once it is published; connections that were begun with an old
//        one go on with it. Replaced ones live until tls_forget.
//   [tls-2] A pair that does not belong together, or that cannot be read, replaces nothing.
#pragma once
#include "base/diag.h"
#include "base/text/str.h"

// PEM texts. Code: BAD_CERTIFICATE.
MUST_CHECK Status tls_publish(Str certificate, Str key, Diag *diag);
void tls_forget(void);    // when no server runs any more
void *tls_versions(void); // what MHD_OPTION_HTTPS_PRIORITIES wants: TLS 1.2 and 1.3
// What MHD_OPTION_HTTPS_CERT_CALLBACK wants.
void *tls_callback(void);
