// The identity shown in TLS handshakes.
//
// Certificates and key are parsed once, when they are published; a handshake only hands out
// pointers. Whether key and certificate belong together is decided by the library itself, by
// letting it load the pair. Invariants [tls-1] and [tls-2] are in tls.h.
//
// Not here: files (serve.c).
#include "server/http/tls.h"
#include "base/memory.h"
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdatomic.h>
#include <stdint.h>

enum { CHAIN_MAX = 16 };

typedef struct TlsIdentity {
    gnutls_pcert_st chain[CHAIN_MAX];
    unsigned chain_count;
    gnutls_privkey_t key;
    struct TlsIdentity *before;
} TlsIdentity;

static _Atomic(TlsIdentity *) current;

static Status refuse(int code, Diag *diag) {
    return diag_set(diag, ERR_INVALID, "BAD_CERTIFICATE",
                    "the certificate and key cannot be used (%s): both must be PEM and belong "
                    "together",
                    gnutls_strerror(code));
}

static gnutls_datum_t datum_of(Str text) {
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)text.data, (unsigned)text.len};
}

// [tls-2]
static int check_pair(gnutls_datum_t certificate, gnutls_datum_t key) {
    gnutls_certificate_credentials_t credentials;
    int code = gnutls_certificate_allocate_credentials(&credentials);
    if (code < 0) return code;
    code =
        gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    return code;
}

static int read_key(gnutls_datum_t text, gnutls_privkey_t *ret_key) {
    int code = gnutls_privkey_init(ret_key);
    if (code < 0) return code;
    code = gnutls_privkey_import_x509_raw(*ret_key, &text, GNUTLS_X509_FMT_PEM, NULL, 0);
    if (code < 0) gnutls_privkey_deinit(*ret_key);
    return code;
}

static void identity_free(TlsIdentity *identity) {
    for (unsigned i = 0; i < identity->chain_count; i++) gnutls_pcert_deinit(&identity->chain[i]);
    gnutls_privkey_deinit(identity->key);
    mem_free(identity);
}

Status tls_publish(Str certificate, Str key, Diag *diag) {
    gnutls_datum_t certificate_text = datum_of(certificate), key_text = datum_of(key);
    int code = check_pair(certificate_text, key_text);
    if (code < 0) return refuse(code, diag);
    TlsIdentity *identity = mem_zalloc(sizeof *identity);
    identity->chain_count = CHAIN_MAX;
    code = gnutls_pcert_list_import_x509_raw(identity->chain, &identity->chain_count,
                                             &certificate_text, GNUTLS_X509_FMT_PEM, 0);
    if (code < 0) {
        mem_free(identity);
        return refuse(code, diag);
    }
    code = read_key(key_text, &identity->key);
    if (code < 0) {
        identity->key = NULL;
        for (unsigned i = 0; i < identity->chain_count; i++)
            gnutls_pcert_deinit(&identity->chain[i]);
        mem_free(identity);
        return refuse(code, diag);
    }
    identity->before = atomic_load(&current);
    atomic_store(&current, identity); // [tls-1]
    return OK;
}

void tls_forget(void) {
    TlsIdentity *identity = atomic_exchange(&current, NULL);
    while (identity != NULL) {
        TlsIdentity *before = identity->before;
        identity_free(identity);
        identity = before;
    }
}

static int retrieve(gnutls_session_t session, const gnutls_datum_t *authorities, int count,
                    const gnutls_pk_algorithm_t *algorithms, int algorithm_count,
                    gnutls_pcert_st **ret_chain, unsigned *ret_chain_count,
                    gnutls_privkey_t *ret_key) {
    (void)session;
    (void)authorities;
    (void)count;
    (void)algorithms;
    (void)algorithm_count;
    TlsIdentity *identity = atomic_load(&current);
    if (identity == NULL) return -1;
    *ret_chain = identity->chain;
    *ret_chain_count = identity->chain_count;
    *ret_key = identity->key;
    return 0;
}

void *tls_callback(void) {
    gnutls_certificate_retrieve_function2 *function = retrieve;
    void *answer;
    memcpy(&answer, &function, sizeof answer); // a function's address as the library wants it
    return answer;
}

void *tls_versions(void) {
    static char text[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE";
    return text;
}
