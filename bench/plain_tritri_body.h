/* bench/plain_tritri_body.h: the plain tests for one number type; included with REAL and NAME(x) defined. No guard. */

static void NAME(subtract)(const REAL a[3], const REAL b[3], REAL out[3]) {
  for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static void NAME(cross)(const REAL a[3], const REAL b[3], REAL out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

static REAL NAME(dot)(const REAL a[3], const REAL b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void NAME(normal)(const REAL t[9], REAL n[3]) {
  REAL e[3], f[3];
  NAME(subtract)(t + 3, t, e);
  NAME(subtract)(t + 6, t, f);
  NAME(cross)(e, f, n);
}

/* Signed heights of the corners of `t` over the plane through `origin`; false when all are strictly on one side. */
static bool NAME(heights)(const REAL t[9], const REAL origin[3], const REAL n[3], REAL h[3]) {
  for (int k = 0; k < 3; k++) {
    REAL d[3];
    NAME(subtract)(t + 3 * k, origin, d);
    h[k] = NAME(dot)(n, d);
  }
  return !((h[0] > 0 && h[1] > 0 && h[2] > 0) || (h[0] < 0 && h[1] < 0 && h[2] < 0));
}

static int NAME(largest)(const REAL n[3]) {
  REAL x = n[0] < 0 ? -n[0] : n[0], y = n[1] < 0 ? -n[1] : n[1], z = n[2] < 0 ? -n[2] : n[2];
  return x >= y ? (x >= z ? 0 : 2) : (y >= z ? 1 : 2);
}

static REAL NAME(turn)(const REAL *p, const REAL *q, const REAL *r, int i, int j) {
  return (q[i] - p[i]) * (r[j] - p[j]) - (q[j] - p[j]) * (r[i] - p[i]);
}

/* Two triangles in one plane, seen along the largest axis of its normal: apart when an edge of one has the whole
 * other strictly outside. */
static bool NAME(coplanar)(const REAL a[9], const REAL b[9], const REAL n[3]) {
  int axis = NAME(largest)(n), i = (axis + 1) % 3, j = (axis + 2) % 3;
  for (int turn = 0; turn < 2; turn++) {
    const REAL *p = turn ? b : a, *q = turn ? a : b;
    REAL side = NAME(turn)(p, p + 3, p + 6, i, j);
    for (int e = 0; e < 3; e++) {
      const REAL *from = p + 3 * e, *to = p + 3 * ((e + 1) % 3);
      int outside = 0;
      for (int k = 0; k < 3; k++) outside += NAME(turn)(from, to, q + 3 * k, i, j) * (side > 0 ? 1 : -1) < 0;
      if (outside == 3) return false;
    }
  }
  return true;
}

/* Where triangle `t`, with heights `h` over the other plane, meets the common line, measured along one axis. */
static bool NAME(interval)(const REAL t[9], const REAL h[3], int axis, REAL range[2]) {
  bool any = false;
  for (int k = 0; k < 3; k++) {
    int l = (k + 1) % 3;
    REAL x[2];
    int n = 0;
    if (h[k] == 0) x[n++] = t[3 * k + axis];
    if ((h[k] < 0 && h[l] > 0) || (h[k] > 0 && h[l] < 0))
      x[n++] = t[3 * k + axis] + (t[3 * l + axis] - t[3 * k + axis]) * (h[k] / (h[k] - h[l]));
    while (n--) {
      if (!any || x[n] < range[0]) range[0] = x[n];
      if (!any || x[n] > range[1]) range[1] = x[n];
      any = true;
    }
  }
  return any;
}

static bool NAME(moller)(const REAL a[9], const REAL b[9]) {
  REAL n[3], m[3], over_a[3], over_b[3], line[3], range_a[2], range_b[2];
  NAME(normal)(a, n);
  if (!NAME(heights)(b, a, n, over_a)) return false;
  NAME(normal)(b, m);
  if (!NAME(heights)(a, b, m, over_b)) return false;
  if (over_a[0] == 0 && over_a[1] == 0 && over_a[2] == 0) return NAME(coplanar)(a, b, n);
  NAME(cross)(n, m, line);
  int axis = NAME(largest)(line);
  if (!NAME(interval)(a, over_b, axis, range_a) || !NAME(interval)(b, over_a, axis, range_b)) return false;
  return range_a[0] <= range_b[1] && range_b[0] <= range_a[1];
}

/* The corner that is alone on its side of the other plane; *positive tells the side. A corner on the plane is alone
 * when the two others are strictly on one side. */
static int NAME(alone)(const REAL h[3], bool *positive) {
  for (int k = 0; k < 3; k++) {
    REAL x = h[(k + 1) % 3], y = h[(k + 2) % 3];
    if ((h[k] > 0 && x <= 0 && y <= 0) || (h[k] == 0 && x < 0 && y < 0)) return *positive = true, k;
    if ((h[k] < 0 && x >= 0 && y >= 0) || (h[k] == 0 && x > 0 && y > 0)) return *positive = false, k;
  }
  return -1;
}

static REAL NAME(volume)(const REAL *a, const REAL *b, const REAL *c, const REAL *d) {
  REAL u[3], v[3], w[3], n[3];
  NAME(subtract)(a, d, u);
  NAME(subtract)(b, d, v);
  NAME(subtract)(c, d, w);
  NAME(cross)(v, w, n);
  return NAME(dot)(u, n);
}

static bool NAME(orientation)(const REAL a[9], const REAL b[9]) {
  REAL n[3], m[3], over_a[3], over_b[3];
  NAME(normal)(b, m);
  if (!NAME(heights)(a, b, m, over_b)) return false;
  NAME(normal)(a, n);
  if (!NAME(heights)(b, a, n, over_a)) return false;
  if (over_a[0] == 0 && over_a[1] == 0 && over_a[2] == 0) return NAME(coplanar)(a, b, n);
  bool above_b = true, above_a = true;
  int i = NAME(alone)(over_b, &above_b), j = NAME(alone)(over_a, &above_a);
  if (i < 0 || j < 0) return false;
  const REAL *p = a + 3 * i, *q = a + 3 * ((i + 1) % 3), *r = a + 3 * ((i + 2) % 3);
  const REAL *s = b + 3 * j, *t = b + 3 * ((j + 1) % 3), *u = b + 3 * ((j + 2) % 3);
  if (above_a) { /* each plane is turned so that the lone corner of the other is below it */
    const REAL *swap = q;
    q = r;
    r = swap;
  }
  if (above_b) {
    const REAL *swap = t;
    t = u;
    u = swap;
  }
  return NAME(volume)(p, q, s, t) <= 0 && NAME(volume)(p, r, u, s) <= 0;
}
