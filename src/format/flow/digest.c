/*
 * digest.c - SHA-256 by libgcrypt, as lower-case hex. The library is named
 * nowhere else in this format.
 */
#include "config.h"

#include "format/flow/internal.h"

#include <gcrypt.h>
#include <pthread.h>
#include <string.h>

#include "base/xalloc.h"

enum { SHA_BYTES = 32 };

static void put_hex(const unsigned char *p, char hex[65])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < SHA_BYTES; i++) {
		hex[2 * i] = digits[p[i] >> 4];
		hex[2 * i + 1] = digits[p[i] & 15];
	}
	hex[2 * SHA_BYTES] = '\0';
}

/* What the library finds out at its first digest is found out here, before there are threads. */
static void start_library(void)
{
	gcry_md_hd_t h;

	if (!gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P)) {
		gcry_check_version(NULL);
		gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
		gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
	}
	if (gcry_md_open(&h, GCRY_MD_SHA256, 0) == 0)
		gcry_md_close(h);
}

void flow_sha_begin(struct flow_sha *s)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	gcry_md_hd_t h;

	pthread_once(&once, start_library);
	if (gcry_md_open(&h, GCRY_MD_SHA256, 0))
		die("SHA-256 is not to be had from libgcrypt");
	s->h = h;
	s->n = 0;
}

/* The library is slow at pieces of a few hundred bytes: they are held until they are many. */
void flow_sha_add(struct flow_sha *s, const void *p, size_t n)
{
	if (n > sizeof(s->held) - s->n) {
		gcry_md_write(s->h, s->held, s->n);
		s->n = 0;
	}
	if (n > sizeof(s->held)) {
		gcry_md_write(s->h, p, n);
	} else if (n) {
		memcpy(s->held + s->n, p, n);
		s->n += n;
	}
}

void flow_sha_peek(const struct flow_sha *s, char hex[65])
{
	gcry_md_hd_t copy;

	if (gcry_md_copy(&copy, s->h))
		die("out of memory");
	gcry_md_write(copy, s->held, s->n);
	put_hex(gcry_md_read(copy, GCRY_MD_SHA256), hex);
	gcry_md_close(copy);
}

void flow_sha_end(struct flow_sha *s, char hex[65])
{
	if (s->h && hex) {
		gcry_md_write(s->h, s->held, s->n);
		put_hex(gcry_md_read(s->h, GCRY_MD_SHA256), hex);
	}
	gcry_md_close(s->h);
	s->h = NULL;
}

void flow_sha_of(const void *p, size_t n, char hex[65])
{
	struct flow_sha s;

	flow_sha_begin(&s);
	flow_sha_add(&s, p, n);
	flow_sha_end(&s, hex);
}
