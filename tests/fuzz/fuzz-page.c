/*
 * fuzz-page.c - hostile text as Markdown, code, JSON, hex and as the parts of an
 * entry: lines fit the page, spans are safe, widths add up. The first byte is
 * the width, the second the settings, the third what is drawn.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include <locale.h>
#include <string.h>

#include "tests/lib/page-check.h"
#include "ui/page-lang.h"

static void check(const struct page *p)
{
	const char *fault = page_fault(p);

	if (fault)
		fprintf(stderr, "%s\n", fault);
	HOLDS(!fault);
}

/* The text cut at its NUL bytes into parts of all kinds; the last byte of each names its kind. */
static void draw_content(struct page *p, struct str text)
{
	struct part v[8] = { 0 };
	struct content c = { .v = v };

	while (c.n < 8 && text.n) {
		const char *end = memchr(text.p, '\0', text.n);
		size_t len = end ? (size_t)(end - text.p) : text.n;
		struct part *part = &v[c.n++];

		part->text = (struct str){ text.p, len };
		part->name = (struct str){ text.p, len > 9 ? 9 : len };
		part->ref = (struct str){ text.p, len / 2 };
		part->kind = PART_TEXT;
		if (len)
			part->kind =
				(enum part_kind)((unsigned char)text.p[len - 1] % (PART_NOTE + 1));
		part->failed = len % 2;
		part->more = len % 3 == 0;
		part->whole = len % 5 * 100;
		len += end != NULL;
		text.p += len;
		text.n -= len;
	}
	page_content(p, &c);
}

static void draw(struct page *p, unsigned what, struct str text)
{
	const struct lang *langs;
	size_t n;

	langs = lang_table(&n);
	switch (what % 6) {
	case 0:
	case 1:
		page_markdown(p, text.p, text.n);
		break;
	case 2:
		draw_content(p, text);
		break;
	case 3: {
		struct str name = str_of(langs[what / 6 % n].names + 1);

		name.n = strcspn(name.p, " ");
		page_code(p, name, text.p, text.n, "  ");
		break;
	}
	case 4:
		page_json(p, text.p, text.n, "");
		break;
	case 5:
		page_hex(p, what, text.p, text.n);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct page p;

	if (!ready) {
		setlocale(LC_ALL, "C.UTF-8");
		ready = true;
	}
	if (size < 3)
		return 0;
	page_init(&p, data[0], data[1] % 8 != 0, data[1] & 1);
	for (int again = 0; again < 2; again++) {
		draw(&p, data[2], (struct str){ (const char *)data + 3, size - 3 });
		check(&p);
		page_clear(&p);
	}
	page_release(&p);
	return 0;
}
