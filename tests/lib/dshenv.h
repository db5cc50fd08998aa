/*
 * dshenv.h - small dsh logs for tests of what writes them: made from batches
 * in either encoding, and read back without the code under test.
 */
#ifndef BOUGH_TESTS_DSHENV_H
#define BOUGH_TESTS_DSHENV_H

#include <stdbool.h>
#include <stddef.h>

/* Two closed turns, the second with a title behind it; a third that is open. */
#define DSH_HEADER \
	"{\"type\":\"session\",\"version\":0,\"id\":\"s\",\"createdAt\":1,\"delegationDepth\":0}\n"
#define DSH_TURN_1 \
	"{\"type\":\"turn/start\",\"seq\":0,\"time\":10,\"data\":{\"turn\":1}}\n" \
	"{\"type\":\"user/message\",\"seq\":1,\"time\":11,\"data\":{\"id\":\"u-1\",\"role\":\"user\"," \
	"\"content\":[{\"type\":\"text\",\"text\":\"one\"}],\"source\":{\"kind\":\"user\"}}," \
	"\"surfaceOp\":\"append\"}\n" \
	"{\"type\":\"turn/end\",\"seq\":2,\"time\":12,\"data\":{\"turn\":1,\"reason\":{\"kind\":" \
	"\"completed\"}}}\n"
#define DSH_TURN_2 \
	"{\"type\":\"turn/start\",\"seq\":3,\"time\":13,\"data\":{\"turn\":2}}\n" \
	"{\"type\":\"turn/end\",\"seq\":4,\"time\":14,\"data\":{\"turn\":2,\"reason\":{\"kind\":" \
	"\"completed\"}}}\n" \
	"{\"type\":\"session/title\",\"seq\":5,\"time\":15,\"data\":{\"title\":\"T\",\"messageSeqs\":[]," \
	"\"source\":{\"kind\":\"user\"}}}\n"
#define DSH_TURN_3 \
	"{\"type\":\"turn/start\",\"seq\":6,\"time\":16,\"data\":{\"turn\":3}}\n" \
	"{\"type\":\"step/start\",\"seq\":7,\"time\":17,\"data\":{\"turn\":3,\"step\":1}}\n"
/* What closes it. */
#define DSH_CLOSERS \
	"{\"type\":\"step/end\",\"seq\":8,\"time\":17,\"data\":{\"turn\":3,\"step\":1}}\n" \
	"{\"type\":\"turn/end\",\"seq\":9,\"time\":17,\"data\":{\"turn\":3,\"reason\":{\"kind\":" \
	"\"interrupted\"}}}\n"
#define DSH_TAIL "{\"type\":\"assistant/chunk\",\"seq\":8,\"time\":18,\"data\":{\"turn\":3,\"st"

/*
 * The bytes of a log of these batches, NULL-terminated; yours. A `tail` (may
 * be NULL) is the text of a batch of which only a part got to the disk: a raw
 * log holds all of it, a compressed one its frame without the last bytes.
 */
char *dshenv_bytes(bool is_zstd, const char *const *batches, const char *tail, size_t *n);
/* The text of a whole log: NULL unless it ends in a whole line (and frame). Yours. */
char *dshenv_text(const char *path, bool is_zstd);
/* The same of bytes. */
char *dshenv_decode(const char *p, size_t n, bool is_zstd);
bool dshenv_is(const char *path, bool is_zstd, const char *text);
/*
 * Is case i of a long run looked at? All are, but with sanitizers, where each
 * takes ten times as long, only every third.
 */
bool dshenv_takes(unsigned long i);

#endif
