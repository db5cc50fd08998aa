/*
 * bench.h - the hidden `bough --bench WHAT PATH`, for `make bench`.
 */
#ifndef BOUGH_CMD_BENCH_H
#define BOUGH_CMD_BENCH_H

/* argv: WHAT and PATH. Prints one JSON object; returns the exit status. */
int cmd_bench(int argc, char **argv);

#endif
