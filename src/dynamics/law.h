/* The law of contact between two materials, as numbers. graze/dynamics.h has the formulas. */
#ifndef GRAZE_SRC_DYNAMICS_LAW_H
#define GRAZE_SRC_DYNAMICS_LAW_H

/* Stiffness k is k_n, or with Hertz k_n sqrt(R* o), so that the spring is k o and its energy elastic k o^2.
 *   eta_n total = eta_n + gamma_n m + zeta_n sqrt(k m)
 *   eta_t total = eta_t + gamma_t m + share_t eta_n
 *   k_t total = k_t + mindlin sqrt(R* o)
 * All doubles, so that a law is a row of a table. */
typedef struct law {
  double k_n, elastic, hertz; /* hertz: 1 or 0 */
  double eta_n, gamma_n, zeta_n;
  double least; /* of f_n: 0 if the contact ends when the force would pull, else -infinity */
  double k_t, mindlin;
  double eta_t, gamma_t, share_t;
  double spring; /* 1: the tangential spring; else 0 */
  double arm;    /* 1; 0: what is at the centres counts, and no torque */
  double friction, rolling, spinning;
  double surface[3]; /* velocity of the second one's surface */
} law;

enum { LAW_FIELDS = sizeof(law) / sizeof(double) };

#endif
