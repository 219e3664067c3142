/* tests/backends/layers.h - recurrent layers of several sizes, and their formulas in double */
#pragma once

#include <glib.h>

#include "backends/backend.h"

#define LAYER_MAX_INPUTS 6

/* What an operation reads beside its state. @sign: 0 both, 1 positive, -1 negative. */
typedef struct
{
  int src;
  int ne0, ne1; /* ne1 0: a vector */
  gboolean is_per_token;
  int sign;
  float scale;
} Input;

typedef struct Layer Layer;

/* The state after one token, and the token's result. */
typedef void (*StepFn) (const Layer *layer,
                        float *const x[LAYER_MAX_INPUTS],
                        double *state,
                        double *y);

/* Inputs are in the order of @inputs, which is that of StepFn's arguments. */
struct Layer
{
  KvasirOp op;
  int state_src;
  int ne0, ne1; /* of the result, without tokens; ne1 0: a vector */
  int n_state;
  gboolean by_group;
  int a, b, c, d; /* sizes that the formula wants */
  StepFn step;
  Input inputs[LAYER_MAX_INPUTS];
};

extern const Layer layers[];
extern const gsize n_layers;
