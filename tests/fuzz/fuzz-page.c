/*
 * fuzz-page.c - text laid out as pages: Markdown, code, diffs, JSON, hex. No
 * line is wider than the page, spans stay in the text, the text is safe.
 *
 * The first two bytes choose the width, the builder and the settings.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/safe.h"

#include <locale.h>

#include "base/text.h"
#include "ui/page.h"

static const char *const langs[] = { "c", "python", "diff", "json", "sh", "rust", "sql", "" };

static void build(struct page *p, unsigned how, const char *s, size_t n)
{
	unsigned lang = how / 8 % (sizeof(langs) / sizeof(langs[0]));
	struct part part = { .kind = (enum part_kind)(how / 8 % (PART_NOTE + 1)), .name = { "name", 4 },
		.text = { s, n }, .whole = n, .entry = UINT32_MAX };
	struct content content = { .v = &part, .n = 1 };

	switch (how % 8) {
	case 0:
	case 1:
	case 2:
		page_markdown(p, s, n);
		break;
	case 3:
		page_code(p, str_of(langs[lang]), s, n, "  ");
		break;
	case 4:
		page_hex(p, 0xfffffff0u, s, n);
		break;
	case 5:
		page_content(p, &content);
		break;
	case 6:
		page_begin_par(p, "- ", "  ", ROLE_RULE);
		page_text(p, ROLE_STRONG, s, n / 2);
		page_text(p, ROLE_NORMAL, s + n / 2, n - n / 2);
		page_end_par(p);
		break;
	default:
		page_line(p, ROLE_NORMAL, "> ", s, n);
		page_rule(p);
		break;
	}
}

/* Columns of safe text; text_width() would take runs of spaces as one. */
static int width_of(const char *p, size_t n)
{
	int width = 0;

	for (size_t at = 0; at < n;) {
		struct text_cluster c;

		text_next(p + at, n - at, &c);
		HOLDS(c.kind == TEXT_PLAIN);
		width += c.width;
		at += c.src_n;
	}
	return width;
}

static void check_page(const struct page *p)
{
	for (size_t i = 0; i < p->nlines; i++) {
		const struct page_line *line = &p->lines[i];
		int width = 0;

		HOLDS(line->first + (size_t)line->nspans <= p->nspans);
		for (uint32_t k = 0; k < line->nspans; k++) {
			const struct span *span = &p->spans[line->first + k];

			HOLDS(span->off + (size_t)span->n <= p->text.n);
			HOLDS(span->role < ROLE_COUNT);
			HOLDS(span->width == width_of(p->text.p + span->off, span->n));
			check_safe(p->text.p + span->off, span->n);
			width += span->width;
		}
		HOLDS(width == line->width);
		/* A page narrower than one wide character can not hold it. */
		if (p->wrap && p->width >= 24)
			HOLDS(width <= p->width);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;
	struct page page;

	if (!ready) {
		setlocale(LC_ALL, "C.UTF-8");
		ready = true;
	}
	if (size < 2)
		return 0;
	page_init(&page, 1 + data[0] % 100, data[0] < 200, data[1] >= 128);
	build(&page, data[1], (const char *)data + 2, size - 2);
	check_page(&page);
	page_release(&page);
	return 0;
}
