// What .ci/mutate makes of each kind of line of C, read by `.ci/mutate --self-test`. Never compiled.
#define LIMIT (2 < 3)
#include "sample.h"

static const int limits[] = {1, 2, 3};
struct pair { int one, two[4]; };

static int count(const struct pair *pair, char *text, int limit) {
    static const int unit = 8;
    char buffer[16];
    int found = 0, last = limit; // expect: 0 to 0 + 1; 0 to 0 - 1
    if (!pair || pair->one < limit) return -1; // expect: `!pair` always true; `!pair` always false; `pair->one < limit` always true; `pair->one < limit` always false; < to <=; 1 to 1 + 1; 1 to 1 - 1
    note(pair, "a < b"); // expect: `note(pair, "a < b")` left out
    pair_free(pair);
    OPENSSL_clear_free(text, limit); // expect: `OPENSSL_clear_free(text, limit)` left out
    while ((last = next(pair)) != '}' && found < 9) found++; // expect: `(last = next(pair)) != '}'` always true; `(last = next(pair)) != '}'` always false; `found < 9` always true; `found < 9` always false; < to <=; 9 to 9 + 1; 9 to 9 - 1
    switch (last) {
    case 3: found = last ? 4 : limit; break; // expect: `last` always true; `last` always false; 4 to 4 + 1; 4 to 4 - 1; `found = last ? 4 : limit` left out
    default: PERFORM(last, 0, 7); // expect: 7 to 7 + 1; 7 to 7 - 1
    }
    for (int i = 0; i < found; i++) text[i] = buffer[5]; // expect: 0 to 0 + 1; 0 to 0 - 1; `i < found` always true; `i < found` always false; < to <=; `text[i] = buffer[5]` left out
    return found == last && (limit == 2 || pair->one); // expect: `found == last` always true; `found == last` always false; `limit == 2` always true; `limit == 2` always false; 2 to 2 + 1; 2 to 2 - 1; `pair->one` always true; `pair->one` always false
}
