/* graze/graze.h: the whole CPU library. Engines and file readers have headers of their own. */
#ifndef GRAZE_H
#define GRAZE_H

#include "graze/base.h"
#include "graze/bounds.h"
#include "graze/broadphase.h"
#include "graze/collide.h"
#include "graze/convex.h"
#include "graze/decompose.h"
#include "graze/distance.h"
#include "graze/dynamics.h"
#include "graze/mass.h"
#include "graze/math.h"
#include "graze/mesh.h"
#include "graze/motion.h"
#include "graze/rays.h"
#include "graze/record.h"
#include "graze/relate.h"
#include "graze/rigid.h"
#include "graze/round.h"
#include "graze/scene.h"
#include "graze/sweep.h"

#endif
