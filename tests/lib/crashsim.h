/*
 * crashsim.h - what a power cut may leave of the files below one folder.
 *
 * The simulator listens to the calls of an operation (fakesys.h) and keeps for
 * every file the bytes that are durable and the writes that are not yet, and
 * for every name the same. fsync makes the bytes of a file durable, fsync_dir
 * the names in a folder; nothing else does. crash_each() then rebuilds, for
 * every moment of the run, each state that the disk may be in after a power
 * cut at that moment:
 *
 *   - any of the pending names kept or dropped (a rename inside one folder or
 *     between two is one step);
 *   - any of the pending writes and truncations of a file kept or dropped, the
 *     last kept write cut at any byte and then left short, filled with zeros
 *     or with old garbage.
 *
 * States that were seen with the same tag are left out.
 */
#ifndef BOUGH_TESTS_CRASHSIM_H
#define BOUGH_TESTS_CRASHSIM_H

struct crashsim;

/*
 * The files in `dir` and in its folders are durable. A folder that is made is a
 * name as well: what lies in one that was lost is lost with it. *tag is noted
 * with every call: what was acknowledged.
 */
struct crashsim *crash_new(const char *dir, const int *tag);
void crash_free(struct crashsim **sim);
/* Records from now on, until crash_stop(). The fake table must be installed. */
void crash_start(struct crashsim *sim);
void crash_stop(struct crashsim *sim);
/* Calls fn for each state, which it finds under the folder; it may change it. The number of states. */
unsigned long crash_each(
	struct crashsim *sim, void (*fn)(int tag, const char *what, void *arg), void *arg);

#endif
