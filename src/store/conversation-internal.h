/*
 * conversation-internal.h - what the files of the conversation facade share
 * with each other and with nobody else.
 */
#ifndef BOUGH_STORE_CONVERSATION_INTERNAL_H
#define BOUGH_STORE_CONVERSATION_INTERNAL_H

#include "format/flow/flow.h"
#include "store/conversation.h"

/* Rows of the lines that were asked for last, by line modulo their number. */
enum { KEPT_ROWS = 256, KEPT_ROW_BYTES = 1 << 10 };
struct kept_row {
	uint32_t line;
	size_t limit;                    /* 0: the place is free */
	struct conversation_row row;
	struct arena arena;              /* of the row's strings */
};

struct conversation {
	struct flow_conversation *f;
	struct session *s;               /* gets the findings as problems */

	uint32_t round;
	struct flow_view view, before;   /* as of the round, and of the one before it */
	bool is_made;
	struct flow_outline outline;     /* with what the round withdrew */
	struct conversation_line *lines;
	uint32_t *line_of;               /* by word: its line + 1 */
	size_t nwords;
	struct conversation_relation *relations;
	struct conversation_open *unresolved;
	uint32_t nrelations, nunresolved;
	struct conversation_sums sums;
	struct kept_row *kept;           /* KEPT_ROWS, or NULL: none was asked for yet */

	struct arena card_arena;
	struct card_list cards;
	bool has_cards;

	struct round_place {             /* rows of the list of rounds */
		uint64_t number;
		size_t index;
		bool is_reservation;
		unsigned failed;         /* bit k: check k does not hold */
		unsigned undone;         /* bit k: check k could not be made */
	} *rows;
	size_t nrows;

	struct flow_verifier *verifier;
	bool is_verified, is_unread;
	struct arena finding_arena;
	struct conversation_finding *findings;
	size_t nfindings, findings_cap;
	int worst;                       /* of them: index of a word of conversation_state */
};

/* conversation-node.c */
void conversation_rows_release(struct conversation *c);
/* conversation-checks.c */
void conversation_list_rounds(struct conversation *c);
void conversation_checks_release(struct conversation *c);

#endif
