/*
 * dshenv.c - small dsh logs: libzstd alone writes and reads them here.
 */
#include "config.h"

#include "tests/lib/dshenv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "tests/lib/temp.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SLOW 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define IS_SLOW 1
#endif
#ifndef IS_SLOW
#define IS_SLOW 0
#endif

enum { TEXT_MAX = 16 << 10, CUT = 6 /* bytes that a torn frame lacks: its checksum and more */ };

static void give_up(const char *why)
{
	fprintf(stderr, "dsh logs: %s\n", why);
	exit(1);
}

static size_t add_frame(char *to, const char *text)
{
	ZSTD_CCtx *cctx = ZSTD_createCCtx();
	size_t n;

	if (!cctx)
		give_up("out of memory");
	ZSTD_CCtx_setParameter(cctx, ZSTD_c_checksumFlag, 1);
	n = ZSTD_compress2(cctx, to, TEXT_MAX, text, strlen(text));
	ZSTD_freeCCtx(cctx);
	if (ZSTD_isError(n))
		give_up("a frame can not be made");
	return n;
}

static size_t add_batch(char *to, bool is_zstd, const char *text)
{
	if (is_zstd)
		return add_frame(to, text);
	memcpy(to, text, strlen(text));
	return strlen(text);
}

char *dshenv_bytes(bool is_zstd, const char *const *batches, const char *tail, size_t *n)
{
	char *out = calloc(2, TEXT_MAX);

	if (!out)
		give_up("out of memory");
	for (*n = 0; *batches; batches++)
		*n += add_batch(out + *n, is_zstd, *batches);
	if (tail) {
		size_t len = add_batch(out + *n, is_zstd, tail);

		*n += is_zstd ? len - CUT : len;
	}
	return out;
}

static char *decode_frames(const char *p, size_t n)
{
	char *text = malloc(TEXT_MAX);
	size_t have = 0;

	if (!text)
		give_up("out of memory");
	while (n > 0) {
		size_t len = ZSTD_findFrameCompressedSize(p, n), got;

		got = ZSTD_isError(len) ? len
					: ZSTD_decompress(text + have, TEXT_MAX - 1 - have, p, len);
		if (ZSTD_isError(got)) {
			free(text);
			return NULL;
		}
		have += got;
		p += len;
		n -= len;
	}
	text[have] = '\0';
	return text;
}

char *dshenv_decode(const char *p, size_t n, bool is_zstd)
{
	char *text = is_zstd ? decode_frames(p, n) : strndup(p, n);

	if (text && *text && text[strlen(text) - 1] == '\n')
		return text;
	free(text);
	return NULL;
}

char *dshenv_text(const char *path, bool is_zstd)
{
	size_t n;
	char *p = temp_get(path, &n), *text = p ? dshenv_decode(p, n, is_zstd) : NULL;

	free(p);
	return text;
}

bool dshenv_takes(unsigned long i)
{
	return !IS_SLOW || i % 3 == 0;
}

bool dshenv_is(const char *path, bool is_zstd, const char *want)
{
	char *text = dshenv_text(path, is_zstd);
	bool same = text && strcmp(text, want) == 0;

	free(text);
	return same;
}
