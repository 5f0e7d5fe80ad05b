/* The law of contact between two materials, as numbers. graze/dynamics.h has the formulas. */
#ifndef GRAZE_SRC_DYNAMICS_LAW_H
#define GRAZE_SRC_DYNAMICS_LAW_H

#include "graze/engine.h"

typedef graze_contact_law law;

enum { LAW_FIELDS = sizeof(law) / sizeof(double) };

#endif
