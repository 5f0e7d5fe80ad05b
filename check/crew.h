/* A check that several processes do together: what they tell each other, and what each does. Every exchange carries how
 * its member fares, so that a failure of one ends all at the next point where they meet. */
#ifndef GRAZE_CHECK_CREW_H
#define GRAZE_CHECK_CREW_H

#include "check.h"

/* Whether files are shared out to be read; all have the same answer. */
bool gz_crew_shares(const graze_check *c);

/* Whether this member is the one to do thing number `number`. */
bool gz_crew_is_mine(const graze_check *c, uint64_t number);

/* Collective: gives `status` if all members are well, else the failure with the lowest `place`, whose words are the
 * last error. Without a crew it gives `status`. */
graze_status gz_crew_agree(graze_check *c, graze_status status, uint64_t place);

/* The same for a member that has not come so far as to have a check. */
void gz_crew_fail(const graze_check_crew *crew, graze_status status);

/* Collective, after files are named: whether all members see the same. */
graze_status gz_crew_compare(graze_check *c, const char *const *paths, uint32_t count);

/* Collective: facts of meshes from `first` on that some member has found go to all. */
graze_status gz_crew_share_measures(graze_check *c, uint32_t first);
graze_status gz_crew_share_facts(graze_check *c);

/* Collective: pairs that members have decided go to all, in the order of the check. */
graze_status gz_crew_share_pairs(graze_check *c);

#endif
